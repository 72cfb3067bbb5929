"""URLs that need no other proof than themselves: signals to resources, callbacks of runners.

Called by ``server``. Imports ``heat`` for what a server has to apply, ``http`` and ``service``.
"""
