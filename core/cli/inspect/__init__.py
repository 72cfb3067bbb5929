"""Commands that only read a stack: show, list, history, diff, why, graph.

Imports ``options`` and ``console``.
"""
