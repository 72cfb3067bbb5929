"""A workflow of the bundled service that fails twice, and then works."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

request = json.load(sys.stdin)
folder = Path(request["inputs"]["folder"])
name = request["resource"]["name"]
log = os.open(folder / "runs.log", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
entry = [request["action"], name, request["request_id"], os.getpid(), os.getppid()]
os.write(log, (json.dumps(entry) + "\n").encode())
if len((folder / "runs.log").read_text().splitlines()) < 3:
    sys.exit("not in the mood")
print(json.dumps({"resource_id": f"thing-{name}"}))
