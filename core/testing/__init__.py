"""The pytest fixture ``zonda_stack``: a whole stack in memory.

Called by pytest; imports ``core.app``.
"""
