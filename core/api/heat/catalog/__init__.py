"""Handlers without a stack: validation, previews, resource types, functions, the service itself.

Called through ``heat/routes``. Imports ``http``, ``service`` and the modules of ``heat`` beside it.
"""
