"""Values around one execution: what is sent, compared and kept in a token. Pure functions.

Used by ``external_resource`` alone; knows no runner and no resource.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.function import Function
from zonda.hooks.runner import Failed, Succeeded

#: Where workflows find the merged outputs in their environment.
DATA_KEY = "heat_extresource_data"
_READS_OTHERS = frozenset({"get_resource", "get_attr", "Ref", "Fn::GetAtt"})


def plain(value: Any) -> Any:
    """``value`` as JSON gives it back: keys are texts, tuples are lists."""
    return json.loads(json.dumps(value))


def replaces(names: Sequence[Any] | None, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether an input of ``names`` differs; one that is absent counts as null."""
    return any(old.get(str(name)) != new.get(str(name)) for name in names or ())


def with_data(params: Mapping[str, Any], data: Mapping[str, Any] | None) -> dict[str, Any]:
    """``params`` with the merged outputs in the environment that the workflow sees."""
    if data is None:
        return dict(params)
    env = params.get("env") or {}
    if not isinstance(env, Mapping):
        raise ResourceFailure(
            f"The outputs so far cannot be added to params.env, which is no map: {DATA_KEY}."
        )
    return {**params, "env": {**env, DATA_KEY: data}}


def below(value: Any, *path: str) -> Any:
    """What stands at ``path`` in nested maps; None where it leads nowhere."""
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


def to_json(result: Succeeded | Failed) -> dict[str, Any]:
    """A result as it is kept in a token."""
    common = {"output": result.output, "resource_id": result.resource_id}
    if isinstance(result, Succeeded):
        return common
    return {
        **common,
        "reason": result.reason,
        "retryable": result.retryable,
        "heat_type": result.heat_type,
        "by_runner": result.by_runner,
    }


def from_json(kept: Mapping[str, Any]) -> Succeeded | Failed:
    """The result that ``to_json`` wrote."""
    return Failed(**kept) if "reason" in kept else Succeeded(**kept)
