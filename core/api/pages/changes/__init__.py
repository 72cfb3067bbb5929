"""Pages that change: templates as plans, plans that are applied, actions, drift.

Called by the route table of the pages.
"""
