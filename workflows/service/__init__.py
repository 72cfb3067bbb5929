"""The bundled runner service: HTTP face, supervisor of processes, journal.

Called by ``core.app``.
"""
