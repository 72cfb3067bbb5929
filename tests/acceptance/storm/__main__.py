"""``python -m tests.acceptance.storm --kills 200 --resources 300 --seed 1``: one JSON line."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from .storm import Storm

parser = argparse.ArgumentParser(description="kill -9 over one stack, again and again")
parser.add_argument("--kills", type=int, default=200)
parser.add_argument("--resources", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    storm = Storm(
        Path(folder) / "home",
        kills=arguments.kills,
        resources=arguments.resources,
        seed=arguments.seed,
    )
    print(json.dumps({**storm.run(), "seed": arguments.seed}))
