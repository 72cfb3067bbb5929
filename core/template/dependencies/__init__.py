"""References between resources: who reads what, the edges of the graph and their reasons.

Called by ``definition``; imports ``syntax``.
"""
