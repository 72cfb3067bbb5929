"""Reads a manifest: from a document to the class of the type, or to every fault with its place.

Called through the hook ``zonda_type_readers``, for texts with the key ``zonda_type`` at the top.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from zonda.hooks import (
    Path,
    Resource,
    TypeDocument,
    TypeText,
    ValidationErrors,
    properties,
    suggestion,
)

from ..resources import workflow_call
from . import mapping
from .diagnostics import Faults, describe_kind
from .model import ACTIONS, KEY, VERSIONS, Action, Manifest
from .resource import make_class
from .schemas import read_attributes_schema, read_properties_schema

SECTIONS = (
    *(KEY, "name", "description", "runner", "timeout", "on_timeout", "properties", "attributes"),
    *("replace_on", "actions", "allow_id_change", "always_update", "capabilities", "example"),
)
ACTION_KEYS = (
    *("workflow", "runner", "input", "params", "output"),
    *("timeout", "on_timeout", "retries", "retry_delay"),
)
CHECK_KEYS = (*(key for key in ACTION_KEYS if key != "output"), "observes", "exists")
_NAME = re.compile(r"[A-Za-z_][\w-]*(::[A-Za-z_][\w-]*)+\Z")
_TAKEN = ("OS", "AWS", "Zonda")
_FROM_OUTPUT = (mapping.OUTPUT, mapping.JOIN)


def read_manifest(document: TypeDocument) -> type[Resource]:
    """The class of a type; raises ValidationErrors with every fault."""
    return _Reader(document).run()


class _Reader:
    """Reads one manifest."""

    def __init__(self, document: TypeDocument) -> None:
        self.document = document
        self.faults = Faults(document)
        self.data = self.faults.read_map(document.data, "A manifest", ())

    def run(self) -> type[Resource]:
        data, faults = self.data, self.faults
        if faults.errors or self._is_of_another_version():
            raise ValidationErrors(faults.errors)
        faults.check_keys(data, SECTIONS, ())
        faults.check_duplicates()
        name = self._name()
        replaced = self._read_replace_on()
        declared = _list_names(data, "properties")
        entries = self._read_action_entries()
        in_place = "UPDATE" in entries

        def updates(each: str) -> bool:
            return in_place and each not in replaced

        schemas = read_properties_schema(data.get("properties"), updates, faults)
        shown = read_attributes_schema(data.get("attributes"), faults)
        self._limits = self._read_limits(data, ())
        actions = {each: self._read_action(each, entry) for each, entry in entries.items()}
        made = Manifest(
            TypeText(KEY, name, self.document.file, self.document.text),
            actions,
            faults.text(data, "description", ()),
            self._read_observes(entries, declared),
            self._read_exists(entries),
            self._read_attribute_values(declared),
            faults.flag(data, "allow_id_change", ()),
            faults.flag(data, "always_update", ()),
        )
        capabilities, example = self._read_capabilities(), self._read_example(schemas)
        if faults.errors:
            raise ValidationErrors(faults.list_errors())
        return make_class(made, schemas, shown, capabilities, example)

    # -- what stands at the top -------------------------------------------------------------

    def _is_of_another_version(self) -> bool:
        version = self.data.get(KEY)
        if version in VERSIONS and not isinstance(version, bool):
            return False
        self.faults.add(
            f"There is no version {version!r} of {KEY}.", (KEY,), f"Write {KEY}: {VERSIONS[-1]}."
        )
        return True

    def _name(self) -> str:
        name = self.faults.text(self.data, "name", (), required=True)
        if name and not _NAME.match(name):
            self.faults.add(f"{name!r} is no name of a type.", ("name",), "Write it as Acme::Disk.")
        elif name.partition("::")[0] in _TAKEN:
            self.faults.add(
                f"Names that begin with {name.partition('::')[0]}:: are kept for others.",
                ("name",),
                "Begin with a name of your own: Acme::Disk.",
            )
        return name

    def _read_replace_on(self) -> list[str]:
        listed = self.data.get("replace_on", [])
        if not isinstance(listed, list):
            self.faults.add(
                f"replace_on must be a list, not {describe_kind(listed)}.", ("replace_on",)
            )
            return []
        known = _list_names(self.data, "properties")
        for index, each in enumerate(listed):
            if each not in known:
                hint = suggestion(each, known) or "It lists names of properties."
                self.faults.add(f"There is no property {each!r}.", ("replace_on", index), hint)
            elif self._is_immutable(each):
                said = f"{each!r} is immutable: no update may change it."
                self.faults.add(said, ("replace_on", index))
        return [each for each in listed if isinstance(each, str)]

    def _is_immutable(self, name: str) -> bool:
        entry = self.data["properties"][name]
        return isinstance(entry, Mapping) and entry.get("immutable") is True

    def _read_capabilities(self) -> Mapping[str, Any]:
        found = self.faults.read_map(
            self.data.get("capabilities", {}), "capabilities", ("capabilities",)
        )
        for key, value in found.items():
            values = value if isinstance(value, list) else [value]
            if not all(isinstance(each, str | int | float) for each in values):
                what = "text, a number or a boolean, or a list of such"
                self.faults.add(f"The capability {key} must be {what}.", ("capabilities", key))
        return found

    def _read_example(self, schemas: Mapping[str, properties.Schema]) -> Mapping[str, Any]:
        given = self.faults.read_map(self.data.get("example", {}), "example", ("example",))
        declared = _list_names(self.data, "properties")
        self.faults.check_keys(given, declared, ("example",))
        shown = {name: value for name, value in given.items() if name in schemas}
        required = {name: schemas[name] for name in shown}
        judged = properties.Properties(required, shown, context=self.faults.judging)
        for fault in judged.validate((), pending=()):
            at: Path = ("example", *fault.path)
            self.faults.add(f"The example does not fit: {fault.message}", at)
        return shown

    # -- actions ----------------------------------------------------------------------------

    def _read_action_entries(self) -> dict[str, dict[str, Any]]:
        """The actions as maps; a text is the name of a workflow."""
        at: Path = ("actions",)
        if "actions" not in self.data:
            self.faults.add("actions is missing.", (), "It says what carries out CREATE.", key=True)
            return {}
        given = self.faults.read_map(self.data["actions"], "actions", at)
        self.faults.check_keys(given, ACTIONS, at)
        if "CREATE" not in given:
            self.faults.add("The action CREATE is missing.", at, key=True)
        found = {}
        for name in (each for each in ACTIONS if each in given):
            entry = given[name]
            if isinstance(entry, str):
                entry = {"workflow": entry}
            found[name] = self.faults.read_map(entry, f"The action {name}", (*at, name))
        return found

    def _read_action(self, name: str, entry: Mapping[str, Any]) -> Action:
        at: Path = ("actions", name)
        keys = CHECK_KEYS if name == "CHECK" else ACTION_KEYS
        self.faults.check_keys(entry, keys, at)
        declared = _list_names(self.data, "properties")
        sent = mapping.Allowed(declared)
        kept = mapping.Allowed((), _FROM_OUTPUT)
        runner, timeout, on_timeout = self._read_limits(entry, at)
        return Action(
            self._read_workflow(entry, at),
            runner or self._limits[0],
            self._read_mapping(entry, "input", sent, at),
            self._read_mapping(entry, "params", sent, at) or {},
            self._read_mapping(entry, "output", kept, at),
            timeout or self._limits[1],
            on_timeout or self._limits[2] or workflow_call.FAIL,
            self.faults.number(entry, "retries", at, 0, 0),
            self.faults.number(entry, "retry_delay", at, workflow_call.RETRY_DELAY, 0),
        )

    def _read_workflow(self, entry: Mapping[str, Any], at: Path) -> str:
        written = isinstance(self.data["actions"].get(at[-1]), str)
        if written:
            value: Any = entry["workflow"]
            if not value.strip():
                self.faults.add("The name of the workflow is empty.", at)
            return str(value)
        return self.faults.text(entry, "workflow", at, required=True)

    def _read_limits(self, data: Mapping[str, Any], at: Path) -> tuple[str, float | None, str]:
        """``runner``, ``timeout`` and ``on_timeout``, of one action or of all."""
        runner = self.faults.text(data, "runner", at)
        if ":" in runner:
            self.faults.add(
                f"{runner!r} is no name of a runner.",
                (*at, "runner"),
                "It is the NAME of a section [runners.NAME] of the settings.",
            )
        known = workflow_call.ON_TIMEOUT
        on_timeout = data.get("on_timeout", "")
        if on_timeout and on_timeout not in known:
            hint = suggestion(on_timeout, known) or f"One of {', '.join(known)}."
            self.faults.add(f"on_timeout cannot be {on_timeout!r}.", (*at, "on_timeout"), hint)
            on_timeout = ""
        return runner, self.faults.number(data, "timeout", at, None, 1), str(on_timeout)

    def _read_mapping(
        self, entry: Mapping[str, Any], key: str, allowed: mapping.Allowed, at: Path
    ) -> Mapping[str, Any] | None:
        if key not in entry:
            return None
        here = (*at, key)
        value = self.faults.read_map(entry[key], key, here)
        call = mapping.find_call(value)
        if call is not None:
            hint = f"Write it below a name: {key}: {{NAME: {{{call[0]}: ...}}}}."
            self.faults.add(f"{key} must be a map of names, not a call.", here, hint)
            return {}
        self._check_mapping(value, allowed, here)
        return value

    def _check_mapping(self, value: Any, allowed: mapping.Allowed, at: Path) -> None:
        for steps, message, hint in mapping.list_faults(value, allowed):
            misspelt = isinstance(steps[-1], str) and steps[-1] not in mapping.CALLS
            self.faults.add(f"{message}.", (*at, *steps), hint, key=misspelt)

    def _read_observes(
        self, entries: Mapping[str, Mapping[str, Any]], declared: list[str]
    ) -> Mapping[str, Any]:
        """Property -> mapping. A list stands for outputs of the same names."""
        entry, at = entries.get("CHECK", {}), ("actions", "CHECK", "observes")
        given = entry.get("observes", {})
        if isinstance(given, list):
            for index, each in enumerate(given):
                if each not in declared:
                    hint = suggestion(each, declared)
                    self.faults.add(f"There is no property {each!r}.", (*at, index), hint)
            return {each: {mapping.OUTPUT: each} for each in given if isinstance(each, str)}
        found = self.faults.read_map(given, "observes", at)
        self.faults.check_keys(found, declared, at)
        self._check_mapping(found, mapping.Allowed((), _FROM_OUTPUT), at)
        for name in (each for each in found if found[each] is None):
            hint = f"{name}: {{get_output: NAME}}"
            self.faults.add(f"Nothing tells {name}.", (*at, name), hint, key=True)
        return found

    def _read_exists(self, entries: Mapping[str, Mapping[str, Any]]) -> Any:
        found = entries.get("CHECK", {}).get("exists")
        self._check_mapping(
            found, mapping.Allowed((), _FROM_OUTPUT), ("actions", "CHECK", "exists")
        )
        return found

    def _read_attribute_values(self, declared: list[str]) -> dict[str, Any]:
        """Attribute -> mapping on properties and outputs; the output of that name by default."""
        section = self.data.get("attributes")
        found = {}
        calls = partial(mapping.Allowed, declared)
        known = calls((mapping.PROPERTY, mapping.OUTPUT, mapping.RESOURCE, mapping.JOIN))
        for name, entry in section.items() if isinstance(section, Mapping) else ():
            value: Any = {mapping.OUTPUT: name}
            if isinstance(entry, Mapping) and "value" in entry:
                value = entry["value"]
                self._check_mapping(value, known, ("attributes", name, "value"))
            found[name] = value
        return found


def _list_names(data: Mapping[str, Any], section: str) -> list[str]:
    found = data.get(section)
    return [name for name in found if isinstance(name, str)] if isinstance(found, Mapping) else []
