"""Types that are declared as texts instead of classes: their readers and their source.

A plug-in brings a reader by the hook ``zonda_type_readers``, for texts with a certain key at the
top. Such a text comes along with an environment, lies in a folder, or is brought by a package; the
reader makes a class of it. The text is stored with every template that uses the type, so that what
was made by it can be changed and removed by it, whatever becomes of the file.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

from .errors import Path, Place
from .hashes import blake2b
from .records import dataclass, field


class TypeDocument(Protocol):
    """A text that was read. ``data``: plain data; ``file``: its name for people."""

    text: str
    file: str
    data: Any

    @property
    def duplicates(self) -> list[tuple[Path, Place, Place]]:
        """Keys that stand twice in one map: their path, the first place, the one that wins."""

    def place(self, path: Path, *, key: bool = False) -> Place | None:
        """The place of the value at ``path``; with ``key``: of its key."""


@dataclass(frozen=True)
class TypeText:
    """The text that a class was made from. ``key``: the key at the top; ``name``: its type name."""

    key: str
    name: str
    file: str
    text: str = field(repr=False)

    @property
    def class_type(self) -> str:
        """The name of the class, which no template and no change of the text changes."""
        return f"{self.key}:{self.name}"

    @cached_property
    def digest(self) -> str:
        """A short text that changes with the text."""
        return blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
