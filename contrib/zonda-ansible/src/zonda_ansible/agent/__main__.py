"""The process of the agent: a line of JSON asks, a line of JSON answers.

Standard input has the questions, the file descriptor of the argument takes the answers, so that
nothing that a library prints gets between them. It ends with its input.
"""

from __future__ import annotations

import json
import os
import sys

from .documentation import NoInterface, read_interface


def main() -> None:
    """Answer until the input ends."""
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    with open(int(sys.argv[1]), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            question = json.loads(line)
            try:
                said = read_interface(question["module"], question["file"])
            except NoInterface as error:
                said = {"error": str(error)}
            answers.write(json.dumps(said) + "\n")
            answers.flush()
    os._exit(0)  # whatever threads a library has begun


if __name__ == "__main__":
    main()
