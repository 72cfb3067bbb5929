"""The section ``capabilities`` of templates: what a template offers, as far as it can be chosen by.

Called by ``sections`` for its faults, and by ``candidates`` and the introspection for what a text
or a type declares. A capability is a key with one value or several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from zonda.hooks.errors import Place, TemplateError

from ..source.diagnostics import CAPABILITIES, suggestion, type_name
from ..source.document import Document, load_document

SECTION = "capabilities"
#: The capability that tells which types a template may stand for.
RESOURCE_TYPE = "resource_type"

Scalar = str | int | float | bool
#: What is declared: key -> its values.
Declared = Mapping[str, tuple[Scalar, ...]]
#: So many texts are remembered with what they declare: nested stacks ask for the same again.
_REMEMBERED = 256


def faults(section: Any) -> Iterator[TemplateError]:
    """What is wrong with a section; ``at`` leads to it in its document."""
    if section is None:
        return
    if not isinstance(section, Mapping):
        yield _fault(f"{SECTION} must be a map of keys and values", section, (SECTION,))
        return
    for key, value in section.items():
        at = (SECTION, key)
        if not isinstance(key, str):
            yield _fault("the key of a capability must be text", key, at)
        else:
            yield from _value_faults(key, value, at)


def _value_faults(key: str, value: Any, at: tuple[Any, ...]) -> Iterator[TemplateError]:
    several = isinstance(value, list)
    wanted: type | tuple[type, ...] = str if key == RESOURCE_TYPE else (str, int, float)
    for index, item in enumerate(value if several else [value]):
        if not isinstance(item, wanted):
            what = "text" if key == RESOURCE_TYPE else "text, a number or a boolean"
            here = (*at, index) if several else at
            yield _fault(f"the capability {key} must be {what}, or a list of such", item, here)


def _fault(wanted: str, value: Any, at: tuple[Any, ...]) -> TemplateError:
    return TemplateError(
        f"{wanted}, not a {type_name(value)}",
        at=at,
        code=CAPABILITIES,
        hint=_hint(value),
    )


def _hint(value: Any) -> str:
    known = [RESOURCE_TYPE]
    return suggestion(value, known) or f"For example: {SECTION}: {{deployment: puppet}}."


def values_of(value: Any) -> tuple[Scalar, ...]:
    """One value, or several, as a tuple; what can be none is left out."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(item for item in items if isinstance(item, str | int | float))


def declared(section: Any) -> dict[str, tuple[Scalar, ...]]:
    """What a section (or a type's class attribute) declares; nothing for what is malformed."""
    if not isinstance(section, Mapping):
        return {}
    found = {key: values_of(value) for key, value in section.items() if isinstance(key, str)}
    return {key: values for key, values in found.items() if values}


class Annotated:
    """What one template declares, and where.

    ``problem``: why the text cannot be read, or that it is no template; empty if it is one.
    """

    def __init__(self, document: Document | None, problem: str = "") -> None:
        self._document = document
        self.problem = problem
        data = {} if document is None else document.data
        self.faults: tuple[TemplateError, ...] = tuple(faults(data.get(SECTION)))
        self.capabilities: Declared = declared(data.get(SECTION))

    def place(self, key: str) -> Place | None:
        """Where a capability stands."""
        if self._document is None or key not in self.capabilities:
            return None
        return self._document.place((SECTION, key), key=True)

    def placed_faults(self) -> tuple[TemplateError, ...]:
        """The faults of the section, with their places."""
        for each in self.faults:
            if each.place is None and self._document is not None:
                each.place = self._document.place(each.at, key=True)
        return self.faults


@lru_cache(maxsize=_REMEMBERED)
def annotated(text: str, file: str, max_bytes: int) -> Annotated:
    """What the text of a template declares; ``file`` is its name for people."""
    try:
        document = load_document(text, file, max_bytes=max_bytes)
    except TemplateError as error:
        return Annotated(None, f"cannot be read: {error.message}")
    if not isinstance(document.data, Mapping):
        return Annotated(None, "is no template")
    return Annotated(document)
