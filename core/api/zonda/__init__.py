"""Zonda's own API below ``/zonda/v1/``: the command line's requests to a server.

``routes`` is the table; ``reads`` and ``reports`` are what may be read of a project, ``waiting``
the reads that wait; ``actions`` takes actions, ``events`` streams them live.
"""
