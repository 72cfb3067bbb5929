"""Reports on a stack's past and present: history, differences, failures, graph, export.

Reads only; no report holds a hidden value. Called by ``core.app.inspection`` and the faces.
"""
