"""Write and remove the configuration file of a team's application.

Run by the bundled runner service as ``python3 config.py ACTION`` with the request on stdin; the
answer goes to stdout. The file is replaced in one go, so a reader sees the old or the new one. It
names its owner, the resource that wrote it last: only the owner removes it.
"""

import configparser
import json
import os
import sys
from pathlib import Path


def location(request):
    """The file: one per team."""
    return Path(request["inputs"]["directory"]) / request["inputs"]["team"] / "database.ini"


def write(request):
    """The file as the inputs want it, readable by its owner only: it holds a password."""
    inputs, path = request["inputs"], location(request)
    config = configparser.ConfigParser(interpolation=None)
    config["database"] = {
        "path": inputs["database"],
        "password": inputs["password"],
        "projects": "yes" if inputs["projects"] else "no",
    }
    config["zonda"] = {"owner": request["resource"]["id"]}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{request['request_id']}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        config.write(file)
    os.replace(draft, path)
    return {"resource_id": str(path), "path": str(path)}


def delete(request):
    """Remove the file if it is still this resource's, and the team's folder if it is empty."""
    path = location(request)
    config = configparser.ConfigParser(interpolation=None)
    config.read(path)
    if config.get("zonda", "owner", fallback="") == request["resource"]["id"]:
        path.unlink()
    if path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
    return {}


ACTIONS = {"write": write, "delete": delete}

if __name__ == "__main__":
    json.dump(ACTIONS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
