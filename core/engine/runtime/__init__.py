"""The running engine: its thread, its pool, requests of other processes, sweeps.

Called by ``core.app``; imports all.
"""
