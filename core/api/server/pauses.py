"""Short pauses: what lets requests be answered while a large template is planned.

All threads share one interpreter. A thread that only computes gives way after the switch interval,
and a full collection of cycles stops all of them: 100 ms beside a template of 1 MB.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds after which a thread gives way (Python: 0.005).
SWITCH_INTERVAL = 0.0005
#: The thresholds of the cyclic collector. A collection holds the interpreter: of the youngest
#: generation for 1 ms, of the next one for up to 10 ms; the oldest one is looked through seldom.
COLLECTION = (3_000, 5, 1_500)


@contextmanager
def keep_pauses_short() -> Iterator[None]:
    """Let threads give way soon and collect little at a time; as before at the end."""
    before = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.freeze()  # what is there now stays
    gc.set_threshold(*COLLECTION)
    try:
        yield
    finally:
        sys.setswitchinterval(before[0])
        gc.unfreeze()
        gc.set_threshold(*before[1])
