"""The schema language: properties, attributes, constraints, translation.

Imports ``context``, ``function`` and ``text``.
"""
