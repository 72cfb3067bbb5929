"""``python -m tests.acceptance.serve_storm --kills 50 --seed 1``: one JSON line.

Each end of the server is told on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .storm import ServeStorm

parser = argparse.ArgumentParser(description="SIGTERM and kill -9 at a server under load")
parser.add_argument("--kills", type=int, default=50)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    storm = ServeStorm(
        Path(folder) / "home",
        arguments.kills,
        arguments.seed,
        lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(json.dumps({**storm.run(), "seed": arguments.seed}))
