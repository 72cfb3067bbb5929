"""``python -m tests.acceptance.cluster_storm --kills 50 --seed 1 --kind kill``: one JSON line.

Each disruption is told on standard error. Ends with 1 where there are faults.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .disruptions import EMBEDDED, KINDS
from .storm import STREAMS, ClusterStorm

parser = argparse.ArgumentParser(description="disruptions of members under load")
parser.add_argument("--kills", type=int, default=50)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--kind", choices=sorted(KINDS), default="kill")
parser.add_argument("--longest", type=float, default=3.0, help="seconds that a run takes at most")
parser.add_argument("--members", type=int, default=0, help="with PostgreSQL; 0: one, with SQLite")
parser.add_argument("--streams", type=int, default=STREAMS, help="clients of live events")
arguments = parser.parse_args()
if not arguments.members and arguments.kind not in EMBEDDED:
    parser.error(f"--kind {arguments.kind} needs --members")
with tempfile.TemporaryDirectory() as folder:
    storm = ClusterStorm(
        Path(folder),
        kind=arguments.kind,
        kills=arguments.kills,
        seed=arguments.seed,
        longest=arguments.longest,
        members=arguments.members,
        streams=arguments.streams,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    report = storm.report(storm.run())
print(json.dumps({**report, "seed": arguments.seed}))
sys.exit(bool(report["faults"]))
