"""Commands about the command line: shell completion, manual page, help and version.

Imports ``commands`` and ``parsers``.
"""
