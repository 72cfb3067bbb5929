"""The source of all answers: one engine and its database, seen by one caller.

Called by ``server`` (which makes the ``Service``) and by handlers (which get a ``Project``).
Imports ``core/app`` and what is below it; nothing of HTTP.
"""
