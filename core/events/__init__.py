"""Delivery of committed events to event sinks, repeated until they arrive.

Called by ``core.app``, which provides sinks, database and process; imports the store and hooks.
"""
