"""Transactions on an action's progress through the graph: counters, phases, history.

Called by ``operations``, ``plan`` and ``handlers``; imports ``model``.
"""
