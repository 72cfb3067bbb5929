"""Declared types (manifests) in folders and packages: find, read and register them.

Called by ``core/app/parts.py`` when plug-ins are gathered. A file is one whose top has a key that
some plug-in reads (``zonda_type``); any other YAML file is left alone. Without such files nothing
is read and nothing imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from zonda.core.plugins.files import list_candidate_files
from zonda.core.plugins.manager import Origin, Plugins
from zonda.hooks.errors import PluginError, TemplateError, ValidationErrors
from zonda.hooks.text.sanitize import join_sentences

SUFFIXES = (".yaml", ".yml")
_MOST_BYTES = 524_288
_ALONE = "Everything else goes on without it."


def add_files(plugins: Plugins, paths: Iterable[Path], *, must: bool = False) -> None:
    """Add the types that files declare; ``must``: a file without a type is a failure."""
    for path in paths:
        text = _read_manifest(path, plugins, must)
        if text is not None:
            _add_manifest(plugins, Origin(str(path)), str(path), text, must=must)


def add_packages(plugins: Plugins) -> None:
    """Add the types that packages declare in manifests."""
    for origin, file, text in plugins.type_texts:
        _add_manifest(plugins, origin, file, text, must=True)


def list_yaml_files(folders: Iterable[Path]) -> Iterator[Path]:
    """List every YAML file below some folders, in the order of plug-in files."""
    for folder in folders:
        for path in list_candidate_files(folder):
            if path.suffix in SUFFIXES and not path.name.startswith("."):
                yield path


def _read_manifest(path: Path, plugins: Plugins, must: bool) -> str | None:
    try:
        if path.stat().st_size > _MOST_BYTES and not must:
            return None
        content = path.read_bytes()
    except OSError as error:
        plugins.add_failure(
            PluginError(f"{path} cannot be read: {error.strerror}.", plugin=str(path))
        )
        return None
    if not must and not any(key.encode() in content for key in plugins.type_readers):
        return None
    return content.decode("utf-8", "replace")


def _add_manifest(plugins: Plugins, origin: Origin, file: str, text: str, *, must: bool) -> None:
    from zonda.core.template.types.declared_types import find_reader_key, load_type

    key = find_reader_key(text, plugins.type_readers)
    if key is None:
        if must:
            known = ", ".join(plugins.type_readers)
            hint = f"A manifest begins with {known}: 1."
            _add_failure(plugins, origin, f"{file} declares no type.", hint)
        return
    found = load_type(plugins.type_readers[key], text, file, _MOST_BYTES)
    if isinstance(found, ValidationErrors):
        for fault in found.errors:
            _add_failure(plugins, origin, _format_fault(fault), "" if must else _ALONE, fault)
        return
    assert found.declared_by is not None
    plugins.add_type(origin, found.declared_by.name, found)


def _format_fault(fault: TemplateError) -> str:
    where = f"{fault.place}: " if fault.place else ""
    return where + join_sentences(fault.message, fault.hint)


def _add_failure(
    plugins: Plugins,
    origin: Origin,
    message: str,
    hint: str,
    cause: TemplateError | None = None,
) -> None:
    error = origin.make_error(message, hint)
    error.__cause__ = cause
    plugins.add_failure(error)
