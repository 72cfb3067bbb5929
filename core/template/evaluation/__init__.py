"""Scopes in which functions are resolved, values not known yet, the place of an error.

Called by ``syntax``; imports ``source``.
"""
