"""Reads of the database and their views.

Imports ``values``, ``file`` and ``schema``.
"""
