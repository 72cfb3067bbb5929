"""Calls one Python function as a workflow: ``python -m ...call_function MODULE FUNCTION FOLDER``.

A child of the wrapper. The function gets the request (a dict) and returns the output: a dict, or
None. What it prints goes to stderr, so that stdout holds the output alone. An exception is a
failure: its traceback goes to stderr too, its text and place are the reason.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import sys
import traceback
from pathlib import Path
from types import ModuleType

from .outcome import REASON_MARK


class Missing(Exception):
    """A failure whose text is complete, without a traceback."""


def load_module(module: str, folder: str) -> ModuleType:
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


def call_function(module: str, function: str, folder: str) -> None:
    """Read the request from stdin, call, write the output to stdout."""
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        found = getattr(load_module(module, folder), function, None)
        if found is None:
            raise Missing(f"{Path(module).name} has no {function}")
        output = found(request)
    if output is not None and not isinstance(output, dict):
        output = {"result": output}
    try:
        text = json.dumps(output or {}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Missing(f"{function} gives what is not JSON: {error}") from error
    sys.stdout.write(text)


def main(module: str, function: str, folder: str) -> None:
    """``call``; where that fails the traceback goes to stderr and, behind a mark, the reason."""
    try:
        call_function(module, function, folder)
    except Exception as error:
        traceback.print_exc()
        reason = str(error) if isinstance(error, Missing) else _format_reason(error, module, folder)
        sys.stderr.write(REASON_MARK + reason.encode("utf-8", "backslashreplace").decode())
        sys.exit(1)


def _format_reason(error: Exception, module: str, folder: str) -> str:
    """``ValueError: text (flows.py, line 2)``: the innermost place that is the user's."""
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, SyntaxError):
        return text  # it says where by itself
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(folder) or frame.filename == module:
            return f"{text} ({path.name}, line {frame.lineno})"
    return text


if __name__ == "__main__":
    main(*sys.argv[1:4])
