"""A running stack on the screen: events, the live display, the report of a failure.

Imports ``console``.
"""
