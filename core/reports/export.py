"""A stack as a document in Heat's format, for ``stack export`` and ``stack abandon``.

Reads only. What is hidden is left out unless it is asked for; the document names the places, so
that nobody takes a mask for a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.engine.model import documents
from zonda.core.engine.model.documents import MASK
from zonda.core.engine.plan import snapshots
from zonda.core.engine.templates.stored import Reading, Templates
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, SnapshotRow, StackRow
from zonda.core.template import redaction
from zonda.core.template.load import StackDefinition
from zonda.core.template.source.bundle import Identity
from zonda.hooks.errors import NotFound
from zonda.hooks.records import dataclass, field, replace
from zonda.hooks.text.redaction import redact_deep, secret_texts

#: The name in ``masked`` of a document that is no file.
_FILES = {"": "template", "parameter": "parameters"}


@dataclass(frozen=True, slots=True)
class Export:
    """``values``: the document. ``digest``: of its sources. ``hidden``: the paths it masks.

    In ``values`` stands every instance that may exist outside: under ``resources`` those that the
    template means, by name; under ``leftovers``, where there are any, the others.
    """

    values: dict[str, Any]
    digest: str
    hidden: tuple[str, ...] = ()


@dataclass(slots=True)
class Sources:
    """The template, environment and files of a stack, redacted where needed."""

    template: str
    data: Mapping[str, Any]
    environment: dict[str, Any]
    files: dict[str, str]
    resources: frozenset[str]
    hidden: list[str] = field(default_factory=list)


class StackExporter:
    """Makes documents of stacks."""

    def __init__(self, reader: Reader, read: Reading) -> None:
        self._reader = reader
        self._templates = Templates(reader, read)

    def export(self, stack_id: str, *, with_secrets: bool) -> Export:
        """Export the whole document, with nested stacks in the entries of their owners."""
        reader = self._reader
        with reader.snapshot():
            writing = _DocumentWriter(reader, self._build_sources, with_secrets=with_secrets)
            top = reader.stack_row(stack_id)
            for stack, rows in walk_down(top, reader.tree(top.root), reader.resource_rows):
                writing.add(stack, documents.select_existing_rows(rows))
        if writing.hidden:
            writing.made["masked"] = writing.hidden
        digest = documents.combine_digests(writing.digests, reader.sealer)
        return Export(writing.made, digest, tuple(writing.hidden))

    def snapshots(self, stack_id: str) -> list[dict[str, Any]]:
        """List the snapshots of a stack, the oldest first, without their data."""
        return [_build_snapshot(row) for row in self._reader.snapshots(stack_id)]

    def snapshot(self, stack_id: str, key: str, *, with_secrets: bool = False) -> dict[str, Any]:
        """Return a snapshot by its id or name with ``data``, a document; raises NotFound."""
        row = snapshots.find_snapshot(self._reader.snapshots(stack_id), key)
        found = _build_snapshot(row)
        found["data"] = {}
        if row.data is not None:
            stack = replace(self._reader.stack_row(stack_id), template_id=row.template_id)
            kept = self._reader.sealer.open(row.data)
            sources = self._build_sources(stack, with_secrets=with_secrets)
            entries = kept["resources"]
            if not with_secrets:
                entries = {name: documents.mask_entry(entry) for name, entry in entries.items()}
            found["data"] = _build_document(stack, sources, entries)
        return found

    def read_sources(self, stack_id: str, *, with_secrets: bool) -> Sources:
        """Read the template, the environment with all parameters, and the files of a stack."""
        return self._build_sources(self._reader.stack_row(stack_id), with_secrets=with_secrets)

    def _build_sources(
        self, stack: StackRow, *, with_secrets: bool, alone: bool = False
    ) -> Sources:
        """Build the sources of a stack.

        ``alone``: only what its template means and its parameters; no text, file or environment.
        """
        if stack.template_id is None:
            raise NotFound("Template", stack.name)
        stored = self._templates.read_stored(stack.template_id)
        if not with_secrets:
            stored = stored.mask()
        identity = Identity(stack.id, stack.name, stack.project)
        definition = self._templates.definition(stored, identity)
        bundle = stored.bundle_without_texts if alone else stored.bundle
        environment = _build_environment(definition)
        if alone:
            environment = {"parameters": environment["parameters"]}
        resources = frozenset(definition.resources)
        files = dict(bundle.files)
        for file in (*bundle.links, bundle.template_file):
            files.update(bundle.files_of(file))
        if with_secrets:
            data = definition.document.written
            return Sources(bundle.template, data, environment, files, resources)
        hidden = redaction.find_secrets(bundle, definition)
        texts = secret_texts(
            [*redaction.list_searchable_secrets(hidden), *self._templates.list_hidden_above(stored)]
        )
        names = {*definition.parameters.hidden, *definition.environment.encrypted}
        below = definition.family.hidden_in_files.names
        for section, more in (("parameters", frozenset[str]()), ("parameter_defaults", below)):
            if section not in environment:
                continue
            given, masks = environment[section], names | more
            environment[section] = {key: MASK if key in masks else given[key] for key in given}
        shown = redaction.redact_bundle(
            bundle, definition, hidden, also=self._templates.list_hidden_above(stored)
        )
        by_text = {text: shown.files[key] for key, text in bundle.files.items()}
        return Sources(
            shown.template,
            shown.written,
            redact_deep(environment, texts),
            {key: by_text[text] for key, text in files.items()},
            resources,
            [".".join(map(str, (_FILES.get(file, file), *path))) for file, path in hidden],
        )


class _DocumentWriter:
    """Writes one document: the stacks of a tree one after the other, owners first."""

    def __init__(self, reader: Reader, sources: Callable[..., Sources], *, with_secrets: bool):
        self._reader = reader
        self._sources = sources
        self._with_secrets = with_secrets
        self._owners: dict[str, tuple[dict[str, Any], str]] = {}  # entry, where it stands
        self.made: dict[str, Any] = {}
        self.hidden: list[str] = []
        self.digests: list[str] = []

    def add(self, stack: StackRow, rows: list[ResourceRow]) -> None:
        """Add a stack: the first one as the document, the others in the entries of their owners."""
        document, where = self._owners.get(stack.owner_resource_id or "", (self.made, ""))
        nested = document is not self.made
        sources = self._sources(stack, with_secrets=self._with_secrets, alone=nested)
        # files stand with the stack at the top
        own = [each for each in sources.hidden if not (nested and each.startswith("files."))]
        self.hidden += [where + each for each in own]
        meant, left = documents.split_rows(rows, sources.resources)
        places = {row.id: f"{where}resources.{row.name}" for row in meant}
        places |= {row.id: f"{where}leftovers.{at}" for at, row in enumerate(left)}
        entries = self._build_entries(stack, rows, places)
        shown = _build_nested_document if nested else _build_document
        document.update(shown(stack, sources, {row.name: entries[row.id] for row in meant}))
        if left:
            document["leftovers"] = [entries[row.id] for row in left]
        for key, place in places.items():
            self._owners[key] = (entries[key], f"{place}.")

    def _build_entries(
        self, stack: StackRow, rows: list[ResourceRow], places: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        """Build the entry of each instance, redacted where needed."""
        sealer = self._reader.sealer
        data = {row.id: self._reader.read_sealed_data(row.id) for row in rows}
        self.digests.append(documents.compute_digest(stack, rows, [*data.values()], sealer))
        known = {row.id: documents.build_entry(row, data[row.id], sealer) for row in rows}
        if self._with_secrets:
            return known
        for key, place in places.items():
            self.hidden += documents.list_hidden_paths(known[key], place)
        return {key: documents.mask_entry(entry) for key, entry in known.items()}


def _build_environment(definition: StackDefinition) -> dict[str, Any]:
    given = definition.environment
    found = {
        "parameters": dict(given.parameters),
        "parameter_defaults": dict(given.defaults),
        "resource_registry": dict(given.registry),
        "event_sinks": [],
        "encrypted_param_names": sorted(given.encrypted),
    }
    ours = {"requires": given.requires, "zonda": given.own}
    return {**found, **{section: dict(said) for section, said in ours.items() if said}}


def _build_document(
    stack: StackRow, sources: Sources, entries: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    return {
        "name": stack.name,
        "id": stack.id,
        "action": stack.action,
        "status": stack.status,
        "environment": sources.environment,
        "files": sources.files,
        "template": sources.data,
        "resources": dict(entries),
        "project_id": stack.project,
        "stack_user_project_id": stack.project,
        "tags": json.loads(stack.tags),
    }


def _build_nested_document(
    stack: StackRow, sources: Sources, entries: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Build the part of a nested stack in its owner's entry; files and other environments
    stand with the stack at the top.
    """
    return {
        "id": stack.id,
        "stack_name": stack.name,
        "environment": {"parameters": sources.environment["parameters"]},
        "template": sources.data,
        "resources": dict(entries),
    }


def _build_snapshot(row: SnapshotRow) -> dict[str, Any]:
    names = ("id", "name", "action", "status", "status_reason", "created_at")
    return {name: getattr(row, name) for name in names}
