"""Text for people: escaped, redacted, suggested, matched within a time limit.

Imports ``errors``.
"""
