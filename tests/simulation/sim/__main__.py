"""Many seeds, and what happened in them: ``python -m tests.simulation.sim KIND FIRST COUNT``.

KIND is ``whole``, ``nested``, ``drifting``, ``letting-go``, ``cluster``, ``plain`` or ``inward``.
Set ``PYTHONHASHSEED`` to see a seed again. ``--mutation NAME`` takes something away that a cluster
needs, and ends at the first seed that finds it.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from .cluster.life import live_cluster
from .cluster.mutations import MUTATIONS, mutated
from .letting_go import live_letting_go
from .life import live, live_drifting, live_nested
from .play import play

KINDS: dict[str, Callable[[int], Any]] = {
    "whole": live,
    "nested": live_nested,
    "drifting": live_drifting,
    "letting-go": live_letting_go,
    "cluster": live_cluster,
    "plain": play,
    "inward": lambda seed: play(seed, inward=True),
}


def main() -> int:
    """Play them; 1 if any has failed, or if none has with a mutation."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.sim")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--mutation", choices=MUTATIONS, default="")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    counted: Counter[str] = Counter()
    failed = {}
    with mutated(asked.mutation):
        for seed in range(asked.first, asked.first + asked.count):
            try:
                sim = KINDS[asked.kind](seed)
            except Exception as error:  # a broken engine may raise anything
                failed[seed] = f"{type(error).__name__}: {error}"
            else:
                counted += sim.counted + Counter(crashes=sim.crashes)
            counted["seeds"] += 1
            if failed and asked.mutation:
                break
    shown = {"kind": asked.kind, **dict(sorted(counted.items())), "failed": failed}
    if asked.mutation:
        shown["mutation"] = asked.mutation
    print(json.dumps({**shown, "cpu_s": round(time.process_time(), 1)}))
    return int(bool(failed) != bool(asked.mutation))


if __name__ == "__main__":
    sys.exit(main())
