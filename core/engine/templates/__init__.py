"""Stored templates and their definitions, with a cache and fingerprints.

Imports ``model``. Called by ``plugins``, ``plan`` and ``preview``.
"""
