"""The templates of the storm: layers of workflow-backed resources, and how they change."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

WIDTH = 30
#: The type of what the endpoint makes.
THING = "OS::Mistral::ExternalResource"
#: The one that can also be looked at, for storms over all actions.
WATCHED_THING = "Zonda::Workflow::ExternalResource"
_ACTIONS = {
    THING: ("CREATE", "UPDATE", "DELETE"),
    WATCHED_THING: ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME", "CHECK"),
}


@dataclass(frozen=True)
class Wish:
    """One resource: another ``colour`` replaces it, another ``size`` updates it."""

    size: int
    colour: int
    of: tuple[str, ...]
    fail: bool = False


Wishes = dict[str, Wish]


def first(source: random.Random, count: int) -> Wishes:
    """``count`` resources; each uses up to two of the layer above."""
    made: Wishes = {}
    for number in range(count):
        above = number - number % WIDTH - WIDTH
        known = [f"r{n}" for n in range(above, above + WIDTH) if f"r{n}" in made]
        made[f"r{number}"] = Wish(0, 0, tuple(source.sample(known, min(2, len(known)))))
    return made


def changed(source: random.Random, wishes: Wishes) -> Wishes:
    """Some are updated, some replaced, some leave, some (re-)appear."""
    count = len(wishes)
    new = dict(wishes)
    for name in source.sample(sorted(wishes), count // 5):
        new[name] = replace(new[name], size=new[name].size + 1)
    for name in source.sample(sorted(wishes), count // 8):
        new[name] = replace(new[name], colour=new[name].colour + 1)
    used = {name for wish in new.values() for name in wish.of}
    free = sorted(set(new) - used)
    for name in source.sample(free, min(len(free), count // 10)):
        del new[name]
        other = f"n{source.randrange(10**6)}"
        new[other] = Wish(0, 0, tuple(source.sample(sorted(set(new) & used), min(2, len(used)))))
    return new


def failing(source: random.Random, wishes: Wishes) -> Wishes:
    """A change of which one part fails."""
    new = changed(source, wishes)
    name = source.choice(sorted(new))
    new[name] = replace(new[name], fail=True, colour=new[name].colour + source.randrange(2))
    return new


def thing(given: Mapping[str, Any], kind: str = THING) -> dict[str, Any]:
    """A resource that the endpoint makes, with what its workflow is given."""
    return {
        "type": kind,
        "properties": {
            "actions": {action: {"workflow": "thing"} for action in _ACTIONS[kind]},
            "input": given,
            "replace_on_change_inputs": ["colour"],
        },
    }


def inputs(wish: Wish, reference: Any) -> dict[str, Any]:
    """What the workflow of a wish is given; ``reference``: name -> what stands for it."""
    return {
        "size": wish.size,
        "colour": wish.colour,
        "fail": wish.fail,
        "of": [reference(other) for other in wish.of],
    }
