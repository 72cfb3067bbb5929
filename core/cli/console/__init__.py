"""Output of all commands: formats, streams, tables, errors with excerpts of the source.

Imports ``session`` only.
"""
