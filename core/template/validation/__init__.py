"""Errors of a resource, their places, and how they are raised.

Called by ``definition``; imports ``types`` and below.
"""
