"""Plain data from YAML 1.1 text, by libyaml's events and PyYAML's own rules for scalars.

Called by ``document`` only. It knows YAML and nothing of templates: no version, no section. The
data is what PyYAML's safe loader gives (bytes for ``!!binary``, pairs for ``!!omap``, a set for
``!!set``), except that dates and timestamps stay text; building it from events costs a sixth of
PyYAML's own way, and needs no recursion.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

#: Deeper than any sane template, shallow enough for everything that walks the data by recursion.
MAX_DEPTH = 200

#: The error of a text whose aliases make too much of it.
TOO_LONG = "written out, the aliases up to here have more than"

#: No number may have more characters: Python writes and reads whole numbers of so many digits.
MAX_DIGITS = 4300
_LARGEST_BITS = 14_280

_STANDARD = "tag:yaml.org,2002:"
_STR, _MERGE, _VALUE = _STANDARD + "str", _STANDARD + "merge", _STANDARD + "value"
_TEXT_TAGS = frozenset((_STR, _STANDARD + "timestamp"))
#: Tags of scalars that are not text.
CONVERTED_TAGS = frozenset(_STANDARD + kind for kind in ("null", "bool", "int", "float"))
_BINARY = _STANDARD + "binary"
_SET = _STANDARD + "set"
#: Lists of maps with one key each: both become lists of pairs.
_PAIRS = frozenset((_STANDARD + "omap", _STANDARD + "pairs"))
_COLLECTION_TAGS = {
    SequenceStartEvent: (None, "!", _STANDARD + "seq", *_PAIRS),
    MappingStartEvent: (None, "!", _STANDARD + "map", _SET),
}

_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_UNFINISHED = object()
_UNKNOWN = object()


class _MergeKey:
    """Stands for ``<<`` among the keys of a mapping that is being read."""


_MERGE_KEY = _MergeKey()


class _PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's own parser, for a Python without libyaml."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def make_event_parser(text: str) -> Any:
    """libyaml's event parser where there is one, else PyYAML's."""
    return yaml.CSafeLoader(text) if yaml.__with_libyaml__ else _PureParser(text)


def resolve_tag(text: str) -> str:
    """Resolve the tag of a plain scalar."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return _STR


def convert_scalar(tag: str, text: str) -> Any:
    """Convert a scalar with a known tag; raises ValueError where the text does not fit."""
    if tag in _TEXT_TAGS:
        return text
    if tag == _BINARY:
        return _bytes(text)
    if tag not in CONVERTED_TAGS:
        raise ValueError(f"could not determine a constructor for the tag {tag!r}")
    kind = tag.removeprefix(_STANDARD)
    if len(text) > MAX_DIGITS and kind in ("int", "float"):
        raise ValueError(f"{text[:20]!r}... is a number of more than {MAX_DIGITS} digits")
    construct: Callable[..., Any] = yaml.SafeLoader.yaml_constructors[tag]
    try:
        value = construct(_CONSTRUCTOR, yaml.ScalarNode(tag, text))
    except (ValueError, LookupError, OverflowError) as error:
        raise ValueError(f"{text[:60]!r} cannot be read as !!{kind}") from error
    return check_number(value) if type(value) is int else value


def check_number(number: int) -> int:
    """Return ``number``; raise ValueError if it has more digits than Python writes or reads."""
    if number.bit_length() > _LARGEST_BITS:
        raise ValueError(f"{hex(number)[:20]}... is a number of more than {MAX_DIGITS} digits")
    return number


def _bytes(text: str) -> bytes:
    try:
        return base64.decodebytes(text.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ValueError(f"{text[:60]!r} cannot be read as !!binary") from error


def make_problem(context: str, event: Any) -> yaml.MarkedYAMLError:
    """Make an error at the place of ``event``."""
    return yaml.constructor.ConstructorError(None, None, context, event.start_mark)


class _Frame:
    """A collection that is being read. A mapping's items are key, value, key, value, ..."""

    __slots__ = ("anchor", "begin", "depth", "is_mapping", "items", "merges", "tag")

    def __init__(
        self, is_mapping: bool, anchor: str | None, tag: str | None = None, begin: int = 0
    ) -> None:
        self.items: list[Any] = []
        self.is_mapping = is_mapping
        self.anchor = anchor
        self.tag = tag
        self.begin = begin
        self.depth = 0
        self.merges = False

    def is_at_key(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0


class Builder:
    """Reads one document. ``repeated`` tells afterwards whether any mapping repeats a key.

    All aliases of a text together may stand for ``max_length`` characters, so that no walk over
    the data sees much more than it would see of the largest text without aliases.
    """

    def __init__(self, max_length: int) -> None:
        self.repeated = False
        self._max_length = max_length
        #: The number of characters that all aliases so far stand for.
        self._aliased = 0
        self._plain: dict[str, Any] = {}
        #: The value of an anchor, how deep it is, and how long.
        self._anchors: dict[str, tuple[Any, int, int]] = {}

    def build(self, text: str) -> Any:
        """Build the document's data, null for an empty stream. Raises yaml.YAMLError."""
        parser = make_event_parser(text)
        parser.get_event()
        if isinstance(parser.get_event(), StreamEndEvent):
            return None
        value = self._build_node(parser.get_event)
        parser.get_event()
        event = parser.get_event()
        if isinstance(event, DocumentStartEvent):
            raise make_problem("expected a single document, but found another one", event)
        return value

    def _build_node(self, get_event: Callable[[], Any]) -> Any:
        root = _Frame(False, None)
        frame = root
        outer: list[_Frame] = []
        append = root.items.append
        plain = self._plain.get
        while True:
            event = get_event()
            kind = type(event)
            if kind is ScalarEvent:
                if event.tag is None and event.anchor is None:
                    text = event.value
                    if not event.implicit[0]:
                        append(text)
                    elif (value := plain(text, _UNKNOWN)) is not _UNKNOWN:
                        append(value)
                    else:
                        append(self._build_scalar(event, frame))
                else:
                    append(self._build_scalar(event, frame))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value, ended = self._close_frame(frame, event), frame
                frame = outer.pop()
                append = frame.items.append
                append(value)
                frame.depth = max(frame.depth, ended.depth + 1)
            elif kind is AliasEvent:
                append(self._resolve_alias(event, frame))
            else:
                outer.append(frame)
                frame = self._open_frame(event, frame, len(outer))
                append = frame.items.append
            if not outer:
                return root.items[0]

    def _build_scalar(self, event: ScalarEvent, frame: _Frame) -> Any:
        """Build a scalar that is new or has a tag or an anchor."""
        text = event.value
        if event.tag is None or event.tag == "!":
            tag = resolve_tag(text) if event.implicit[0] else _STR
        else:
            tag = event.tag
        if frame.is_at_key() and tag == _MERGE:
            frame.merges = True
            return _MERGE_KEY
        if frame.is_at_key() and tag == _VALUE:
            return text
        try:
            value = convert_scalar(tag, text)
        except ValueError as error:
            raise make_problem(str(error), event) from error
        if tag == _BINARY and frame.is_at_key():
            raise make_problem("a key cannot be !!binary", event)
        if event.tag is None and event.implicit[0]:
            self._plain[text] = value
        if event.anchor is not None:
            self._open_anchor(event, event.anchor)
            self._anchors[event.anchor] = (value, 0, len(text))
        return value

    def _open_frame(self, event: Any, frame: _Frame, depth: int) -> _Frame:
        """Open the frame of a collection that begins."""
        kind = type(event)
        if event.tag not in _COLLECTION_TAGS[kind]:
            raise make_problem(
                f"could not determine a constructor for the tag {event.tag!r}", event
            )
        if frame.is_at_key():
            raise make_problem("found unhashable key: a list or a map cannot be a key", event)
        if depth > MAX_DEPTH:
            raise make_problem(f"nested deeper than {MAX_DEPTH} levels", event)
        if event.anchor is not None:
            self._open_anchor(event, event.anchor)
        begin = event.start_mark.index + self._aliased
        return _Frame(kind is MappingStartEvent, event.anchor, event.tag, begin)

    def _open_anchor(self, event: NodeEvent, anchor: str) -> None:
        if anchor in self._anchors:
            raise make_problem(f"found duplicate anchor {anchor!r}", event)
        self._anchors[anchor] = (_UNFINISHED, 0, 0)

    def _close_frame(self, frame: _Frame, event: Any) -> Any:
        """Close the frame of a collection; return its value."""
        items = frame.items
        value: Any = items
        if frame.is_mapping:
            value = self._merge_items(items, event) if frame.merges else dict(_pair_items(items))
            if frame.merges or len(value) * 2 != len(items):
                own = [key for key in items[::2] if key is not _MERGE_KEY]
                self.repeated |= len(set(own)) != len(own)
            if frame.tag == _SET:
                value = set(value)
        elif frame.tag in _PAIRS:
            value = _as_pairs(items, event)
        if frame.depth > MAX_DEPTH:
            raise make_problem(f"nested deeper than {MAX_DEPTH} levels through aliases", event)
        if frame.anchor is not None:
            length = event.end_mark.index + self._aliased - frame.begin
            self._anchors[frame.anchor] = (value, frame.depth, length)
        return value

    def _merge_items(self, items: list[Any], event: Any) -> dict[Any, Any]:
        """Merge a mapping with merge keys: merged items come first, and own keys win."""
        merged: dict[Any, Any] = {}
        own: dict[Any, Any] = {}
        for key, value in _pair_items(items):
            if key is not _MERGE_KEY:
                own[key] = value
                continue
            for source in reversed(value) if isinstance(value, list) else (value,):
                if not isinstance(source, dict):
                    raise make_problem("expected a mapping or list of mappings for merging", event)
                merged.update(source)
        return {**merged, **own}

    def _resolve_alias(self, event: AliasEvent, frame: _Frame) -> Any:
        if event.anchor not in self._anchors:
            raise make_problem(f"found undefined alias {event.anchor!r}", event)
        value, depth, length = self._anchors[event.anchor]
        if value is _UNFINISHED:
            raise make_problem(f"the alias {event.anchor!r} stands inside what it refers to", event)
        if isinstance(value, dict | list | set):
            if frame.is_at_key():
                raise make_problem("found unhashable key: a list or a map cannot be a key", event)
            frame.depth = max(frame.depth, depth + 1)
        self._aliased += length
        if self._aliased > self._max_length:
            raise make_problem(f"{TOO_LONG} {self._max_length} characters", event)
        return value


def _as_pairs(items: list[Any], event: Any) -> list[tuple[Any, Any]]:
    """The items of ``!!omap`` and ``!!pairs``."""
    for item in items:
        if not isinstance(item, dict) or len(item) != 1:
            raise make_problem("every item of !!omap and !!pairs must be a map with one key", event)
    return [pair for item in items for pair in item.items()]


def _pair_items(items: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)
