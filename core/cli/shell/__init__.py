"""The command line on itself: completion of shells, the manual page, help and version.

Imports ``commands`` and ``parsers``.
"""
