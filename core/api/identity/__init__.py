"""Callers, the ways to know them, and the table of what they may do.

Called by ``server`` and by handlers. Imports settings, errors and the
signing of tokens in ``core/store``.
"""
