"""Directed graphs of hashable keys: order, cycles and reachability. Independent of resources."""
