"""The values of one execution: to be sent and compared. Pure functions.

Used by ``external_resource`` alone; knows no runner and no resource.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.hooks import Function, ResourceFailure
from zonda.hooks.runners import Failed, Lost, Succeeded

#: The name under which workflows find the merged outputs in their environment.
DATA_KEY = "heat_extresource_data"
_READS_OTHERS = frozenset({"get_resource", "get_attr", "Ref", "Fn::GetAtt"})


def has_changed_input(
    names: Sequence[Any] | None, old: Mapping[str, Any], new: Mapping[str, Any]
) -> bool:
    """Whether an input of ``names`` differs; one that is absent counts as null."""
    return any(old.get(str(name)) != new.get(str(name)) for name in names or ())


def add_data(params: Mapping[str, Any], data: Mapping[str, Any] | None) -> dict[str, Any]:
    """``params`` with the merged outputs in the environment that the workflow sees.

    A text as environment is the name of one that the runner knows, which adds them by itself.
    """
    env = params.get("env") or {}
    if data is None or isinstance(env, str):
        return dict(params)
    if not isinstance(env, Mapping):
        raise ResourceFailure(
            f"The outputs so far cannot be added to params.env, which is no map: {DATA_KEY}."
        )
    return {**params, "env": {**env, DATA_KEY: data}}


def to_json_text(value: Mapping[str, Any]) -> str:
    """``value`` as JSON within a text; empty for an empty map. Raises ValueError as JSON does."""
    return json.dumps(dict(value), allow_nan=False) if value else ""


def unpack_json(value: Any) -> Any:
    """The parsed JSON of a text; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def get_at_path(value: Any, *path: str) -> Any:
    """The value at ``path`` in nested maps; None where it leads nowhere."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def reads_others(written: Any) -> bool:
    """Whether a template expression, parsed or as written, waits for another resource."""
    if isinstance(written, Function):
        return any(source.kind in ("ref", "attr") for source in written.sources())
    if isinstance(written, Mapping):
        return any(key in _READS_OTHERS or reads_others(v) for key, v in written.items())
    return isinstance(written, list) and any(reads_others(item) for item in written)


def describe_result(result: Succeeded | Failed | Lost) -> str:
    """The result of a run as text, for people."""
    if isinstance(result, Lost):
        return f"lost ({result.reason})"
    given = result.resource_id or (result.output or {}).get("resource_id")
    owns = f" (resource_id {given})" if given else ""
    if isinstance(result, Succeeded):
        return f"it succeeded{owns}"
    return f"it failed{owns}: {result.reason}"
