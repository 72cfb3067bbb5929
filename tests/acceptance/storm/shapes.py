"""How the wishes of a storm are written as templates, and which things each of them stands for.

``Flat``: one resource per wish. ``Nested``: most wishes are nested stacks, of a file that has one
thing, of a file that has another such nested stack in it, or groups of nested stacks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .wishes import THING, Wish, Wishes, inputs, thing

#: path of a thing -> what its workflow is to be given; given the ids of all things.
Due = Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]]
_VERSION = {"heat_template_version": "2018-08-31"}
_PARAMETERS = {
    "size": {"type": "number"},
    "colour": {"type": "number"},
    "fail": {"type": "boolean"},
    "of": {"type": "comma_delimited_list"},
}
_GIVEN = {name: {"get_param": name} for name in _PARAMETERS}


class Flat:
    """One resource per wish, of the type ``kind``."""

    def __init__(self, kind: str = THING) -> None:
        self.kind = kind

    def files(self, wishes: Wishes) -> dict[str, str]:
        """The files by their names, the template of the stack first."""
        resources = {
            name: thing(inputs(wish, lambda other: {"get_resource": other}), self.kind)
            for name, wish in wishes.items()
        }
        return {"storm.json": json.dumps({**_VERSION, "resources": resources})}

    def due(self, wishes: Wishes) -> Due:
        """What is to be there."""
        return {
            name: _due(wish, {other: other for other in wishes}) for name, wish in wishes.items()
        }


class Nested:
    """Most wishes are nested stacks; which ones is decided by their numbers."""

    kind = THING

    def files(self, wishes: Wishes) -> dict[str, str]:
        """The files by their names, the template of the stack first."""
        resources = {name: _owner(name, wish) for name, wish in wishes.items()}
        leaf = {"thing": thing({**_GIVEN, "edition": _edition(wishes)})}
        deep = {
            "leaf": {"type": "leaf.yaml", "properties": _GIVEN},
            "side": thing({**_GIVEN, "fail": False, "of": [{"get_attr": ["leaf", "id"]}]}),
        }
        return {
            "storm.json": json.dumps({**_VERSION, "resources": resources}),
            "leaf.yaml": _file(leaf, "thing"),
            "deep.yaml": _file(deep, "side"),
        }

    def due(self, wishes: Wishes) -> Due:
        """What is to be there."""
        users = {name: _PATHS[_kind(name)].format(name) for name in wishes}
        found: dict[str, Any] = {}
        edition = {"edition": _edition(wishes)}
        for name, wish in wishes.items():
            plain = _due(wish, users)
            kind = _kind(name)
            if kind == 0:
                found[name] = plain
            elif kind == 1:
                found[f"{name}/thing"] = _and(plain, edition)
            elif kind == 2:
                found[f"{name}/leaf/thing"] = _and(plain, edition)
                found[f"{name}/side"] = _on_top(plain, f"{name}/leaf/thing")
            else:
                for number in range(_count(wish)):
                    found[f"{name}/{number}/thing"] = _and(plain, edition)
        return found


#: Where the thing is that stands for a wish, by its kind.
_PATHS = ("{}", "{}/thing", "{}/side", "{}/0/thing")


def _kind(name: str) -> int:
    return int(name[1:]) % 4


def _count(wish: Wish) -> int:
    return 1 + wish.size % 3


def _edition(wishes: Wishes) -> int:
    """A change of a file changes all that is made from it."""
    return max((wish.size for wish in wishes.values()), default=0) // 2


def _owner(name: str, wish: Wish) -> dict[str, Any]:
    given = inputs(wish, _reference)
    kind = _kind(name)
    if kind == 0:
        return thing(given)
    if kind == 3:
        member = {"type": "leaf.yaml", "properties": given}
        return {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": _count(wish), "resource_def": member},
        }
    return {"type": ("leaf.yaml", "deep.yaml")[kind - 1], "properties": given}


def _reference(name: str) -> dict[str, Any]:
    """What stands for the thing of another wish."""
    kind = _kind(name)
    if kind == 0:
        return {"get_resource": name}
    return {"get_attr": [name, "resource.0.id" if kind == 3 else "id"]}


def _file(resources: Mapping[str, Any], shown: str) -> str:
    outputs = {"id": {"value": {"get_resource": shown}}}
    known = {"parameters": _PARAMETERS, "resources": resources, "outputs": outputs}
    return json.dumps({**_VERSION, **known})


def _due(wish: Wish, paths: Mapping[str, str]) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    return lambda ids: inputs(wish, lambda other: ids[paths[other]])


def _and(plain: Any, more: dict[str, Any]) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    return lambda ids: {**plain(ids), **more}


def _on_top(plain: Any, of: str) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    return lambda ids: {**plain(ids), "fail": False, "of": [ids[of]]}
