"""One module for each action that is no plain plan, and the table of all actions.

Called by ``runtime``. Imports all but ``runtime``.
"""
