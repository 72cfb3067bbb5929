"""The progress of a running stack: events, the live display, the report of a failure.

Imports ``console``.
"""
