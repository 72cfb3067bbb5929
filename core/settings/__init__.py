"""Settings: the table, the reader of files and variables, secrets.

Called by ``core.app``; imports hooks.
"""
