"""One heap for all threads of this process. Called by the pool, before it starts threads.

The C library gives each thread a heap of its own, in which large texts leave holes that no other
thread may use: a sixth of what a large tree of stacks took. Python's threads hardly ever ask for
memory at the same time, so that one heap costs them nothing.
"""

from __future__ import annotations

import ctypes

#: M_ARENA_MAX of the GNU C library's ``mallopt``: the largest number of heaps.
_ARENA_MAX = -8


def limit_malloc_arenas() -> None:
    """Limit malloc to one arena where the C library supports it; else do nothing."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    set_option(_ARENA_MAX, 1)
