"""Reads of the database and the views that they give.

Imports ``values``, ``file`` and ``schema``.
"""
