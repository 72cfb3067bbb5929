"""Calls of plug-ins: instances, the context lent to them, answers without secrets.

Called by ``diff``, ``nested``, ``execution``, ``preview`` and ``drift``; imports ``templates``
and ``model``.
"""
