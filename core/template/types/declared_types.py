"""Declared types: types given as texts, in the files of a bundle or in folders.

Called by ``registry`` for files that a rule leads to, and by ``stack.load``, which keeps with a
bundle the texts of the types that it uses: what was made by a text can be removed by it when the
file has long changed. Which plug-in reads such a text is told by the key at its top.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from zonda.hooks.declared_types import TypeText
from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.lazy import list_loaded
from zonda.hooks.records import replace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.specs import TypeReader

from ..source.bundle import Bundle, to_display_name
from ..source.document import load_document

#: So many texts are remembered with what they declare: each stack asks for the same again.
_REMEMBERED = 256
_PATTERN = r"([A-Za-z_][\w:.-]*)\*"

Readers = Mapping[str, TypeReader]


def find_reader_key(text: str, readers: Readers) -> str | None:
    """Find the key at the top of a text that declares a type; None for any other text."""
    return next(
        (key for key in readers if key in text and _compile_pattern(key).search(text)), None
    )


@lru_cache(maxsize=_REMEMBERED)
def _compile_pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"""^\ufeff?(\{{\s*)?["']?{re.escape(key)}["']?\s*:""", re.MULTILINE)


@lru_cache(maxsize=_REMEMBERED)
def load_type(
    reader: TypeReader, text: str, file: str, max_bytes: int
) -> type[Resource] | ValidationErrors:
    """Load the class of a text, always the same one, or its errors."""
    try:
        return reader(load_document(text, file, max_bytes=max_bytes))
    except ValidationErrors as several:
        return several
    except TemplateError as error:
        return ValidationErrors([error])


class DeclaredTypes:
    """The declared types in the files of one bundle, and those that it was stored with."""

    def __init__(self, readers: Readers, bundle: Bundle, max_bytes: int) -> None:
        self._readers = readers
        self._bundle = bundle
        self._max_bytes = max_bytes

    def find_type(self, key: str) -> type[Resource] | None:
        """Find the type that a file declares; None for a template, or for a file that is wrong."""
        found = self._load(self._bundle.files.get(key, ""), to_display_name(key))
        return found if isinstance(found, type) else None

    def find_fault(self, key: str) -> ValidationErrors | None:
        """Find the errors of a file that is meant to declare a type."""
        found = self._load(self._bundle.files.get(key, ""), to_display_name(key))
        return found if isinstance(found, ValidationErrors) else None

    def load_stored(self) -> dict[str, type[Resource]]:
        """The types that the bundle was stored with, by name."""
        found = {}
        for name, said in self._bundle.types.items():
            cls = self._load(said["text"], said["file"])
            if isinstance(cls, type):
                found[name] = cls
        return found

    def _load(self, text: str, file: str) -> type[Resource] | ValidationErrors | None:
        key = find_reader_key(text, self._readers)
        return None if key is None else load_type(self._readers[key], text, file, self._max_bytes)


def with_declared_types(bundle: Bundle, types: Mapping[str, type[Resource]]) -> Bundle:
    """Return ``bundle`` with the texts of the ``types`` that it may use, unless it has some."""
    brought = {
        name: cls.declared_by for name, cls in list_loaded(types) if cls.declared_by is not None
    }
    if bundle.types or not brought:
        return bundle
    texts = [*_list_texts(bundle)]
    starts = tuple(start for text in texts for start in re.findall(_PATTERN, text))
    used = {
        name: _as_data(source)
        for name, source in brought.items()
        if name.startswith(starts) or any(name in text for text in texts)
    }
    return replace(bundle, types=used) if used else bundle


def _list_texts(bundle: Bundle) -> Iterator[str]:
    """List every text that may name a type."""
    yield bundle.template
    yield bundle.environment or ""
    yield from (text for _, text in bundle.environment_files)
    yield from bundle.files.values()
    yield json.dumps(dict(bundle.parameters), default=str)


def _as_data(source: TypeText) -> dict[str, Any]:
    return {"file": source.file, "text": source.text}
