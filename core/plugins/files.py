"""Plug-ins as plain files: every Python file below the folders of the setting ``plugin_dirs``.

A file brings ``resource_mapping()`` and ``constraint_mapping()``, as Heat's plug-in guide says, or
functions marked with ``zonda.hooks.hookimpl``, or both. Folders named ``tests`` and files named
``setup.py`` or ``conftest.py`` are left out; the ``__init__.py`` of a folder is a file like any
other. A file that cannot be loaded is reported and hurts nothing else. Called by
``core/app/app.py``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from zonda.hooks.errors import PluginError
from zonda.hooks.hashes import blake2b
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception, format_raise_place

from .manager import format_import_hint
from .resource_mapping import MISSING, ModulePlugin, record_missing_modules

_SKIPPED_FOLDERS = {"tests", "__pycache__"}
_SKIPPED_FILES = {"setup.py", "conftest.py"}


def load_files(folders: Iterable[str]) -> tuple[list[ModulePlugin], list[PluginError]]:
    """Load the plug-ins of all files, ordered by folder and name; return also the failures."""
    plugins: list[ModulePlugin] = []
    failures: list[PluginError] = []
    for folder in folders:
        for path in filter(_is_plugin_file, list_candidate_files(Path(folder))):
            _load_into(Path(folder), path, plugins, failures)
    return plugins, failures


def load_file(path: Path) -> tuple[list[ModulePlugin], list[PluginError]]:
    """Load the plug-in of one file, whatever its name; return also the failure."""
    plugins: list[ModulePlugin] = []
    failures: list[PluginError] = []
    _load_into(path.absolute().parent, path.absolute(), plugins, failures)
    return plugins, failures


def _load_into(
    folder: Path, path: Path, plugins: list[ModulePlugin], failures: list[PluginError]
) -> None:
    try:
        plugins.append(ModulePlugin(str(path), _import_file(folder, path)))
    except BaseException as error:  # a stranger's file may raise anything, or exit
        raise_interruption(error)
        failures.append(_make_failure(path, error))


def list_candidate_files(folder: Path) -> Iterator[Path]:
    """List every file below a folder that may belong to a plug-in, in the order of names."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if not path.is_dir():
            yield path
        elif path.name not in _SKIPPED_FOLDERS and not path.name.startswith("."):
            yield from list_candidate_files(path)


def _is_plugin_file(path: Path) -> bool:
    if path.name == "__init__.py":
        return True
    private = path.name.startswith((".", "_")) or path.name in _SKIPPED_FILES
    return path.suffix == ".py" and not private


def _import_file(folder: Path, path: Path) -> ModuleType:
    """Import the module of a file, as part of a package made for its folder.

    So files of one folder may import each other (``from . import names``) and cannot be taken
    for modules of other folders.
    """
    root = f"zonda_dropins_{blake2b(str(folder.resolve()).encode(), digest_size=6).hexdigest()}"
    if root not in sys.modules:
        package = ModuleType(root, f"Plug-in files of {folder}")
        package.__path__ = [str(folder.resolve())]
        sys.modules[root] = package
    inner = path.relative_to(folder).with_suffix("").parts
    if path.name == "__init__.py":
        inner = inner[:-1] or inner
    missing: set[str] = set()
    with record_missing_modules(missing):
        module = importlib.import_module(".".join((root, *inner)))
    module.__dict__.setdefault(MISSING, tuple(sorted(missing)))
    return module


def _make_failure(path: Path, error: BaseException) -> PluginError:
    text = (
        f"Plug-in file {path} cannot be loaded: "
        f"{describe_exception(error)}{format_raise_place(error)}"
    )
    failure = PluginError(text, plugin=str(path), hint=format_import_hint(error))
    failure.__cause__ = error
    return failure
