"""Transactions on the operation of one resource: begin, end, fail, replace, retry, time out.

Every write is fenced. Called by ``execution``, ``handlers`` and ``runtime``; imports
``progress`` and ``model``.
"""
