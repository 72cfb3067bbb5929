"""Calls one Python function as a workflow: ``python -m ...service_call MODULE FUNCTION FOLDER``.

A child of the wrapper. The function gets the request (a dict) and returns the output: a dict, or
None. What it prints goes to stderr, so that stdout holds the output alone. An exception is a
failure, and its traceback the reason.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType


def load(module: str, folder: str) -> ModuleType:
    """The module by its name (``folder`` is looked in first), or from a ``.py`` file."""
    sys.path.insert(0, folder)
    if not module.endswith(".py"):
        return importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(Path(module).stem, module)
    if spec is None or spec.loader is None:
        raise ImportError(f"{module} cannot be imported")
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def main(module: str, function: str, folder: str) -> None:
    """Read the request from stdin, call, write the output to stdout."""
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        output = getattr(load(module, folder), function)(request)
    if output is not None and not isinstance(output, dict):
        output = {"result": output}
    sys.stdout.write(json.dumps(output or {}, allow_nan=False))


if __name__ == "__main__":
    main(*sys.argv[1:4])
