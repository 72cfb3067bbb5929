"""What differs between what is wanted and what is there, and how a failed check says it."""

from __future__ import annotations

from collections.abc import Collection

from zonda.hooks import NotFound, Resource, ResourceFailure, compare_live_state

REPAIR = "The next stack update puts it right."


def check(resource: Resource, quiet: Collection[str] = ()) -> None:
    """Raise ResourceFailure that tells what has drifted; values of ``quiet`` are not quoted."""
    try:
        live = resource.get_live_state()
    except NotFound as error:
        raise ResourceFailure(f"The {error.kind} {error.name} is gone. {REPAIR}") from error
    if live is None:
        raise ResourceFailure(f"What there is of {resource.resource_id} was not observed")
    found = compare_live_state(resource.properties, live)
    told = [
        name if name in quiet else f"{name} ({found.sent[name]} -> {found.live[name]})"
        for name in found.differing
    ]
    if told:
        raise ResourceFailure(f"{resource.resource_id} has changed: {', '.join(told)}. {REPAIR}")
