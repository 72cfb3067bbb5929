"""What can be told of templates and environments before anything is made of them.

Functions over files and environments: which rule of a registry chooses what, what templates offer,
and what a tree of nested templates can be given. Faces only print the answers. Nothing here knows
of stacks, stores or engines.
"""
