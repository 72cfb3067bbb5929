"""Plug-ins as plain files: every Python file below the folders of the setting ``plugin_dirs``.

A file brings ``resource_mapping()`` and ``constraint_mapping()``, as Heat's plug-in guide says, or
functions marked with ``zonda.hooks.hookimpl``, or both. Folders named ``tests`` and files named
``setup.py`` or ``conftest.py`` are left out; the ``__init__.py`` of a folder is a file like any
other. A file that cannot be loaded is reported and hurts nothing else. Called by ``core/app.py``.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from zonda.hooks import hookimpl
from zonda.hooks.errors import PluginError
from zonda.hooks.wording import named

_SKIPPED_FOLDERS = {"tests", "__pycache__"}
_SKIPPED_FILES = {"setup.py", "conftest.py"}


class DropIn:
    """One file as a plug-in: its own hooks, and the guide's mappings as hooks."""

    def __init__(self, path: Path, module: ModuleType) -> None:
        self.__name__ = str(path)
        own = {name: value for name, value in vars(module).items() if inspect.isroutine(value)}
        for name, value in own.items():
            setattr(self, name, value)
        if "resource_mapping" in own:
            _offer(self, "zonda_resource_types", own["resource_mapping"])
        if "constraint_mapping" in own:
            _offer(self, "zonda_constraints", own["constraint_mapping"])


def _offer(plugin: DropIn, hook: str, mapping: Any) -> None:
    """``mapping`` as an implementation of ``hook``, together with the file's own."""
    own = getattr(plugin, hook, None)

    def implementation() -> Mapping[str, Any]:
        return {**(own() if own else {}), **(mapping() or {})}

    setattr(plugin, hook, hookimpl(implementation))


def load(folders: Iterable[str]) -> tuple[list[DropIn], list[PluginError]]:
    """The plug-ins of all files, in the order of the folders and then of names; and what failed."""
    plugins: list[DropIn] = []
    failures: list[PluginError] = []
    for folder in folders:
        for path in _files(Path(folder)):
            try:
                plugins.append(DropIn(path, _imported(Path(folder), path)))
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # a stranger's file may raise anything, or exit
                failures.append(_failure(path, error))
    return plugins, failures


def _files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in _SKIPPED_FOLDERS and not path.name.startswith("."):
                yield from _files(path)
        elif _is_plugin(path):
            yield path


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
    return importlib.import_module(".".join((root, *inner)))


def _failure(path: Path, error: BaseException) -> PluginError:
    failure = PluginError(f"Plug-in file {path} cannot be loaded: {named(error)}", plugin=str(path))
    failure.__cause__ = error
    return failure
