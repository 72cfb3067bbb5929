"""The text of a template or an environment, its data, and the place of each part of it.

``load_document`` is called by the bundle and everything that reads YAML a user wrote. It knows
JSON and YAML, sizes and places; ``cfn_documents`` knows the one notation that is read as another.
Places are found by a second
reading of the text, made when the first one is asked for: a template without faults never pays.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import yaml

from zonda.hooks.errors import Path, Place, TemplateError

from . import cloudformation
from .diagnostics import TOO_LARGE
from .json_text import is_too_deep
from .yaml_parser import CONVERTED_TAGS, MAX_DEPTH, TOO_LONG, Builder, convert_scalar

#: Heat's limit on the size of a template, in bytes.
MAX_BYTES = 524_288

#: The code of every error about text that cannot be read.
UNREADABLE = "ZON102"

#: The beginning of an escape that may stand for a letter, a sign or nothing.
_ESCAPED = "\\\\[xuU\r\n\x85\u2028\u2029]"

_MERGE_TAG = "tag:yaml.org,2002:merge"

_MISPLACED = "Check the indentation and the quotation marks of this line and of those above it."

#: By words of libyaml and of PyYAML, which differ for some faults.
_HINTS = {
    "cannot start any token": "Indent with spaces, and quote text that begins with % @ or `.",
    "tab character": "Indent with spaces: YAML allows no tabs there.",
    "mapping values are not allowed": "Check the indentation, put a blank behind the colon of each "
    "key (above, too), and quote text that contains ': '.",
    "expected <block end>": _MISPLACED,
    "did not find expected key": _MISPLACED,
    "expected '-' indicator": _MISPLACED,
    "expected ':'": "Put a colon and a blank behind each key, and indent lines of a text more than "
    "its key.",
    "expected ',' or": "Close the bracket or brace above, put commas between items, and quote text "
    "that contains ': '.",
    "end of stream": "Close the quotation mark that stands there.",
    "escape character": "Write \\\\ for a backslash, or put the text in single quotes.",
    "expected alphabetic": "Quote text that begins with * or &.",
    "undefined alias": "Quote text that begins with *, or put &name at the value that it repeats.",
    "unhashable key": "Quote text that begins with { or [.",
    "constructor for the tag": "Quote the text if it begins with '!', '=' or '<<'.",
    TOO_LONG: "Use fewer aliases (*name) inside aliases, or raise max_template_bytes.",
    "another": "Write each template into a file of its own.",
}


Step = tuple[yaml.Node | None, yaml.Node]


class Document:
    """One text with its plain data.

    ``data`` is what YAML 1.1 (or JSON) says, dates as text; aliases share one object.
    ``repeated`` tells whether any mapping repeats a key; ``duplicates`` says which. ``made``: what
    was made of nothing but this document and the key, for whoever has the document again.
    ``cfn_key``: the version key of a template in CloudFormation's notation; its ``data`` has HOT's
    names then, ``written`` those of the text.
    """

    def __init__(self, text: str, file: str, data: Any, *, repeated: bool = False) -> None:
        self.text = text
        self.file = file
        self.written = data
        self.cfn_key = cloudformation.find_version_key(data)
        self.data = data if self.cfn_key is None else cloudformation.to_hot(data, self.cfn_key)
        self.repeated = repeated
        self.made: dict[Hashable, Any] = {}
        self._indexes: dict[int, dict[Any, Step]] = {}

    def place(self, path: Path, *, key: bool = False) -> Place | None:
        """The place of the value at ``path`` (with ``key``: of its key).

        A path that leads nowhere gives the place of its last part that is there; None only where
        the text cannot be read for places. An empty file has its beginning.
        """
        node, key_node = self._root, None
        for item in self.to_text_path(path):
            step = self._find_child(node, item)
            if step is None:
                break
            key_node, node = step
        found = key_node if key and key_node is not None else node
        if found is None:
            return Place(self.file, 1, 1) if self.file and self.data is None else None
        return self._to_place(found)

    def to_text_path(self, path: Path) -> Path:
        """A path in ``data`` as the path in the text."""
        return path if self.cfn_key is None else cloudformation.to_text_path(path)

    @cached_property
    def duplicates(self) -> list[tuple[Path, Place, Place]]:
        """Keys that occur twice in one mapping: path, first place, and the place that counts."""
        if not self.repeated or self._root is None:
            return []
        return list(self._find_duplicates(self._root, (), set()))

    @cached_property
    def _root(self) -> Any:
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        try:
            with _pause_collector():
                return yaml.compose(self.text, Loader=loader)
        except (yaml.YAMLError, UnicodeError):
            return None

    def _find_child(self, node: Any, item: Any) -> Step | None:
        """The key node and the value node below ``item``; mappings are indexed when first asked."""
        if isinstance(node, yaml.SequenceNode):
            inside = isinstance(item, int) and 0 <= item < len(node.value)
            return (None, node.value[item]) if inside else None
        if not isinstance(node, yaml.MappingNode) or isinstance(item, list | dict):
            return None
        return self._build_index(node).get(item)

    def _build_index(self, node: yaml.MappingNode) -> dict[Any, Step]:
        if id(node) not in self._indexes:
            self._indexes[id(node)] = dict(self._list_steps(node))
        return self._indexes[id(node)]

    def _list_steps(self, node: yaml.MappingNode) -> Iterator[tuple[Any, Step]]:
        """List the nodes of each key; those that count come last: own keys after merged ones."""
        own = []
        for key_node, child in node.value:
            if key_node.tag != _MERGE_TAG:
                own.append((_to_key(key_node), (key_node, child)))
                continue
            sources = child.value if isinstance(child, yaml.SequenceNode) else [child]
            for source in reversed(sources):
                if isinstance(source, yaml.MappingNode):
                    yield from self._build_index(source).items()
        yield from own

    def _to_place(self, node: yaml.Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _find_duplicates(
        self, node: yaml.Node, path: Path, seen: set[int]
    ) -> Iterator[tuple[Path, Place, Place]]:
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            return
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for index, child in enumerate(node.value):
                yield from self._find_duplicates(child, (*path, index), seen)
            return
        places: dict[Any, Place] = {}
        for key_node, child in node.value:
            key = _to_key(key_node)
            here = (*path, key)
            if key in places and key_node.tag != _MERGE_TAG:
                yield here, places[key], self._to_place(key_node)
            places[key] = self._to_place(key_node)
            yield from self._find_duplicates(child, here, seen)


def load_document(
    text: str, file: str, *, max_bytes: int = MAX_BYTES, what: str = "template"
) -> Document:
    """Read JSON or YAML 1.1. ``what`` names the text in errors (``template``, ``environment``).

    Raises TemplateError (code ZON102, with a place) for text that is too long or cannot be read.
    """
    _check_size(text, file, max_bytes, what)
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        document = _load_json(text, file)
        if document is not None:
            return document
    builder = Builder(max_bytes)
    try:
        with _pause_collector():
            data = builder.build(text)
    except yaml.MarkedYAMLError as error:
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise _make_unreadable_error(problem, file, what, _find_place(error, file)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise _make_unreadable_error(
            str(error).split("\n")[0], file, what, Place(file, 1, 1)
        ) from error
    return Document(text, file, data, repeated=builder.repeated)


def load_data(text: str) -> Any:
    """Load the data of a text that was loaded before within some limit; null if it is no YAML."""
    try:
        return load_document(text, "", max_bytes=max(MAX_BYTES, 4 * len(text))).data
    except TemplateError:
        return None


def load_or_reuse_document(
    text: str, file: str, known: Document | None, *, max_bytes: int
) -> Document:
    """Load a document, or reuse ``known`` if it was loaded from the same text."""
    if known is None or known.text != text or known.file != file:
        return load_document(text, file, max_bytes=max_bytes)
    _check_size(text, file, max_bytes, "template")
    return known


def find_value(data: Any, path: Path, default: Any = None) -> Any:
    """Find the value at ``path`` in plain data; ``default`` where it leads nowhere."""
    for item in path:
        try:
            data = data[item]
        except (KeyError, IndexError, TypeError):
            return default
    return data


def get_section(data: Any, name: str) -> Mapping[str, Any]:
    """Get a section of a template's or an environment's data that is a map; else an empty one."""
    section = data.get(name) if isinstance(data, Mapping) else None
    return section if isinstance(section, Mapping) else {}


def may_contain(text: str, *words: str) -> bool:
    """Whether any of some words may occur in the values and keys of a document's text.

    Nothing but an escape can hide one: of a character, or of the end of a line inside of it.
    """
    return any(word in text for word in words) or re.search(_ESCAPED, text) is not None


def _check_size(text: str, file: str, max_bytes: int, what: str) -> None:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        message = f"Template size ({size} bytes) exceeds maximum allowed size ({max_bytes} bytes)."
        raise TemplateError(
            message.replace("Template", what.capitalize()),
            place=Place(file, 1, 1),
            code=TOO_LARGE,
            heat_type="RequestLimitExceeded",
            hint="Move long scripts into files of their own (get_file), or raise the limit.",
        )


def _load_json(text: str, file: str) -> Document | None:
    """Load the document if the text is JSON, which Heat tries first."""
    repeated = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        made = dict(items)
        repeated |= len(made) != len(items)
        return made

    try:
        data = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    # of what is nested too deep the YAML reader says so, with the place
    return None if is_too_deep(data) else Document(text, file, data, repeated=repeated)


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the cyclic garbage collector, which would triple the cost of many new containers."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _make_unreadable_error(problem: str, file: str, what: str, place: Place) -> TemplateError:
    if "maximum nesting depth" in problem:  # libyaml's own limit, which is higher
        problem = f"nested deeper than {MAX_DEPTH} levels"
    hint = next((hint for part, hint in _HINTS.items() if part in problem), "")
    is_long = TOO_LONG in problem
    return TemplateError(
        f"Error parsing {what} {file}: {problem}",
        place=place,
        code=TOO_LARGE if is_long or "nested deeper" in problem else UNREADABLE,
        heat_type="RequestLimitExceeded" if is_long else "ValueError",
        hint=hint,
    )


def _find_place(error: yaml.MarkedYAMLError, file: str) -> Place:
    mark = error.problem_mark or error.context_mark
    if "end of stream" in (error.problem or ""):  # that is no place to mend anything
        mark = error.context_mark or mark
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)


def _to_key(node: yaml.Node) -> Any:
    """The value of a key, as it stands in the data."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    return convert_scalar(node.tag, node.value) if node.tag in CONVERTED_TAGS else node.value
