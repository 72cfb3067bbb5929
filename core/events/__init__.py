"""The sinks room: hands committed events on to event sinks, once and again until they arrive.

Knows the store and the hooks; ``core/app/event_sinks.py`` gives it sinks, a database and a process.
"""
