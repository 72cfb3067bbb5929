"""Plug-ins as plain files: every Python file below the folders of the setting ``plugin_dirs``.

A file brings ``resource_mapping()`` and ``constraint_mapping()``, as Heat's plug-in guide says, or
functions marked with ``zonda.hooks.hookimpl``, or both. Folders named ``tests`` and files named
``setup.py`` or ``conftest.py`` are left out; the ``__init__.py`` of a folder is a file like any
other. A file that cannot be loaded is reported and hurts nothing else. Called by
``core/app/app.py``.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from zonda.hooks.errors import PluginError
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception, raised_at

from .manager import what_to_do
from .resource_mapping import MISSING, Mapped, noting_missing

_SKIPPED_FOLDERS = {"tests", "__pycache__"}
_SKIPPED_FILES = {"setup.py", "conftest.py"}


class DropIn(Mapped):
    """One file as a plug-in: its own hooks, and the guide's mappings as hooks."""

    def __init__(self, path: Path, module: ModuleType) -> None:
        super().__init__(str(path), module)


def load(folders: Iterable[str]) -> tuple[list[DropIn], list[PluginError]]:
    """The plug-ins of all files, in the order of the folders and then of names; and what failed."""
    plugins: list[DropIn] = []
    failures: list[PluginError] = []
    for folder in folders:
        for path in _files(Path(folder)):
            _load(Path(folder), path, plugins, failures)
    return plugins, failures


def load_file(path: Path) -> tuple[list[DropIn], list[PluginError]]:
    """The plug-in of one file, whatever its name; or why it failed."""
    plugins: list[DropIn] = []
    failures: list[PluginError] = []
    _load(path.absolute().parent, path.absolute(), plugins, failures)
    return plugins, failures


def _load(folder: Path, path: Path, plugins: list[DropIn], failures: list[PluginError]) -> None:
    try:
        plugins.append(DropIn(path, _imported(folder, path)))
    except BaseException as error:  # a stranger's file may raise anything, or exit
        raise_interruption(error)
        failures.append(_failure(path, error))


def _files(folder: Path) -> Iterator[Path]:
    return filter(_is_plugin, folders_of(folder))


def folders_of(folder: Path) -> Iterator[Path]:
    """Every file below a folder that may be a plug-in or belong to one, in the order of names."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if not path.is_dir():
            yield path
        elif path.name not in _SKIPPED_FOLDERS and not path.name.startswith("."):
            yield from folders_of(path)


def _is_plugin(path: Path) -> bool:
    if path.name == "__init__.py":
        return True
    private = path.name.startswith((".", "_")) or path.name in _SKIPPED_FILES
    return path.suffix == ".py" and not private


def _imported(folder: Path, path: Path) -> ModuleType:
    """The module of a file, as part of a package made for its folder.

    So files of one folder may import each other (``from . import names``) and cannot be taken
    for modules of other folders.
    """
    root = f"zonda_dropins_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    if root not in sys.modules:
        package = ModuleType(root, f"Plug-in files of {folder}")
        package.__path__ = [str(folder.resolve())]
        sys.modules[root] = package
    inner = path.relative_to(folder).with_suffix("").parts
    if path.name == "__init__.py":
        inner = inner[:-1] or inner
    missing: set[str] = set()
    with noting_missing(missing):
        module = importlib.import_module(".".join((root, *inner)))
    module.__dict__.setdefault(MISSING, tuple(sorted(missing)))
    return module


def _failure(path: Path, error: BaseException) -> PluginError:
    text = f"Plug-in file {path} cannot be loaded: {describe_exception(error)}{raised_at(error)}"
    failure = PluginError(text, plugin=str(path), hint=what_to_do(error))
    failure.__cause__ = error
    return failure
