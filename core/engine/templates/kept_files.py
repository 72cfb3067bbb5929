"""The files of members that keep an older definition, added to the bundle of an update.

A group changes its members in batches; until then its generated template names what they were made
from, and builds on the new bundle. Only what these templates reach is kept, so that it goes with
the first update that finds no such member. In the pool, for ``plan_update``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import StackRow
from zonda.core.template.files.file_references import find_template_files
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_data

from ..model.states import COMPLETE
from .stored import read_stored


def add_kept_files(reader: Reader, stack: StackRow, old: Bundle, bundle: Bundle) -> Bundle:
    """``bundle`` with the files that it lacks and members of groups still need.

    ``old``: that of the present template; after a failure groups may build on another one.
    """
    if stack.status == COMPLETE and old.files.keys() <= bundle.files.keys():
        return bundle
    files: dict[str, str] = {}
    links = {file: dict(names) for file, names in bundle.links.items()}
    for base, document, data in _list_generated(reader, stack):
        for place, name, key in _find_references(base, document, data):
            place = bundle.template_file if place == base.template_file else place
            if bundle.key_of(place, name) not in bundle.files:
                files[key] = base.files[key]
                if name != key:
                    links.setdefault(place, {})[name] = key
    return dataclasses.replace(bundle, files={**files, **bundle.files}, links=links)


def _list_generated(reader: Reader, stack: StackRow) -> Iterator[tuple[Bundle, str, Any]]:
    """(bundle below, document of its names, data) of each generated template below a stack."""
    bases: dict[str, Bundle] = {}
    for child in reader.tree(stack.root):
        if child.owner_resource_id is not None and child.template_id is not None:
            found = read_stored(reader, child.template_id, bases)
            if found.spec is not None and found.spec.template is not None:
                yield found.base, found.spec.document, found.spec.template


def _find_references(base: Bundle, document: str, data: Any) -> Iterator[tuple[str, str, str]]:
    """(document, name, key) of each file that a template names, or one that these name."""
    waiting, seen = [(document, data)], set[str]()
    while waiting:
        document, data = waiting.pop()
        for reference in find_template_files(data):
            key = base.key_of(document, reference.key)
            if key in base.files:
                yield document, reference.key, key
                if reference.template and key not in seen:
                    seen.add(key)
                    waiting.append((key, load_data(base.files[key])))
