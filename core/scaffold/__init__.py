"""The files of a new plug-in package or type (``zonda plugin new``, ``zonda type new``).

Called by the command line; imports nothing.
"""
