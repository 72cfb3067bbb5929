"""The input of a stack as the user gave it: template, environments, parameters and files.

Made by the CLI and the API, kept by the store as JSON, read by ``stack.load``. Nothing here is
parsed or checked yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from zonda.hooks.records import dataclass, field

#: The prefix of environment variables that give parameters their values.
VARIABLE = "ZONDA_PARAM_"
#: The URL of a file, with its path. Not ``urlsplit``, which raises for half an IPv6 address.
_FILE_URL = re.compile(r"file://[^/?#]*([^?#]*)")


def to_display_name(file: str) -> str:
    """The display name of a document: the path of a file that is known by its URL."""
    found = _FILE_URL.match(file)
    return file if found is None else unquote(found[1])


class LinkedFiles(Mapping[str, str]):
    """Files by the names that one document has for them, and by their own keys."""

    __slots__ = ("_files", "_links")

    def __init__(self, files: Mapping[str, str], links: Mapping[str, str]) -> None:
        self._files = files
        self._links = links

    def __getitem__(self, key: str) -> str:
        target = self._links.get(key, key)
        return self._files[target if target in self._files else key]

    def __contains__(self, key: object) -> bool:
        return self._links.get(str(key)) in self._files or key in self._files

    def __iter__(self) -> Iterator[str]:
        yield from self._files
        own = (key for key, target in self._links.items() if target in self._files)
        yield from (key for key in own if key not in self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Bundle:
    """Template, environments, parameters and files of one request.

    ``environment`` is the environment of the request: ``parameters`` win over it.
    ``environment_files`` are (file, text) pairs merged in order; by Heat's rule for merging on the
    server they win over ``parameters``, unless ``parameters_win`` (our command line). ``files``
    maps the keys of ``get_file`` and of file-valued types to texts. ``links`` tells what a document
    means by a key of its own: file -> key as written -> key in ``files``. ``documents``: what
    whoever made the bundle has read of it already (``Document``), by file; never stored.
    ``types``: the texts (``file``, ``text``) of types that were installed as such when the bundle
    was stored, by name; they come before what is installed now. ``outside``: the files that do not
    stand below the template's folder, for whoever is asked whether all is as it should be.
    ``simulated``: patterns of the types of which nothing is made, in a stack that is simulated.
    """

    template: str
    template_file: str = "template"
    environment: str | None = None
    environment_files: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parameters_win: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    simulated: tuple[str, ...] = ()
    outside: tuple[str, ...] = field(default=(), compare=False)

    def files_of(self, file: str) -> Mapping[str, str]:
        """The texts by the keys that the document ``file`` may use."""
        links = self.links.get(file)
        return LinkedFiles(self.files, links) if links else self.files

    def key_of(self, file: str, name: str) -> str:
        """The key in ``files`` of what ``name`` means in the document ``file``.

        A name that the document does not have itself, since it came as a value, means what it means
        in whatever document has it, if that is one thing only.
        """
        own = self.links.get(file, {}).get(name)
        if own is not None:
            return own
        meant = {links[name] for links in self.links.values() if name in links}
        return meant.pop() if len(meant) == 1 else name

    def file_of(self, document: str, text: str) -> str | None:
        """The key of the file whose whole content is ``text``; first one that ``document`` names.

        What a template that came by ``get_file`` names itself is meant as in that file.
        """
        named = (key for key in self.links.get(document, {}).values() if key in self.files)
        for key in (*named, *self.files):
            if self.files[key] == text:
                return key
        return None

    def map_written_names(self) -> dict[str, str]:
        """The name in the environments of each file that they call by one name only."""
        names: dict[str, set[str]] = {}
        for file, _ in self.environment_files:
            for key, target in self.links.get(file, {}).items():
                names.setdefault(target, set()).add(key)
        meant: dict[str, set[str]] = {}
        for target, keys in names.items():
            for key in keys:
                meant.setdefault(key, set()).add(target)
        return {
            target: key
            for target, (key, *more) in names.items()
            if not more and len(meant[key]) == 1
        }

    def to_json(self) -> dict[str, Any]:
        """A JSON object that ``from_json`` reads."""
        found: dict[str, Any] = {
            "template": self.template,
            "template_file": self.template_file,
            "environment": self.environment,
            "environment_files": [list(pair) for pair in self.environment_files],
            "parameters": dict(self.parameters),
            "parameters_win": self.parameters_win,
            "files": dict(self.files),
            "links": {file: dict(links) for file, links in self.links.items()},
        }
        if self.types:
            found["types"] = {name: dict(said) for name, said in self.types.items()}
        if self.simulated:
            found["simulated"] = list(self.simulated)
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bundle:
        """The bundle from a JSON object of ``to_json``."""
        files = tuple((str(file), str(text)) for file, text in data["environment_files"])
        simulated = tuple(map(str, data.get("simulated", ())))
        return cls(**{**data, "environment_files": files, "simulated": simulated})


@dataclass(frozen=True, slots=True)
class Identity:
    """The stack that a bundle is loaded for: the values of the pseudo parameters."""

    stack_id: str
    stack_name: str
    project_id: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a template. Sizes in bytes, times in seconds.

    Their meaning stands in ``core/settings/table.py``, which takes the defaults from here.
    """

    yaql_iterators: int = 200
    yaql_memory: int = 10_000
    yaql_seconds: float = 5.0
    max_template_bytes: int = 524_288
    max_nodes: int = 500_000
    max_nodes_in_all: int = 3_000_000
    max_faults: int = 1000
    pattern_seconds: float = 1.0
    patterns_seconds: float = 5.0
    max_nested_depth: int = 5
    max_resources_per_stack: int = 10_000
