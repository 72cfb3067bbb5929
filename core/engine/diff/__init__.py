"""The decision on one instance: keep, update, replace.

Runs in the pool; called by ``execution`` and ``preview``. Imports ``plugins``, ``templates``,
``progress`` and ``model``.
"""
