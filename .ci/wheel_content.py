"""Compare a wheel with the rooms: every tracked file of a room is in it, and nothing else is.

Run as ``python .ci/wheel_content.py WHEEL`` from the root of the clone.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile

ROOMS = ("core", "hooks", "builtin_resources", "workflows", "examples")


def expected() -> set[str]:
    """Names in the wheel, from the tracked files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *ROOMS, "src/zonda"], check=True, capture_output=True, text=True
    )
    tracked = {name for name in listed.stdout.split("\0") if name}
    links = {f"src/zonda/{room}" for room in ROOMS}
    return {f"zonda/{name.removeprefix('src/zonda/')}" for name in tracked - links}


def main(wheel: str) -> int:
    """Print the differences; 1 if there are any."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = expected()
    for name in sorted(wanted - found):
        print(f"missing in the wheel: {name}")
    for name in sorted(found - wanted):
        print(f"in the wheel, but in no room: {name}")
    print(f"{len(found)} files in the wheel")
    return int(found != wanted)


sys.exit(main(sys.argv[1]))
