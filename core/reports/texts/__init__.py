"""Words for people, the same on the command line and on pages: times, plans.

Called by the faces. Pure functions and tables.
"""
