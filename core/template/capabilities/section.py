"""The section ``capabilities`` of templates: the properties by which a template can be chosen.

Called by ``sections`` for its faults, and by ``selection`` and the introspection for what a text
or a type declares. A capability is a key with one value or several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from zonda.hooks.errors import Place, TemplateError

from ..source.diagnostics import CAPABILITIES, format_type_name, suggestion
from ..source.document import Document, load_document

SECTION = "capabilities"
#: The capability that tells which types a template may stand for.
RESOURCE_TYPE = "resource_type"

Scalar = str | int | float | bool
#: Declared capabilities: key -> its values.
Declared = Mapping[str, tuple[Scalar, ...]]
#: So many texts are remembered with what they declare: nested stacks ask for the same again.
_REMEMBERED = 256


def find_faults(section: Any) -> Iterator[TemplateError]:
    """Yield the faults of a section; ``at`` leads to each of them in its document."""
    if section is None:
        return
    if not isinstance(section, Mapping):
        yield _make_fault(f"{SECTION} must be a map of keys and values", section, (SECTION,))
        return
    for key, value in section.items():
        at = (SECTION, key)
        if not isinstance(key, str):
            yield _make_fault("the key of a capability must be text", key, at)
        else:
            yield from _find_value_faults(key, value, at)


def _find_value_faults(key: str, value: Any, at: tuple[Any, ...]) -> Iterator[TemplateError]:
    several = isinstance(value, list)
    wanted: type | tuple[type, ...] = str if key == RESOURCE_TYPE else (str, int, float)
    for index, item in enumerate(value if several else [value]):
        if not isinstance(item, wanted):
            what = "text" if key == RESOURCE_TYPE else "text, a number or a boolean"
            here = (*at, index) if several else at
            yield _make_fault(f"the capability {key} must be {what}, or a list of such", item, here)


def _make_fault(wanted: str, value: Any, at: tuple[Any, ...]) -> TemplateError:
    return TemplateError(
        f"{wanted}, not a {format_type_name(value)}",
        at=at,
        code=CAPABILITIES,
        hint=suggestion(value, [RESOURCE_TYPE])
        or f"For example: {SECTION}: {{deployment: puppet}}.",
    )


def list_values(value: Any) -> tuple[Scalar, ...]:
    """List one value, or several, as a tuple; a value of a wrong type is left out."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(item for item in items if isinstance(item, str | int | float))


def parse_capabilities(section: Any) -> dict[str, tuple[Scalar, ...]]:
    """Parse a section (or a type's class attribute); malformed parts are left out."""
    if not isinstance(section, Mapping):
        return {}
    found = {key: list_values(value) for key, value in section.items() if isinstance(key, str)}
    return {key: values for key, values in found.items() if values}


class TemplateCapabilities:
    """The capabilities that one template declares, with their places.

    ``problem``: why the text cannot be read, or that it is no template; empty if it is one.
    """

    def __init__(self, document: Document | None, problem: str = "") -> None:
        self._document = document
        self.problem = problem
        data = {} if document is None else document.data
        self.faults: tuple[TemplateError, ...] = tuple(find_faults(data.get(SECTION)))
        self.capabilities: Declared = parse_capabilities(data.get(SECTION))

    def place(self, key: str) -> Place | None:
        """The place of a capability."""
        if self._document is None or key not in self.capabilities:
            return None
        return self._document.place((SECTION, key), key=True)

    def locate_faults(self) -> tuple[TemplateError, ...]:
        """The faults of the section, with their places."""
        for each in self.faults:
            if each.place is None and self._document is not None:
                each.place = self._document.place(each.at, key=True)
        return self.faults


@lru_cache(maxsize=_REMEMBERED)
def load_capabilities(text: str, file: str, max_bytes: int) -> TemplateCapabilities:
    """Load the capabilities of a template from its text; ``file`` is its display name."""
    try:
        document = load_document(text, file, max_bytes=max_bytes)
    except TemplateError as error:
        return TemplateCapabilities(None, f"cannot be read: {error.message}")
    if not isinstance(document.data, Mapping):
        return TemplateCapabilities(None, "is no template")
    return TemplateCapabilities(document)
