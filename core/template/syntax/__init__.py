"""Sections of a template as parsed trees: conditions, resources, outputs.

Called by ``definition``; imports ``evaluation`` and ``source``.
"""
