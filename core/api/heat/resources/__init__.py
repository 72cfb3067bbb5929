"""Handlers of resources and events: rows, attributes, metadata, signals, health.

Called through ``heat/routes``. Imports ``http``, ``service`` and the modules of ``heat`` beside it.
"""
