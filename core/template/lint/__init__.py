"""Warnings on templates that are valid.

Called by ``definition``'s users; never ends a command. Imports ``types`` and below.
"""
