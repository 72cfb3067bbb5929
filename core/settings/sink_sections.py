"""What can be wrong with a section ``[sinks.NAME]``, told before any sink is made.

Called by ``core/settings/settings.py``. What a plug-in's kind takes is checked when a sink of it is
made; a test compares ``KINDS`` with what our own sinks read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from . import runner_sections as of
from .values import near

#: What zonda itself reads, whatever the kind.
OURS = ("kind", "events", "scope")
SCOPES = ("all", "stacks")
#: What events tell of, and how that stands; a test compares them with what the engine tells.
ACTIONS = (
    *("INIT", "CREATE", "ADOPT", "UPDATE", "DELETE", "ROLLBACK", "RESTORE", "SUSPEND", "RESUME"),
    *("CHECK", "SNAPSHOT", "DELETE_SNAPSHOT", "IMPORT"),
    *("SIGNAL", "PROTECT", "UNPROTECT", "CANCEL", "DRIFT", "MOVE"),
)
STATUSES = ("IN_PROGRESS", "COMPLETE", "FAILED")
VERDICTS = ("IN_SYNC", "DRIFTED", "MISSING", "UNKNOWN", "FAILED")
#: The kind that calls out.
WEBHOOK = "webhook"


def _events(raw: Any) -> str | None:
    fits = isinstance(raw, list) and raw and all(isinstance(each, str) and each for each in raw)
    if not fits:
        return 'must be a list of states or actions, e.g. ["DRIFT", "*_FAILED"]'
    none = [each for each in raw if not _is_of_any(each.upper())]
    return f"is of no event: {none[0]!r}{near(none[0].upper(), [*_states()])}" if none else None


def _is_of_any(pattern: str) -> bool:
    """Whether there is an event that is called so."""
    return any(fnmatchcase(name, pattern) for name in _states())


def _states() -> Iterator[str]:
    """What ``events`` may name: each action, and each of its states."""
    for action in ACTIONS:
        yield action
        for status in VERDICTS if action == "DRIFT" else STATUSES:
            yield f"{action}_{status}"


#: What our own kinds take, and what is wrong with a value (None: nothing).
KINDS: Mapping[str, Mapping[str, Any]] = {
    WEBHOOK: {
        "url": of._endpoint,
        "signing_key": of._keys,
        "signing_keys": of._keys,
        "token": of.secret,
        "username": of._text,
        "password": of.secret,
        "headers": of._headers,
        "ca_bundle": of._text,
        "client_certificate": of._text,
        "proxy": of._proxy,
        "connect_timeout": of._positive,
        "answer_timeout": of._positive,
        "allowed_networks": of.networks,
        "denied_networks": of.networks,
    },
    "log": {"file": of._text},
}
_NEEDS = {"webhook": ("url", "where events are sent")}


def faults(section: Mapping[str, Any]) -> Iterator[of.Wrong]:
    """(entry or None for the section, what is wrong) of one section. Names no value."""
    kind = section.get("kind")
    if kind is None:
        yield None, f"kind is missing: {', '.join(KINDS)}, or one that a plug-in brings"
    elif not isinstance(kind, str):
        yield "kind", "must be text"
    for name, check in (("events", _events), ("scope", of._choice(*SCOPES))):
        if name in section and (wrong := check(section[name])):
            yield name, wrong
    if isinstance(kind, str) and kind in KINDS:
        yield from _of_kind(kind, section)


def _of_kind(kind: str, section: Mapping[str, Any]) -> Iterator[of.Wrong]:
    known = KINDS[kind]
    for name, raw in section.items():
        if name in OURS:
            continue
        if name not in known:
            yield name, f"is nothing that a {kind} sink takes{near(name, [*OURS, *known])}"
        elif wrong := known[name](raw):
            yield name, wrong
    if kind in _NEEDS and _NEEDS[kind][0] not in section:
        yield None, "{} is missing: {}".format(*_NEEDS[kind])
    if section.get("token") and section.get("username"):
        yield "username", "stands beside a token: give one of them"
