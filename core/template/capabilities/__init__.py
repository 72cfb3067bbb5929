"""Capabilities, requirements, and the choice between candidate templates.

Called by ``environment`` and ``types``; imports ``source``.
"""
