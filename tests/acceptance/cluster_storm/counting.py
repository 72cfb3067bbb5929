"""The count at the end of a storm: what clients, runner, sink and streams know, and its faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..serve_storm.writers import Wish

#: Events that a sink may be given again after its courier has died: one batch.
BATCH = 100


@dataclass(frozen=True)
class StoredEvent:
    """A row of the table of events."""

    seq: int
    id: str
    stack: str
    resource: str | None
    generation: int
    state: str


@dataclass
class Facts:
    """All that is compared.

    ``states``: name of each stack that there is -> its state. ``ids``: physical id of each resource
    that there is -> its stack. ``live``: physical id of each thing that the runner has -> its
    inputs. ``made_twice``: what the runner noted as faults. ``streams``: numbers of the events that
    each stream was sent. ``sink``: ids of events in the order of arrival. ``disruptions``: the
    number of times that a member was ended or held up. ``refused``: answers that should not be.
    """

    wishes: list[Wish]
    states: dict[str, str]
    ids: dict[str, str]
    live: dict[str, dict[str, Any]]
    made_twice: list[str]
    events: list[StoredEvent]
    streams: list[list[int]]
    sink: list[str]
    disruptions: int
    refused: list[str]


def find_faults(facts: Facts) -> dict[str, list[str]]:
    """The faults by kind; empty where all is well."""
    found = {
        "acknowledged": _find_lost_writes(facts),
        "lost": [f"{id} of {facts.ids[id]}" for id in facts.ids if id not in facts.live],
        "left": [f"{id}: {facts.live[id]}" for id in facts.live if id not in facts.ids],
        "second_keys": facts.made_twice,
        "events": _find_doubles(facts.events),
        "streams": [
            text
            for seen in facts.streams
            if (text := _compare(seen, [event.seq for event in facts.events]))
        ],
        "sink": _check_sink(facts),
        "refused": facts.refused,
    }
    return {kind: texts for kind, texts in found.items() if texts}


def count_repeats(sink: list[str]) -> int:
    """How often an event came to a sink that had it."""
    return len(sink) - len(set(sink))


def _find_lost_writes(facts: Facts) -> list[str]:
    """Each stack is what was acknowledged, or sent after that."""
    numbers: dict[str, set[int]] = {}
    for inputs in facts.live.values():
        numbers.setdefault(inputs["tree"], set()).add(inputs["number"])
    found = []
    for wish in facts.wishes:
        state = facts.states.get(wish.name)
        if state is None:
            is_gone = wish.is_deleted or wish.may_be_deleted or not wish.id
            wrong = "" if is_gone else "is not there"
        elif wish.is_deleted:
            wrong = f"was deleted and is {state}"
        elif not state.endswith("_COMPLETE"):
            wrong = f"is {state}"
        else:
            has = numbers.get(wish.name, set())
            is_one = len(has) == 1 and wish.number <= min(has) <= wish.highest
            wrong = "" if is_one else f"has {has}, not {wish.number} to {wish.highest}"
        if wrong:
            found.append(f"{wish.name} {wrong}")
    return found


def _find_doubles(events: list[StoredEvent]) -> list[str]:
    """No event of a stack or a resource says once more what the one before it has said.

    An action may end twice in one generation: what the one before had begun, and its own.
    """
    last: dict[tuple[str, str | None], tuple[int, str]] = {}
    found = []
    for event in events:
        of, says = (event.stack, event.resource), (event.generation, event.state)
        if last.get(of) == says:
            found.append(f"{event}")
        last[of] = says
    return found


def _compare(seen: list[Any], stored: list[Any]) -> str:
    """A text on how the events of a client differ from those of the table; '' where they do not."""
    if seen == stored:
        return ""
    missing = sorted({*stored} - {*seen})
    unknown = sorted({*seen} - {*stored})
    doubles = [each for each, count in Counter(seen).items() if count > 1]
    parts = {"missing": missing, "unknown": unknown, "twice": doubles}
    text = ", ".join(f"{len(all_)} {name} ({all_[:5]})" for name, all_ in parts.items() if all_)
    return text or "in another order"


def _check_sink(facts: Facts) -> list[str]:
    """All events came, in order; again came at most one batch for each disruption, in one piece.

    A member that was held up may send the rest of its batch after another has taken over.
    """
    text = _compare(list(dict.fromkeys(facts.sink)), [event.id for event in facts.events])
    found = [text] if text else []
    places = {event.id: place for place, event in enumerate(facts.events)}
    counts = Counter(facts.sink)
    again = {places[id] for id, count in counts.items() if count > 1 and id in places}
    pieces = sum(place - 1 not in again for place in again)
    if pieces > facts.disruptions or len(again) > BATCH * facts.disruptions:
        found.append(f"{len(again)} again, in {pieces} pieces; {facts.disruptions} disruptions")
    return found
