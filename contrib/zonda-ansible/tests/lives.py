"""One life for any module: made, left alone, changed, spoilt by hand, repaired, removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import OpaqueState
from zonda.hooks.testing import Lifecycle

from zonda_ansible.index import load_index
from zonda_ansible.types import make_type


def make_life(module: str, given: Mapping[str, Any], **more: Any) -> Lifecycle:
    """The life of a resource of a module."""
    name = f"Ansible::{module}"
    return Lifecycle(make_type(load_index(), name), given, type_name=name, **more)


@dataclass
class Life:
    """The options of a resource at first and then, and how it is seen and changed by hand.

    ``is_there``: whether what the module makes is there. ``spoil``: None where check mode cannot
    tell. ``keeps``: deletion leaves it.
    """

    module: str
    given: Mapping[str, Any]
    changed: Mapping[str, Any]
    is_there: Callable[[], bool]
    spoil: Callable[[], object] | None = None
    keeps: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


def live(case: Life) -> None:
    """Go through the whole life of a resource."""
    life = make_life(case.module, {**case.given, **case.more})
    life.validate()
    assert not case.is_there()
    life.create()
    assert case.is_there()
    assert life.attribute("ansible_changed") is True
    repeat(life)  # as after a crash
    assert life.attribute("ansible_changed") is False
    if case.changed:
        assert life.update({**case.given, **case.changed, **case.more}) == "updated"
        assert life.attribute("ansible_changed") is True
    if case.spoil is not None:
        assert is_in_sync(life)
        case.spoil()
        assert not is_in_sync(life)
        repeat(life)
        assert is_in_sync(life)
    life.delete()
    assert case.is_there() == case.keeps


def repeat(life: Lifecycle) -> None:
    """Run the module once more with the same options, as a repair or a retry does."""
    known = dict(life.definition.properties)
    timeout = known.get("ansible_timeout") or 300
    assert life.update({**known, "ansible_timeout": timeout + 1}) == "updated"


def is_in_sync(life: Lifecycle) -> bool:
    """Whether a drift check finds no difference."""
    found = life.live_state()
    assert isinstance(found, OpaqueState)
    assert found.in_sync or found.reason
    return found.in_sync
