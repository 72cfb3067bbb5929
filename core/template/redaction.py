"""Redact a bundle: every hidden value is replaced where it stands, its notation is kept.

For whoever shows or compares templates that are stored. What is hidden is found twice: by place
(defaults and values of hidden parameters, literals given to hidden properties), so that no value
is too short to be found, and by text, wherever else such a value is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import yaml

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.text.redaction import MASK, redact, redact_deep, secret_texts

from .load import StackDefinition
from .sensitivity.file_scan import is_read
from .sensitivity.labels import has_hidden_part
from .source import cloudformation
from .source.bundle import Bundle
from .source.document import find_value, get_section, load_data

HIDDEN = MASK
CHANGED = "(hidden, changed)"
#: The sections of an environment that give values to parameters.
_GIVEN = ("parameters", "parameter_defaults")
_MISSING = object()
_MERGE = "tag:yaml.org,2002:merge"
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

#: The prefix of the key of a file in a location.
FILES = "files."
#: A place in a bundle: the file ("" is the template, "parameter" what was given beside it,
#: ``FILES`` and a key: a file), a path.
Location = tuple[str, Path]


@dataclass(frozen=True, slots=True)
class RedactedBundle:
    """A redacted bundle. ``data`` is the template, ``resources`` its section, without
    comments; ``written`` the same with the names that the text has.
    """

    template: str
    environments: Mapping[str, str]
    parameters: Mapping[str, Any]
    files: Mapping[str, str]
    data: Mapping[str, Any]
    written: Mapping[str, Any]

    @property
    def resources(self) -> Mapping[str, Any]:
        """The section ``resources`` of the template."""
        found: Mapping[str, Any] = self.data.get("resources") or {}
        return found


def list_hidden_parameters(definition: StackDefinition) -> frozenset[str]:
    """List the parameters whose values are hidden."""
    return definition.parameters.hidden | definition.environment.encrypted


def find_secrets(
    bundle: Bundle, definition: StackDefinition, also: Collection[str] = ()
) -> dict[Location, Any]:
    """Find every hidden value of a bundle, by its location.

    ``also``: parameters that another template hides, so that no older text tells them.
    """
    found: dict[Location, Any] = {}
    hidden = sorted({*list_hidden_parameters(definition), *also})
    data = definition.document.data
    defaults: list[Path] = [("parameters", name, "default") for name in hidden]
    for path in [*defaults, *_find_literals(definition)]:
        value = find_value(data, path, _MISSING)
        if value is not _MISSING:
            found["", path] = value
    below = definition.family.hidden_in_files
    for file, text in _list_environments(bundle).items():
        given = load_data(text)
        places = [(section, name) for section in _GIVEN for name in hidden]
        places += [("parameter_defaults", name) for name in sorted(below.names.difference(hidden))]
        for path in places:
            value = find_value(given, path, _MISSING)
            if value is not _MISSING:
                found[file, path] = value
    for name in hidden:
        declared = name in definition.schemas
        value = definition.parameters.get_raw(name) if declared else None
        if value is not None:
            found["parameter", (name,)] = value
    return found | {(FILES + file, path): value for (file, path), value in below.values.items()}


def list_searchable_secrets(hidden: Mapping[Location, Any]) -> list[Any]:
    """List the secrets that are searched for in every text.

    Not what nested templates give as defaults: ``unset`` or ``guest`` are no secrets elsewhere.
    """
    return [
        value
        for (file, path), value in hidden.items()
        if not (file.startswith(FILES) and path[0] == "parameters")
    ]


def redact_bundle(
    bundle: Bundle,
    definition: StackDefinition,
    hidden: Mapping[Location, Any],
    before: Mapping[Location, Any] | None = None,
    also: Collection[Any] = (),
) -> RedactedBundle:
    """Redact ``bundle``; ``hidden``: its secrets; ``before``: those of the bundle to compare with.

    ``also``: secrets of other generations. What one of them hides stands in no text of another.
    """

    def mark(spot: Location) -> str:
        other = hidden[spot] if before is None else before.get(spot, hidden[spot])
        return HIDDEN if other == hidden[spot] else CHANGED

    texts = secret_texts([*list_searchable_secrets(hidden), *also])

    def clean(file: str, text: str) -> str:
        spots = [spot for spot in hidden if spot[0] == file]
        return redact(_replace_values(text, {path: mark((file, path)) for _, path in spots}), texts)

    values = {
        name: mark(("parameter", (name,))) if ("parameter", (name,)) in hidden else value
        for name, value in definition.parameters.redact_values().items()
    }
    document = definition.document
    data = written = _mask_values(document.data, (), hidden, mark)
    if document.cfn_key is not None:
        spots = {("", document.to_text_path(path)): ("", path) for file, path in hidden if not file}
        written = _mask_values(document.written, (), spots, lambda spot: mark(spots[spot]))
    return RedactedBundle(
        clean("", bundle.template),
        {file: clean(file, text) for file, text in _list_environments(bundle).items()},
        redact_deep(values, texts),
        {file: clean(FILES + file, text) for file, text in bundle.files.items()},
        redact_deep(data, texts),
        redact_deep(written, texts),
    )


def redact_template(
    bundle: Bundle, hidden: Mapping[Location, Any], also: Collection[Any] = ()
) -> str:
    """Redact the template's text, each line where it was: for excerpts."""
    marks = {path: HIDDEN for file, path in hidden if file == ""}
    texts = secret_texts([*list_searchable_secrets(hidden), *also])
    return redact(_replace_values(bundle.template, marks, keep_lines=True), texts)


def _list_environments(bundle: Bundle) -> dict[str, str]:
    """List the texts of the environments, that of the request under ``environment``."""
    own = {} if bundle.environment is None else {"environment": bundle.environment}
    return {**own, **dict(bundle.environment_files)}


def _find_literals(definition: StackDefinition) -> Iterator[Path]:
    """Find properties that are hidden by their own schema, or of a type that is unknown now."""
    for name, entry in get_section(definition.document.data, "resources").items():
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
            hidden = _make_hidden_test(definition, name, entry["type"])
            path = ("resources", name, "properties")
            yield from _find_literals_below(entry.get("properties"), path, hidden)


def _make_hidden_test(definition: StackDefinition, name: str, type_: str) -> Callable[[str], bool]:
    try:
        cls = definition.registry.resolve(type_, name)
    except TemplateError:
        return lambda key: True  # a type whose plug-in is gone: nobody knows
    hidden = {key for key, schema in cls.properties_schema.items() if has_hidden_part(schema)}
    return hidden.__contains__


def _find_literals_below(value: Any, path: Path, hidden: Callable[[str], bool]) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if hidden(key) and not is_read(item):
                yield (*path, key)
            else:
                yield from _find_literals_below(item, (*path, key), hidden)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_literals_below(item, (*path, index), hidden)


def _replace_values(text: str, marks: Mapping[Path, str], *, keep_lines: bool = False) -> str:
    """Replace the value at each path in ``text`` by its mark, from the last to the first."""
    if not marks:
        return text
    marks = {**marks, **{cloudformation.to_text_path(path): mark for path, mark in marks.items()}}
    spans = sorted(_find_spans(text, marks), reverse=True)
    end = len(text) + 1
    for start, stop, mark in spans:
        if stop <= end:  # what stands inside a span that is replaced goes with it
            lines = "\n" * text.count("\n", start, stop) if keep_lines else ""
            text = text[:start] + mark + lines + text[stop:]
            end = start
    return text


def _find_spans(text: str, marks: Mapping[Path, str]) -> Iterator[tuple[int, int, str]]:
    root = yaml.compose(text, Loader=_LOADER)
    for path, mark in marks.items():
        nodes: list[yaml.Node] = [] if root is None else [root]
        for item in path:
            nodes = [child for node in nodes for child in _find_children(node, item)]
        for node in nodes:
            start, stop = node.start_mark.index, node.end_mark.index
            yield start, start + len(text[start:stop].rstrip()), mark


def _find_children(node: Any, item: Any) -> Iterator[Any]:
    """Find the values of a key, each time that it is given, also in merged maps."""
    if isinstance(node, yaml.SequenceNode) and isinstance(item, int) and item < len(node.value):
        yield node.value[item]
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.tag == _MERGE:
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                yield from _find_children(source, item)
        elif key.value == str(item):
            yield value


def _mask_values(
    value: Any, path: Path, hidden: Mapping[Location, Any], mark: Callable[[Location], str]
) -> Any:
    if ("", path) in hidden:
        return mark(("", path))
    if isinstance(value, Mapping):
        return {key: _mask_values(item, (*path, key), hidden, mark) for key, item in value.items()}
    if isinstance(value, list):
        found = enumerate(value)
        return [_mask_values(item, (*path, index), hidden, mark) for index, item in found]
    return value
