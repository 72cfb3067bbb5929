"""``python -m tests.acceptance.storm --kills 200 --resources 300 --seed 1``: one JSON line.

With ``--nested`` most of the resources are nested stacks; ``--actions`` kills in suspend, resume,
snapshot, restore, rollback, repair and first use instead. Each action that has come to its end is
told on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .actions import ActionStorm
from .storm import Storm

parser = argparse.ArgumentParser(description="kill -9 over one stack, again and again")
parser.add_argument("--kills", type=int, default=200)
parser.add_argument("--resources", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--nested", action="store_true", help="most resources are nested stacks")
parser.add_argument("--actions", action="store_true", help="all actions but create and delete")
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    storm = (ActionStorm if arguments.actions else Storm)(
        Path(folder) / "home",
        kills=arguments.kills,
        resources=arguments.resources,
        seed=arguments.seed,
        nested=arguments.nested,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(json.dumps({**storm.run(), "seed": arguments.seed}))
