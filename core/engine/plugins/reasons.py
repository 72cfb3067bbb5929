"""The reasons of failures, in Heat's words and without secrets; and the secret values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.sensitivity.labels import has_hidden_part
from zonda.core.template.source.diagnostics import OF_ATTRIBUTES
from zonda.hooks.errors import (
    Path,
    PluginError,
    ResourceFailure,
    TemplateError,
    ZondaError,
    show_path,
)
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import SHOW
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import (
    escape_surrogates,
    hint_for_lost_attribute,
    safe_str,
    truncate_middle,
)

from ..model.definition import Definition
from ..model.outcomes import Failure
from .redaction import scrub
from .traces import format_trace
from .values import format_key

log = logging.getLogger(__name__)

OPEN, HIDDEN = "open", "hidden"


class Secrets:
    """The secrets of one resource: static marks, and values to be removed from texts."""

    def __init__(self) -> None:
        self.marks: Mapping[str, str] = {}
        self._values: list[Any] = []
        # What is only read when somebody asks: it may be large, and few texts are ever scrubbed.
        self._unread: list[Callable[[], list[Any]]] = []
        self.metadata = False
        #: Whether what is open by the template has to be sealed all the same.
        self.is_restored = False
        self._schema: Mapping[str, Any] = {}
        self._name = ""

    @property
    def values(self) -> list[Any]:
        """Values to be scrubbed from texts."""
        while self._unread:
            self._values += self._unread.pop()()
        return self._values

    @values.setter
    def values(self, values: list[Any]) -> None:
        self._values = values

    @classmethod
    def of(cls, definition: Definition, name: str) -> Secrets:
        """The secrets of a resource of a template."""
        made = cls()
        made._name = name
        made._schema = definition.resources[name].cls.properties_schema
        made.marks = definition.resources[name].secrecy
        made.metadata = definition.secrecy.classify_metadata(name) != OPEN
        parameters = definition.parameters
        made.values = [
            parameters.values[key] for key in parameters.hidden if key in parameters.values
        ]
        return made

    def add_properties(self, values: Mapping[str, Any]) -> None:
        """Note the values of marked properties; the template need not give them."""
        new = {key: HIDDEN for key in values if key not in self.marks and self._hides(key)}
        if new:
            self.marks = {**self.marks, **new}
        if self.properties:
            self._values += [value for key, value in values.items() if self._mark(key) != OPEN]

    def add_read(self, definition: Definition, rows: Iterable[ResourceRow], sealer: Sealer) -> None:
        """Note the marked values that ``rows`` show: a property may be made of them."""
        known = [row for row in rows if row.name in definition.resources]
        if known:
            self._unread.append(lambda: _list_marked(definition, known, sealer))

    def add_restored(self, known: Mapping[str, Any]) -> None:
        """Note the snapshot data of a resource: its definition may be made of that."""
        data = known.get("resource_data", {})
        hidden = [data[name] for name in known.get("redacted", ())]
        if known.get("sealed_metadata"):
            hidden.append(known["metadata"])
        self._values += hidden
        self.is_restored = bool(hidden)
        self.metadata = self.metadata or self.is_restored

    def _hides(self, key: str) -> bool:
        return key in self._schema and has_hidden_part(self._schema[key])

    def _mark(self, key: str) -> str:
        return self.marks.get(key, OPEN)

    @property
    def properties(self) -> bool:
        """Whether any property is to be sealed."""
        return self.is_restored or any(mark != OPEN for mark in self.marks.values())

    @property
    def any(self) -> bool:
        """Whether anything of the definition is to be sealed."""
        return self.properties or self.metadata

    def list_hidden(self, definition: Definition, cls: type[Resource]) -> dict[str, Any]:
        """The names that are never shown, by kind: the value of column ``hidden``."""
        marks, name = definition.secrecy, self._name
        found: dict[str, Any] = {
            "properties": [key for key, mark in self.marks.items() if mark == HIDDEN]
        }
        if not marks.is_open(name):
            found["attributes"] = [
                key
                for key in (*cls.attributes_schema, SHOW)
                if marks.classify_attribute(name, key) == HIDDEN
            ] + [
                key
                for key, path in paths_by_key(cls, definition, name)
                if marks.classify_attribute(name, path[0], path[1:]) == HIDDEN
            ]
            found["reference"] = marks.classify_reference(name) == HIDDEN
        return {key: value for key, value in found.items() if value}


def _list_marked(definition: Definition, rows: Iterable[ResourceRow], sealer: Sealer) -> list[Any]:
    """The marked values that rows show."""
    marks, found = definition.secrecy, list[Any]()
    for row in rows:
        if row.reference is not None and marks.classify_reference(row.name) != OPEN:
            found.append(sealer.load(row.reference))
        outputs = sealer.load_map(row.outputs)
        if not outputs:
            continue
        paths = dict(paths_by_key(definition.resources[row.name].cls, definition, row.name))
        for key, value in outputs.items():
            name, *below = paths.get(key, (key,))
            if marks.classify_attribute(row.name, name, below) != OPEN:
                found.append(value)
    return found


def paths_by_key(
    cls: type[Resource], definition: Definition, name: str
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(key to store it under, name and keys below it) of what is read of an owner's members.

    Where the name of an attribute is no attribute of the class (``resource.0``, those of members),
    or only means something with a key below it, the keys decide which value it is.
    """
    if not cls.is_nested_stack:
        return
    for path in sorted(definition.referenced_paths(name), key=str):
        first = path[0]
        if first is not None and (first not in cls.attributes_schema or len(path) > 1):
            yield format_key(path), path


def report_error(name: str, error: BaseException, secrets: Secrets) -> Failure:
    """The report of an error of the resource ``name``, without the values of ``secrets``."""
    try:
        reason = escape_surrogates(_format_reason(name, error, secrets))
        kind = scrub(type(error).__name__, secrets.values)
        trace = format_trace(error, secrets.values)
        if trace:
            log.info("resources.%s: a plug-in has raised an error\n%s", name, trace)
        hint = error.hint if isinstance(error, ZondaError) else ""
        hint = escape_surrogates(scrub(hint, secrets.values))
        code = str(error.code) if isinstance(error, ZondaError) else ""
        path = _find_path(name, error)
        return Failure(reason, kind, code, path=path, trace=trace, hint=hint)
    except BaseException as failure:  # what a plug-in has raised may break whoever looks at it
        raise_interruption(failure)
        shown = f"{show_path(('resources', name))}: what it has raised cannot be told"
        return Failure(f"{PluginError.heat_type}: {shown}", PluginError.__name__, PluginError.code)


def _find_path(name: str, error: BaseException) -> Path:
    """The path of an error of the resource ``name`` in the template, as far as known."""
    at = tuple(error.at) if isinstance(error, TemplateError) else ()
    if at[:2] == (name, "Properties"):
        return ("resources", name, "properties", *at[2:])
    return at if at[:2] == ("resources", name) else ("resources", name)


def format_reason(name: str, error: BaseException, secrets: Secrets) -> str:
    """``ValueError: resources.NAME: text``; failures that a plug-in words itself go without class.

    The values of ``secrets`` do not appear in it. It can be encoded, whatever the error says, and
    is short enough to be kept with every event.
    """
    return report_error(name, error, secrets).reason


def _format_reason(name: str, error: BaseException, secrets: Secrets) -> str:
    def scrub_text(said: str) -> str:
        return scrub(said, secrets.values)

    if isinstance(error, TemplateError) and _is_reference_error(error):
        return truncate_middle(
            scrub_text(safe_str(error))
        )  # as Heat: without the resource that reads it
    shown = f"{show_path(('resources', name))}: {truncate_middle(scrub_text(safe_str(error)))}"
    if isinstance(error, ResourceFailure) and error.heat_type == ResourceFailure.heat_type:
        return shown
    advice = "" if isinstance(error, ZondaError) else scrub_text(hint_for_lost_attribute(error))
    shown = f"{shown}. {advice}" if advice else shown
    # a plug-in may have built its class of anything, too
    return f"{scrub_text(getattr(error, 'heat_type', type(error).__name__))}: {shown}"


def _is_reference_error(error: TemplateError) -> bool:
    """Whether properties read what is not there."""
    return error.heat_type in OF_ATTRIBUTES and tuple(error.at)[2:3] == ("properties",)


def format_restricted(name: str, what: str) -> str:
    """The reason for an action that the environment forbids; Heat's sentence."""
    return f"ResourceActionRestricted: resources.{name}: {what} is restricted for resource."


def format_not_in_plan(row: ResourceRow, decision: str) -> str:
    """The reason of such a refusal."""
    planned = "an update in place" if row.ceiling == "update" else "no change"
    text = f"resources.{row.name}: {decision} is not in the plan, which has {planned}"
    return f"NotInPlan: {text}"
