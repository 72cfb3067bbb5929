"""Types declared in YAML: parser, schemas, mapping, the class that is made.

Imports ``resources``.
"""
