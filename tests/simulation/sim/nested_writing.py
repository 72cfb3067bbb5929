"""Random trees of templates, and small changes of them."""

from __future__ import annotations

import json
from typing import Any

from .environment import TYPES, with_environment
from .nested_types import PARAMETER
from .template import random_template

LEAVES = ("leaf0", "leaf1")
MIDDLES = ("mid0",)
#: What a resource of a root is, by its number; None: something in the world.
ROOT: tuple[str | None, ...] = (None, "leaf0", "Group", None, "mid0", "Group")
MIDDLE: tuple[str | None, ...] = ("leaf1", None, "Group")
#: Every name that there may be.
NAMES = [f"{letter}{number}" for letter in "rmlg" for number in range(len(ROOT))]


class NestedWriting:
    """The templates of a life with nested stacks. See ``environment.Writing``."""

    def whole(self, source: Any, external: Any) -> dict[str, Any]:
        """Any tree."""
        made = with_environment(source, _resources(source, "r", ROOT))
        made["files"] = _files(source)
        for entry in made["resources"].values():
            if source.random() < 0.1:
                policies = ["Retain", "Snapshot"] if entry["type"] in TYPES else ["Retain"]
                entry["deletion"] = source.choice(policies)
        return made

    def changed(self, source: Any, text: str) -> dict[str, Any]:
        """What was wanted before, or that with one change somewhere."""
        known: dict[str, Any] = json.loads(text)
        parts = [known, *known["files"].values()]
        resources = source.choice(parts)["resources"]
        if resources and source.random() < 0.8:
            name = source.choice(sorted(resources))
            _change(source, resources, name)
        if source.random() < 0.3:
            with_environment(source, known)
        return known

    def calm(self, source: Any, externals: dict[str, str]) -> dict[str, Any]:
        """A whole tree without an environment, in which nothing can go wrong by itself."""
        made = _resources(source, "r", ROOT, everything=True)
        for entry in made["resources"].values():
            # what is replaced by every update forgets what signals have told it
            entry["moody"] = entry["moody"] and entry["type"] != "Always"
        made["files"] = _files(source)
        return made


def _files(source: Any) -> dict[str, Any]:
    files = {name: _resources(source, "l", (None,) * 3) for name in LEAVES}
    files.update({name: _resources(source, "m", MIDDLE) for name in MIDDLES})
    return files


def _resources(
    source: Any, letter: str, kinds: tuple[str | None, ...], *, everything: bool = False
) -> dict[str, Any]:
    random = random_template(source, len(kinds))["resources"]
    resources: dict[str, Any] = {}
    for number, kind in enumerate(kinds):
        entry = random.get(f"r{number}")
        if entry is None:
            if not everything:
                continue
            entry = {"value": "a", "fixed": "x", "moody": False, "requires": []}
        entry["requires"] = [letter + each[1:] for each in entry["requires"]]
        _be(source, entry, kind or _in_the_world(source, letter, number))
        if letter != "r" and source.random() < 0.7:
            entry["value"] = PARAMETER
        resources[f"{letter}{number}"] = entry
    return {"resources": resources}


def _in_the_world(source: Any, letter: str, number: int) -> str:
    """Mostly the same for the same name."""
    chosen = number + ord(letter) if source.random() < 0.95 else source.randrange(len(TYPES))
    return TYPES[chosen % len(TYPES)]


def _be(source: Any, entry: dict[str, Any], kind: str) -> None:
    entry["type"] = kind
    if kind == "Group":
        entry["count"] = source.randrange(4)
        entry["batch"] = source.randrange(1, 4)
        entry["pause"] = source.choice([0, 0, 2])
        entry["member"] = source.choice(["Thing", "Thing", "Quick", "leaf0"])


def _change(source: Any, resources: dict[str, Any], name: str) -> None:
    entry = resources[name]
    chance = source.random()
    if chance < 0.1:
        del resources[name]
        for other in resources.values():
            other["requires"] = [each for each in other["requires"] if each != name]
    elif chance < 0.5 and entry["type"] == "Group":
        key = source.choice(["count", "batch", "pause"])
        entry[key] = source.randrange(1, 4)
    elif chance < 0.6:
        entry["moody"] = not entry["moody"]
    else:
        entry[source.choice(["value", "value", "fixed"])] = source.choice("abcxy")
