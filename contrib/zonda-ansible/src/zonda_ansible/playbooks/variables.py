"""Values as YAML in which Ansible evaluates nothing.

Ansible takes ``{{ ... }}`` in extra variables and inventories for templates, which may run
commands. What comes from a stack is data: each text is marked ``!unsafe``. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

#: Characters that JSON leaves as they are and YAML refuses or changes.
_NOT_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: The variable that holds the whole request.
REQUEST: Final = "zonda"


def format_unsafe(value: Any) -> str:
    """Plain data as YAML of one line. Raises ValueError for what JSON has no word for."""
    if isinstance(value, str):
        return f"!unsafe {_quote(value)}"
    if isinstance(value, Mapping):
        inside = (f"{_quote(str(key))}: {format_unsafe(each)}" for key, each in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_unsafe, value))}]"
    return json.dumps(value, allow_nan=False)


def list_variables(inputs: Mapping[str, Any], *, connection: bool) -> dict[str, Any]:
    """The inputs that become variables of their own: those whose names can be one.

    ``connection``: also those that tell Ansible how to reach hosts and what to run there.
    """
    return {
        name: value
        for name, value in inputs.items()
        if _NAME.fullmatch(name)
        and not name.startswith(REQUEST)
        and (connection or not name.startswith("ansible_"))
    }


def _quote(text: str) -> str:
    return _NOT_YAML.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
