"""The tree of templates: children loaded, checked, and their signatures.

Called by ``load``; imports ``definition`` and below.
"""
