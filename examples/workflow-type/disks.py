"""Make, change, look at and remove the disks of the Acme storage: files of JSON in a folder.

Run by the bundled runner service as ``python3 disks.py ACTION`` with the request on stdin; the
answer goes to stdout. Every action may be run twice with the same request: the file's name is made
from the resource, and each change ends in the wanted state, whatever was there before.
"""

import hashlib
import json
import sys
from pathlib import Path


def location(request):
    """The file of a disk: the one that was made, else where it would be."""
    given = request["resource"]["physical_id"]
    if given:
        return Path(given)
    inputs = request["inputs"]
    return Path(inputs["directory"]) / f"{inputs['name']}.json"


def write(request):
    """Make the file what the inputs ask for."""
    inputs, path = request["inputs"], location(request)
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = inputs["passphrase"] or ""
    disk = {
        "size": inputs["size"],
        "pool": inputs["pool"],
        "labels": inputs["labels"] or {},
        "check": hashlib.sha256(secret.encode()).hexdigest()[:8],
    }
    path.write_text(json.dumps(disk, indent=2))
    return {"resource_id": str(path), "path": str(path)}


def remove(request):
    """Take the file away, if it is there."""
    location(request).unlink(missing_ok=True)
    return {}


def look(request):
    """Tell what is there, and change nothing."""
    path = location(request)
    if not path.exists():
        return {"exists": False}
    disk = json.loads(path.read_text())
    return {"size": disk["size"], "labels": disk["labels"], "path": str(path)}


ACTIONS = {"make": write, "change": write, "remove": remove, "look": look}

if __name__ == "__main__":
    print(json.dumps(ACTIONS[sys.argv[1]](json.load(sys.stdin))))
