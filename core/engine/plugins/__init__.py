"""Calls of plug-ins: instances, their context, results without secrets.

Called by ``diff``, ``nested``, ``execution``, ``preview`` and ``drift``; imports ``templates``
and ``model``.
"""
