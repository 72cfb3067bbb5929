"""Handlers of configurations and deployments that belong to no stack, and of what agents poll.

Called through ``heat/routes``. Imports ``http``, ``service`` and the modules of ``heat`` beside it.
"""
