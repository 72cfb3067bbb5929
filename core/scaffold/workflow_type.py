"""The files of a new type made of workflows: templates beside this module, with names filled in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from zonda.hooks import UsageError
from zonda.hooks.records import dataclass

from .plugin_package import NAMESPACES, write_files

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*(::[A-Z][A-Za-z0-9]*)+\Z")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_FILES: Final = {
    "@FILE@.yaml": "manifest.yaml.txt",
    "workflows.yaml": "workflows.yaml.txt",
    "@WORD@.py": "script.py.txt",
    "template.yaml": "template.yaml.txt",
    "environment.yaml": "environment.yaml.txt",
}


@dataclass(frozen=True, slots=True)
class TypeNames:
    """The names of one type: ``Acme::Disk``, ``acme-disk`` (files) and ``disk`` (workflows)."""

    type: str
    file: str
    word: str

    @classmethod
    def of(cls, name: str) -> TypeNames:
        """Build the names from that of the type; raises UsageError for a bad one."""
        if not _NAME.match(name) or name.partition("::")[0].lower() in NAMESPACES:
            raise UsageError(
                f"{name!r} cannot be the name of a type of your own.",
                hint="Begin with a name of your own: Acme::Disk.",
            )
        words = [word.lower() for word in _WORDS.findall(name)]
        last = [word.lower() for word in _WORDS.findall(name.rpartition("::")[2])]
        return cls(name, "-".join(words), "-".join(last))

    def fill(self, text: str) -> str:
        """Fill the names into ``text``."""
        for mark, value in (("@TYPE@", self.type), ("@FILE@", self.file), ("@WORD@", self.word)):
            text = text.replace(mark, value)
        return text


def write_type(names: TypeNames, folder: Path) -> list[Path]:
    """Write the files into ``folder``, which must be empty or missing; return them."""
    return write_files("type", _FILES, names.fill, folder)
