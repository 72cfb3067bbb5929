"""Directed graphs of hashable keys: order, rings and reach. Knows nothing of resources."""
