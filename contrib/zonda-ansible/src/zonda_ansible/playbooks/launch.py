"""The process of a run: takes an order from standard input and becomes ``ansible-playbook``.

The order as JSON::

    {"arguments": [...], "files": {variable: content}}

The arguments, which hold secrets, are in no list of processes. Each content goes into a file
without a name, which ends with the process; a variable of the environment tells Ansible its path.
Started by its path; imports nothing of zonda.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import entry_points


def hand_over(content: str) -> str:
    """The path of a file without a name, which holds ``content``."""
    with tempfile.TemporaryFile() as file:
        file.write(content.encode("utf-8", "surrogatepass"))
        file.flush()
        file.seek(0)
        return f"/dev/fd/{os.dup(file.fileno())}"


def main() -> None:
    """Be Ansible, which finds nobody to ask at its standard input."""
    order = json.load(sys.stdin.buffer)
    for variable, content in order["files"].items():
        os.environ[variable] = hand_over(content)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    (command,) = entry_points(group="console_scripts", name="ansible-playbook")
    sys.argv = ["ansible-playbook", *order["arguments"]]
    command.load()()


if __name__ == "__main__":
    main()
