"""One life for any module: made, left alone, changed, spoilt by hand, repaired, removed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from cases.ground import Life
from zonda.hooks import NotFound, OpaqueState, compare_live_state
from zonda.hooks.testing import Lifecycle

from zonda_ansible.index import load_index
from zonda_ansible.types import make_type

#: One for the ids of each life.
_SEEDS = itertools.count(1)


def make_life(module: str, given: Mapping[str, Any], **more: Any) -> Lifecycle:
    """The life of a resource of a module.

    No two have ids in common, as in zonda: records of runs are kept by them for the next process.
    """
    name = f"Ansible::{module}"
    made = Lifecycle(make_type(load_index(), name), given, type_name=name, **more)
    made._ids.seed(next(_SEEDS))
    return made


def live(case: Life, on: Mapping[str, Any]) -> None:
    """Go through the whole life of a resource, on the machine of these settings."""
    more = {**case.more, "ansible_on": on}
    life = make_life(case.module, {**case.given, **more})
    life.validate()
    assert not case.is_there()
    life.create()
    assert case.is_there()
    assert life.attribute("ansible_changed") is True
    repeat(life)  # as after a crash
    assert life.attribute("ansible_changed") is False
    if case.changed:
        assert life.update({**case.given, **case.changed, **more}) == "updated"
        assert life.attribute("ansible_changed") is True
    if case.spoil is not None:
        assert is_in_sync(life)
        case.spoil()
        assert not is_in_sync(life)
        repeat(life)
        assert is_in_sync(life)
    life.delete()
    assert case.is_there() == case.keeps
    assert case.keeps == bool(life.instance().describe_remains())


def repeat(life: Lifecycle) -> None:
    """Run the module once more with the same options, as a repair or a retry does."""
    known = dict(life.definition.properties)
    timeout = known.get("ansible_timeout") or 300
    assert life.update({**known, "ansible_timeout": timeout + 1}) == "updated"


def is_in_sync(life: Lifecycle) -> bool:
    """Whether a drift check finds no difference."""
    try:
        found = life.live_state()
    except NotFound:
        return False
    if isinstance(found, OpaqueState):
        assert found.in_sync or found.reason
        return found.in_sync
    return not find_differing(life)


def find_differing(life: Lifecycle) -> dict[str, Any]:
    """The properties that differ, with their values as they are."""
    found = compare_live_state(life.instance().properties, life.live_state() or {})
    return {name: found.live[name] for name in found.differing}
