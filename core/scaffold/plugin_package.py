"""The files of a new plug-in package: templates beside this module, with names filled in."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from zonda.hooks import UsageError
from zonda.hooks.records import dataclass

from . import own_requirement

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_LONGEST: Final = 64
#: Beside Python's own modules: packages that would lie where others look for something else.
_TAKEN: Final = frozenset({"heat", "pip", "setuptools", "site", "tests", "wheel", "zonda"})
#: First parts of type names that docs/reference/plugin-api.md keeps for Heat and zonda.
NAMESPACES: Final = frozenset({"os", "zonda"})

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
    "src/@PACKAGE@/lines.py": "lines.py.txt",
    "src/@PACKAGE@/one_line.py": "one_line.py.txt",
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
        """Build the names from that of the distribution; raises UsageError for a bad one."""
        package = name.replace("-", "_")
        if not _NAME.match(name) or keyword.iskeyword(package):
            raise UsageError(
                f"{name!r} cannot be the name of a package.",
                hint="Lower case letters and digits, with hyphens between words: acme-thing.",
            )
        first, *rest = name.split("-")
        why = _find_name_conflict(name, package, first if rest else "")
        if why:
            raise UsageError(
                f"{name[:_LONGEST]!r} cannot be the name of a package: {why}.",
                hint="Begin with a name of your own: acme-thing.",
            )
        kind = "".join(each.capitalize() for each in rest or ["note"])
        return cls(name, package, package, f"{first.capitalize()}::{kind}")

    def fill(self, text: str) -> str:
        """Fill the names into ``text``."""
        for mark, value in (
            ("@DISTRIBUTION@", self.distribution),
            ("@PACKAGE@", self.package),
            ("@ENTRY@", self.entry),
            ("@TYPE@", self.type),
            ("@ZONDA@", own_requirement.format_requirement()),
            ("@CHECK@", own_requirement.format_requirement("check")),
            ("@HATCH@", _format_url_note() if own_requirement.find_origin_url() else ""),
        ):
            text = text.replace(mark, value)
        return text


def _format_url_note() -> str:
    """Format the note why a requirement is a URL; without it hatchling rejects one."""
    return f"""
# This zonda is on no package index. Before you publish, ask for
# zonda{own_requirement.format_minimum()}.
[tool.hatch.metadata]
allow-direct-references = true
"""


def _find_name_conflict(name: str, package: str, namespace: str) -> str:
    """Return the reason why a package cannot have this name; '' if it can."""
    if len(name) > _LONGEST:
        return f"it has {len(name)} characters, and may have at most {_LONGEST}"
    if package in sys.stdlib_module_names or package == "test":
        return f"Python has a module {package}"
    if package in _TAKEN:
        return f"{package} is the name of something else"
    if namespace in NAMESPACES:
        return f"its type would be in the namespace {namespace.capitalize()}, which is taken"
    return ""


def write_package(names: Names, folder: Path) -> list[Path]:
    """Write the package into ``folder``, which must be empty or missing; return the files."""
    return write_files("package", _FILES, names.fill, folder)


def write_files(
    kind: str, sources: Mapping[str, str], fill: Callable[[str], str], folder: Path
) -> list[Path]:
    """Write files from the templates of ``kind``; raises UsageError where that fails."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is there already and not empty.",
            hint="Choose another with --folder, or move it away.",
        )
    source = files(__package__) / kind
    written = []
    try:
        for name, template in sources.items():
            path = folder / fill(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (source / template).read_text(encoding="utf-8")
            path.write_text(fill(text), encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    return written
