"""Parameters: schemas, types, constraints, values and how they are merged.

Called by ``environment``; imports ``source`` and ``syntax``.
"""
