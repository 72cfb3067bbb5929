"""Pages that show: the list of stacks, a stack and its parts. They change nothing.

Called by the route table of the pages; what they show comes from ``core/reports`` and the reader.
"""
