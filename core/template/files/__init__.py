"""Files that texts name: found, read from disk or by http, and attached.

Called by the command line; imports ``types``.
"""
