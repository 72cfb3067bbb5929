"""Requests and answers without a server: calls, answers, the route table.

Called by ``server`` and by every handler. Imports ``identity`` and ``service``, for their types.
"""
