"""The scheduler: a few fixed sweeps that call the engine and hold no logic.

Called by ``core.app``; imports APScheduler and the engine's protocol.
"""
