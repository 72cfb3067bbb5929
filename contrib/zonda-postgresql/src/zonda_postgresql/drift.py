"""What differs between what is wanted and what is there, and how a failed check says it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from zonda.hooks.errors import NotFound, ResourceFailure
from zonda.hooks.properties import Properties
from zonda.hooks.resource import Resource

REPAIR = "The next stack update puts it right."


def differences(props: Properties, live: Mapping[str, Any]) -> list[str]:
    """The properties that the template gives (or that have a default) and that are otherwise."""
    return [
        name
        for name, value in live.items()
        if props.converted(name) is not None and props[name] != value
    ]


def check(resource: Resource, quiet: Collection[str] = ()) -> None:
    """Raise ResourceFailure that tells what has drifted; values of ``quiet`` are not quoted."""
    try:
        live = resource.get_live_state() or {}
    except NotFound as error:
        raise ResourceFailure(f"The {error.kind} {error.name} is gone. {REPAIR}") from error
    told = [
        name if name in quiet else f"{name} ({resource.properties[name]} -> {live[name]})"
        for name in differences(resource.properties, live)
    ]
    if told:
        raise ResourceFailure(f"{resource.resource_id} has changed: {', '.join(told)}. {REPAIR}")
