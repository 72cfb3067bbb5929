"""Take a stack over from real Heat: nothing is made again, and all of it is in sync.

    python come_from_heat.py [--template full.yaml]

``OS_CLIENT_CONFIG_FILE`` names a file with the clouds ``demo`` and ``admin``; ``ZONDA_CLOUD`` the
folder with ``templates_zonda``. Starts Heat (``real_heat.py``), makes a stack of servers, networks
and volumes in it, abandons it there, adopts it with zonda, and looks: the things of the cloud are
the same by their ids, a drift check finds none, an update changes nothing, a deletion leaves
nothing. Prints a line of JSON; ends with 0 only if all of that is so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from inventory import Heat, list_things, run_zonda


def main() -> int:
    """Make, abandon, adopt, look, delete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--template", default="full.yaml")
    args = parser.parse_args()
    template = Path(os.environ["ZONDA_CLOUD"], "templates_zonda", args.template)
    folder = Path(tempfile.mkdtemp(prefix="come-from-heat-"))
    home, export = folder / "home", folder / "web.json"
    told: dict[str, Any] = {"template": args.template}
    before = list_things("demo")
    with Heat(folder / "heat") as heat:
        heat.create("web", template)
        made = list_things("demo")
        export.write_text(json.dumps(heat.abandon("web")))
    told["made_by_heat"] = len(made - before)
    adopted = run_zonda(home, "demo", "stack", "adopt", "web", "--adopt-file", str(export))
    told["adopt"] = adopted.returncode
    told["nothing_made_again"] = list_things("demo") == made
    drift = run_zonda(home, "demo", "stack", "drift", "check", "web", "-f", "json")
    told["drift"] = json.loads(drift.stdout).get("counts") if drift.stdout else drift.stderr
    update = run_zonda(home, "demo", "stack", "update", "web", "-t", str(template))
    said = (update.stdout + update.stderr).splitlines()
    told["update"] = next((line for line in said if line.startswith("Stack web UPDATE")), "")
    told["same_after_update"] = list_things("demo") == made
    deleted = run_zonda(home, "demo", "stack", "delete", "--yes", "web")
    told["left"] = sorted(kind for kind, _ in list_things("demo") - before)
    done = (adopted, drift, update, deleted)
    good = told["nothing_made_again"] and told["same_after_update"] and not told["left"]
    good = good and not any(each.returncode for each in done)
    print(json.dumps({**told, "good": bool(good)}))
    if not good:
        print(*(each.stdout + each.stderr for each in done), sep="\n", file=sys.stderr)
    return not good


if __name__ == "__main__":
    sys.exit(main())
