"""Pure directed graphs of hashable keys."""
