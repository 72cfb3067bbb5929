"""The arguments that the code of a module declares: its call of ``AnsibleModule``.

The documentation of a module tells neither which options are secret nor which exclude or need
each other. The code does: the module is run up to that call and no further, in a child process
that is thrown away, with a time limit. Called by ``documentation``.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import runpy
import signal
import sys
from typing import Any, Final, NoReturn

RELATIONS: Final = (
    *("mutually_exclusive", "required_together", "required_one_of", "required_if"),
    "required_by",
)
#: Seconds until a module that does not come to the call is given up.
_LIMIT: Final = 20
#: The keys of one option that are kept.
_KEPT: Final[tuple[str, ...]] = (
    "type",
    "elements",
    "choices",
    "required",
    "default",
    "aliases",
    "no_log",
)


class _Called(BaseException):
    """The module has called ``AnsibleModule``: it must not go on."""


def read_arguments(module: str) -> dict[str, Any] | None:
    """``options``, ``relations`` and ``check_mode`` of a Python module by its Python name.

    None where the code does not say it: it needs a library that is not here, or is no module.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _report(module, writer)
    os.close(writer)
    with open(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    try:
        return dict(json.loads(said))
    except ValueError:
        return None


def _report(module: str, writer: int) -> NoReturn:
    """Write what the call was given, and end the process."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_LIMIT)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        found = _call(module)
        with open(writer, "w", encoding="utf-8") as pipe:
            json.dump(found, pipe)
    except BaseException:  # a stranger's code: whatever it raises, nothing is known
        os._exit(1)
    os._exit(0)


def _call(module: str) -> dict[str, Any]:
    from ansible.module_utils import basic

    given: dict[str, Any] = {}
    names = [*inspect.signature(basic.AnsibleModule.__init__).parameters][1:]

    def stop(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        given.update(zip(names, args, strict=False))
        given.update(kwargs)
        raise _Called

    basic.AnsibleModule.__init__ = stop
    basic._load_params = lambda: None
    sys.argv = [module]
    with contextlib.suppress(_Called):
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    if not given:
        raise LookupError(module)
    options = dict(given.get("argument_spec") or {})
    if given.get("add_file_common_args"):
        options = {**basic.FILE_COMMON_ARGUMENTS, **options}
    return {
        "options": _describe_all(options),
        "relations": _list_relations(given),
        "check_mode": bool(given.get("supports_check_mode")),
    }


def _describe_all(options: dict[str, Any]) -> dict[str, Any]:
    return {name: _describe(spec) for name, spec in options.items() if isinstance(spec, dict)}


def _describe(spec: dict[str, Any]) -> dict[str, Any]:
    """One option as plain data; ``relations`` are those among its suboptions."""
    found: dict[str, Any] = {key: _to_plain(spec[key]) for key in _KEPT if key in spec}
    if callable(spec.get("type")):
        found["type"] = "raw"
    if spec.get("fallback"):
        found["required"] = False  # an environment variable may stand in for it
    if isinstance(spec.get("options"), dict):
        found["options"] = _describe_all(spec["options"])
        found["relations"] = _list_relations(spec)
    return found


def _list_relations(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _to_plain(given[name]) for name in RELATIONS if given.get(name)}


def _to_plain(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot becomes None."""
    if isinstance(value, dict):
        return {str(key): _to_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset) or type(value) is type({}.keys()):
        return [_to_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else None
