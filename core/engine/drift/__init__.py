"""Drift: differences between resources and their template, and their repair.

``actions`` is the way in, ``check_resources`` runs a check, ``observe`` asks a resource for its
live state, ``differences`` compares, ``store`` keeps the result, ``schedule`` starts what is due,
``repair`` makes a plan of findings. Called by ``runtime`` and, by name, ``handlers``; imports
``execution``, ``plan`` and below. A check writes to tables of its own only.
"""
