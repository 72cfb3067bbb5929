"""Handlers of whole stacks: look-ups, lists, changes, actions, what they hold.

Called through ``heat/routes``. Imports ``http``, ``service`` and the modules of ``heat`` beside it.
"""
