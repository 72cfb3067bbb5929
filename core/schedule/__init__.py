"""The scheduler of a running engine: a few jobs that call the engine and hold no logic.

Called by ``core.app``; imports APScheduler and the engine's protocol.
"""
