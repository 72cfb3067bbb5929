"""Queries on templates and environments before any stack exists.

Which rule of a registry chooses which type, what templates offer, which parameters a tree of
nested templates takes. Functions over files and environments, called by the faces. Knows no stack,
store or engine.
"""
