"""Callers, the ways to know them, and the table of what they may do.

Called by ``server`` and by handlers. Imports settings and errors only.
"""
