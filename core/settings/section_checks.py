"""Validates sections ``[runners.NAME]`` and ``[sinks.NAME]`` with the schemas of their kinds.

Called by ``settings`` for the kinds that zonda brings, and by ``core/app/app.py`` for those of
plug-ins, once these are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zonda.hooks import constraints
from zonda.hooks.errors import UsageError, UsageErrors
from zonda.hooks.records import replace
from zonda.hooks.schema.property import Schema
from zonda.hooks.settings import Fault, Rule, SettingsSchema
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.suggestions import format_suggestion

from .table import DEFAULT_KIND, FILE_NAME, Kinds, Settings, find_line

if TYPE_CHECKING:  # settings are checked before there are plug-ins
    from zonda.core.plugins.manager import Plugins

SINK_ENTRIES = ("kind", "events", "scope")
SCOPES = ("all", "stacks")
#: Subjects and statuses of events; a test compares them with those of the engine.
ACTIONS = (
    *("INIT", "CREATE", "ADOPT", "UPDATE", "DELETE", "ROLLBACK", "RESTORE", "SUSPEND", "RESUME"),
    *("CHECK", "SNAPSHOT", "DELETE_SNAPSHOT", "IMPORT"),
    *("SIGNAL", "PROTECT", "UNPROTECT", "CANCEL", "DRIFT", "MOVE"),
)
STATUSES = ("IN_PROGRESS", "COMPLETE", "FAILED")
VERDICTS = ("IN_SYNC", "DRIFTED", "MISSING", "UNKNOWN", "FAILED")


def _list_event_names() -> Iterator[str]:
    """List the names that ``events`` may hold: each action, and each of its states."""
    for action in ACTIONS:
        yield action
        for status in VERDICTS if action == "DRIFT" else STATUSES:
            yield f"{action}_{status}"


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) and x for x in value)


def _are_events(patterns: list[str]) -> bool:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern.upper()) for name in _list_event_names()):
            meant = format_suggestion(pattern.upper(), [*_list_event_names()])
            wrong = f"is of no event: {pattern!r}{meant}"
            raise constraints.Violation(wrong, discreet=wrong)
    return True


_EVENTS = [
    Rule(_is_list_of_texts, 'must be a list of states or actions, e.g. ["DRIFT", "*_FAILED"]'),
    Rule(_are_events, "is of no event"),
]


def _build_base_schema(group: str, kinds: Mapping[str, Any]) -> SettingsSchema:
    """Build the schema of the entries that every kind has."""
    known = f"{', '.join(kinds)}, or one that a plug-in brings"
    if group == "runners":
        return SettingsSchema("a runner", {"kind": Schema(Schema.STRING, known, DEFAULT_KIND)})
    one_of = constraints.AllowedValues(SCOPES, f"must be one of {', '.join(SCOPES)}")
    return SettingsSchema(
        "an event sink",
        {
            "kind": Schema(Schema.STRING, known, required=True),
            "events": Schema(Schema.ANY, constraints=_EVENTS),
            "scope": Schema(Schema.STRING, constraints=[one_of]),
        },
    )


def find_schema(factory: Any) -> SettingsSchema | None:
    """Find the schema of the sections that ``factory`` takes; None where it has none."""
    schema = getattr(factory, "settings_schema", None)
    return schema if isinstance(schema, SettingsSchema) else None


def find_faults(group: str, section: Mapping[str, Any], kinds: Mapping[str, Any]) -> list[Fault]:
    """Find the errors of one section. Names no value."""
    schema = _build_base_schema(group, kinds)
    kind = section.get("kind", DEFAULT_KIND)
    try:
        known = find_schema(kinds.get(kind)) if isinstance(kind, str) else None
        if known is None:  # nobody says what else it takes
            section = {name: section[name] for name in schema.entries if name in section}
        else:
            schema = replace(known, entries={**schema.entries, **known.entries})
        return schema.check(section)
    except BaseException as error:  # border: a plug-in's schema is asked
        raise_interruption(error)
        return [("", f"cannot be checked: the schema of its kind raises {type(error).__name__}")]


def locate_faults(
    path: Path, text: str, sections: Mapping[str, Any], kinds: Kinds
) -> Iterator[str]:
    """Find the errors of the sections of a settings file, with their places."""
    for group, known in kinds.items():
        named = sections.get(group)
        for name, section in named.items() if isinstance(named, dict) else ():
            for entry, wrong in (
                find_faults(group, section, known) if isinstance(section, dict) else ()
            ):
                where = f"{path}:{find_line(text, group, name, entry.partition('.')[0])}"
                yield f"{where}: [{group}.{name}]: {entry} {wrong}".replace("  ", " ")


def check_sections(settings: Settings, plugins: Plugins) -> None:
    """Raise UsageError for errors of sections whose kinds come from plug-ins."""
    kinds: Kinds = {
        "runners": _drop_builtin("runner", plugins.runners, plugins),
        "sinks": _drop_builtin("event sink", plugins.event_sinks, plugins),
    }
    chosen = {
        group: {
            name: section
            for name, section in getattr(settings, group).items()
            if section.get("kind", DEFAULT_KIND) in known
        }
        for group, known in kinds.items()
    }
    if any(chosen.values()):
        path = settings.home / FILE_NAME
        text = path.read_text() if path.exists() else ""
        faults = locate_faults(path, text, chosen, kinds)
        if errors := [UsageError(fault, code="ZON207") for fault in faults]:
            raise UsageErrors(errors)


def _drop_builtin(name: str, factories: Mapping[str, Any], plugins: Plugins) -> dict[str, Any]:
    origins = plugins.origins
    return {kind: each for kind, each in factories.items() if not origins[name, kind].built_in}
