"""The wire between a server and its clients: views and errors as JSON, by the names of classes.

Called by ``core/api/zonda`` and ``core/remote``. ``classes`` is the table of what may travel.
"""
