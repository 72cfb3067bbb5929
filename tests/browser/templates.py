"""Templates of the tests in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_TEST = "OS::Heat::TestResource"


def _make_resource(kind: str = _TEST, *needs: str, **properties: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": kind, "properties": properties}
    return {**made, "depends_on": list(needs)} if needs else made


#: A stack that stays in motion until its handle is signalled.
SHOP: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": "A shop: its application waits for the data, its front end for the application.",
    "parameters": {
        "size": {"type": "number", "default": 3, "description": "servers of the front end"},
        "password": {"type": "string", "hidden": True, "default": "swordfish"},
    },
    "resources": {
        "network": _make_resource(value="net"),
        "volume": _make_resource(value="data"),
        "subnet": _make_resource(value={"get_resource": "network"}),
        "database": _make_resource(_TEST, "volume", value={"get_attr": ["subnet", "output"]}),
        "handle": _make_resource("OS::Heat::WaitConditionHandle"),
        "seeded": _make_resource(
            "OS::Heat::WaitCondition", "database", handle={"get_resource": "handle"}, timeout=3600
        ),
        "application": _make_resource(_TEST, "seeded"),
        "servers": _make_resource(
            "OS::Heat::ResourceGroup",
            "application",
            count={"get_param": "size"},
            resource_def={"type": _TEST, "properties": {"value": "front"}},
        ),
        "balancer": _make_resource(_TEST, "servers"),
    },
    "outputs": {
        "database": {"value": {"get_attr": ["database", "output"]}, "description": "its data"},
        "password": {"value": {"get_param": "password"}},
    },
}


def make_things(folder: Path, fail: bool = False, **values: str) -> dict[str, Any]:
    """A template of things that somebody may change by hand. ``fail``: one cannot be made."""
    resources = {
        name: _make_resource("Test::Thing", folder=str(folder), value=value)
        for name, value in (values or {"thing": "one"}).items()
    }
    if fail:
        resources["refused"] = _make_resource(_TEST, *resources, value="x", fail=True)
    return {"heat_template_version": "2021-04-16", "resources": resources}
