"""Templates with all that a template and its environment may say: for whole lives."""

from __future__ import annotations

import json
from typing import Any

from .template import random_template

SIZE = 8
TYPES = ("Thing", "Fragile", "Odd", "Quick", "Found", "Patient", "Always", "Keeper", "Inward")
HOOKS = ("pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete")
ACTIONS = ("create", "update", "delete", "suspend", "resume", "snapshot", "adopt", "*")


def whole_template(source: Any, size: int, external: Any) -> dict[str, Any]:
    """A random template; ``external``: ids of what is managed elsewhere."""
    made = random_template(source, size)
    for name, entry in made["resources"].items():
        kind = int(name[1:]) if source.random() < 0.95 else source.randrange(len(TYPES))
        entry["type"] = TYPES[kind % len(TYPES)]
        if source.random() < 0.15:
            entry["deletion"] = source.choice(["Retain", "Snapshot"])
        if source.random() < 0.03:
            entry["external"] = source.choice(external)
            entry["requires"] = []
    return with_environment(source, made)


def with_environment(source: Any, made: dict[str, Any]) -> dict[str, Any]:
    """``made`` with an environment of its own, in three of five cases."""
    for key in ("own", "breakpoints", "restricted"):
        made.pop(key, None)
    names = sorted(made["resources"])
    if not names or source.random() < 0.4:
        return made
    own: dict[str, Any] = {}
    if source.random() < 0.7:
        own["retries"] = _some(source, names, lambda: [source.randrange(1, 4), source.random() * 9])
        if source.random() < 0.6:
            own["retries"]["*"] = {"*": [source.randrange(2, 4), source.random() * 9]}
    if source.random() < 0.4:
        own["timeouts"] = _some(source, names, lambda: source.choice([1.0, 20.0, 600.0]))
        if source.random() < 0.5:
            own["timeouts"]["*"] = dict.fromkeys(HOOKS, source.choice([5.0, 300.0]))
    if source.random() < 0.3:
        own["protect"] = {source.choice(names): True}
        if source.random() < 0.2:
            own["protect"]["stack"] = True
    made["own"] = own
    if source.random() < 0.35:
        keys = source.sample([*names, "r*"], 2)
        made["breakpoints"] = {key: [source.choice(HOOKS)] for key in keys}
    if source.random() < 0.15:
        made["restricted"] = {source.choice(names): [source.choice(["update", "replace"])]}
    return made


def _some(source: Any, names: list[str], value: Any) -> dict[str, Any]:
    keys = source.sample([*names, "*", "Thing"], 2)
    return {key: {source.choice(ACTIONS): value()} for key in keys}


def changed_template(source: Any, text: str) -> dict[str, Any]:
    """What was wanted before, or that with one change."""
    known: dict[str, Any] = json.loads(text)
    resources = known["resources"]
    if resources and source.random() < 0.7:
        entry = resources[source.choice(sorted(resources))]
        entry[source.choice(["value", "value", "fixed"])] = source.choice("abcxy")
        if source.random() < 0.3:
            entry["deletion"] = source.choice(["Delete", "Retain", "Snapshot"])
    if source.random() < 0.5:
        with_environment(source, known)
    return known


class Writing:
    """Writes the templates of whole lives."""

    def whole(self, source: Any, external: Any) -> dict[str, Any]:
        """Any template."""
        return whole_template(source, SIZE, external)

    def changed(self, source: Any, text: str) -> dict[str, Any]:
        """What was wanted before, or that with one change."""
        return changed_template(source, text)

    def calm(self, source: Any, externals: dict[str, str]) -> dict[str, Any]:
        """Everything that may exist, and nothing that could keep it from being as wanted."""
        return calm_template(source, SIZE, externals)


def calm_template(source: Any, size: int, externals: dict[str, str]) -> dict[str, Any]:
    """Everything that may exist, and nothing that could keep it from being as wanted."""
    made = random_template(source, size)
    names = [f"r{number}" for number in range(size)]
    for name in names:
        entry = made["resources"].setdefault(
            name, {"value": "a", "fixed": "x", "moody": False, "requires": []}
        )
        entry["type"] = TYPES[int(name[1:]) % len(TYPES)]
        if name in externals:
            entry["external"], entry["requires"] = externals[name], []
    return made
