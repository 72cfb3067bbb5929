"""The files of a new plug-in package: templates beside this module, with names filled in."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from zonda.hooks.errors import UsageError

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: File of a package -> the template it is made from. ``@PACKAGE@`` stands for the import name.
_FILES: Final = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "CHANGELOG.md": "CHANGELOG.md.txt",
    ".gitignore": "gitignore.txt",
    "docs/example.yaml": "docs/example.yaml.txt",
    "src/@PACKAGE@/__init__.py": "init.py.txt",
    "src/@PACKAGE@/plugin.py": "plugin.py.txt",
    "src/@PACKAGE@/note.py": "note.py.txt",
    "src/@PACKAGE@/checking.py": "checking.py.txt",
    "tests/test_note.py": "tests/test_note.py.txt",
}


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one package, e.g. ``acme-thing``, ``acme_thing``, ``thing``, ``Acme::Thing``."""

    distribution: str
    package: str
    entry: str
    type: str

    @classmethod
    def of(cls, name: str) -> Names:
        """By the name of the distribution; raises UsageError for one that is none."""
        package = name.replace("-", "_")
        if not _NAME.match(name) or keyword.iskeyword(package):
            raise UsageError(
                f"{name!r} cannot be the name of a package.",
                hint="Lower case letters and digits, with hyphens between words: acme-thing.",
            )
        first, *rest = name.split("-")
        kind = "".join(each.capitalize() for each in rest or ["note"])
        return cls(name, package, package, f"{first.capitalize()}::{kind}")

    def fill(self, text: str) -> str:
        """``text`` with the names in it."""
        for mark, value in (
            ("@DISTRIBUTION@", self.distribution),
            ("@PACKAGE@", self.package),
            ("@ENTRY@", self.entry),
            ("@TYPE@", self.type),
        ):
            text = text.replace(mark, value)
        return text


def write(names: Names, folder: Path) -> list[Path]:
    """Write the package into ``folder``, which must not hold anything; gives the files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is there already and not empty.",
            hint="Choose another with --folder, or move it away.",
        )
    source = files(__package__) / "package"
    written = []
    try:
        for name, template in _FILES.items():
            path = folder / names.fill(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (source / template).read_text(encoding="utf-8")
            path.write_text(names.fill(text), encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    return written
