"""The files and types of members that keep an older definition, for the template of their group.

A group changes its members in batches; until then its generated template has some as they were,
while files and registry are those of the present template of the root. What such members reach and
these do not have is added to a copy of the root's bundle, which is stored as the base of the
nested template. Called by ``nested.plan``; in the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.store.values.jsontext import dumps
from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.environment.environment import REGISTRY
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_data
from zonda.core.template.types.registry import Choice, Registry, is_template
from zonda.hooks import records
from zonda.hooks.errors import TemplateError

from ..model.definition import Definition

#: The name of the environment that has the kept entries of the registry.
KEPT = "kept"


def add_kept_inputs(spec: ChildSpec, parent: Definition, before: Definition | None) -> Bundle:
    """The bundle of ``parent`` with what members of ``spec`` need that are still as in ``before``.

    ``before``: the definition of the nested stack so far. It is the same bundle where nothing is
    missing.
    """
    bundle: Bundle = parent.family.load_context.bundle
    if before is None or spec.template is None:
        return bundle
    if before.family is parent.family or before.family.load_context.bundle == bundle:
        return bundle
    kept = _KeptInputs(spec, parent, before)
    if spec.document == before.spec.document and kept.is_all_there():
        return bundle
    for name, entry in (spec.template.get("resources") or {}).items():
        known = before.resources.get(name)
        if known is not None and known.raw == entry:
            kept.visit(spec.document, before.spec.document, name, entry)
    return kept.build_bundle()


class _KeptInputs:
    """Collects what some members need. Whatever both have is the newer one's, as in Heat."""

    def __init__(self, spec: ChildSpec, parent: Definition, before: Definition) -> None:
        self._old: Bundle = before.family.load_context.bundle
        self._new: Bundle = parent.family.load_context.bundle
        self._old_types: Registry = before.registry
        self._new_types: Registry = parent.family.build_child_registry(spec)
        self._files: dict[str, str] = {}
        self._links: dict[str, dict[str, str]] = {}
        self._entries: dict[str, Any] = {}

    def is_all_there(self) -> bool:
        """Whether nothing of the older bundle is gone or means something else by now."""
        old, new = self._old, self._new
        return (
            old.files.items() <= new.files.items()
            and old.links == new.links
            and self._old_types.entries == self._new_types.entries
        )

    def build_bundle(self) -> Bundle:
        """The newer bundle with all that was collected."""
        new = self._new
        if not (self._files or self._links or self._entries):
            return new
        links = {key: {**self._links.get(key, {}), **names} for key, names in new.links.items()}
        environments = new.environment_files
        if self._entries:
            entries = dict(sorted(self._entries.items()))
            environments = (*environments, (KEPT, dumps({REGISTRY: entries})))
        return records.replace(
            new,
            files={**self._files, **new.files},
            links={**self._links, **links},
            environment_files=environments,
        )

    def visit(self, place: str, old_place: str, resource: str, data: Any) -> None:
        """Collect what data names: files, and types, at any depth.

        ``place``, ``old_place``: the documents whose links say what names of files mean.
        """
        for text in dict.fromkeys(_list_texts(data)):
            self._keep_type(resource, text)
            key = self._old.key_of(old_place, text)
            if key in self._old.files and self._new.key_of(place, text) not in self._new.files:
                if text != key:
                    self._links.setdefault(place, {})[text] = key
                self._keep_file(key)

    def _keep_type(self, resource: str, text: str) -> None:
        if text in self._entries or _choose(self._new_types, text, resource) is not None:
            return
        choice = _choose(self._old_types, text, resource)
        if choice is None or not choice.rules:
            return
        target = choice.template_file or choice.meant
        if target == text:  # a class that a file declares
            target = choice.rules[-1].target
        self._entries[text] = target
        if isinstance(target, str):
            self._keep_file(target)

    def _keep_file(self, key: str) -> None:
        if key in self._files or key in self._new.files or key not in self._old.files:
            return
        self._files[key] = self._old.files[key]
        if is_template(key):
            self.visit(key, key, "", load_data(self._files[key]))


def _choose(types: Registry, name: str, resource: str) -> Choice | None:
    try:
        return types.find(name, resource)
    except TemplateError:
        return None


def _list_texts(data: Any) -> Iterator[str]:
    """List the texts in data; of a mapping its values only."""
    waiting, seen = [data], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            waiting += value.values() if isinstance(value, Mapping) else value
