"""The index of all modules of the installed collections.

It is built once per set of collections, from the names of files alone, and kept in the cache of
the user. Neither ansible-core nor a module is imported for it. Called by ``plugin`` when zonda
gathers its types, and by ``interfaces``.
"""

from __future__ import annotations

import configparser
import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

BUILTIN: Final = "ansible.builtin"
#: The number of the format of the cache: files of another are made anew.
FORMAT: Final = 5
_SUFFIXES: Final = (".py", ".ps1", ".yml", ".yaml")
#: Modules that direct a play, and of which nothing stays: no resource can be one.
DIRECTIVES: Final = frozenset(
    f"{BUILTIN}.{name}"
    for name in (
        *("add_host", "async_status", "async_wrapper", "gather_facts", "group_by"),
        *("import_playbook", "import_role", "import_tasks", "include_role", "include_tasks"),
        *("include_vars", "meta", "pause", "set_fact", "set_stats", "validate_argument_spec"),
    )
)


@dataclass(frozen=True, slots=True)
class Collection:
    """An installed collection; ``state`` changes when another version is put in its place."""

    name: str
    folder: Path
    state: str

    @property
    def modules(self) -> Path:
        """The folder of its modules."""
        return self.folder / ("modules" if self.name == BUILTIN else "plugins/modules")


@dataclass(frozen=True, slots=True)
class Index:
    """The modules by their full names (``ansible.builtin.user``): the files that hold them.

    ``versions`` and ``folders`` are those of the collections.
    """

    #: Another one for each set of collections.
    fingerprint: str
    versions: Mapping[str, str]
    modules: Mapping[str, str]
    folders: Mapping[str, str]

    def get_collection(self, module: str) -> str:
        """The collection of a module: the first two parts of its name."""
        return ".".join(module.split(".")[:2])

    def get_version(self, module: str) -> str:
        """The version of a module's collection; '' where that says none."""
        return self.versions.get(self.get_collection(module), "")


def find_cache_folder() -> Path:
    """The folder of what is kept between runs; it may be removed at any time."""
    given = os.environ.get("XDG_CACHE_HOME") or ""
    base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return base / "zonda" / "ansible"


def load_index() -> Index:
    """The index of what is installed now: from the cache, or built and kept there."""
    collections = list(list_collections())
    said = json.dumps([FORMAT, [[each.name, str(each.folder), each.state] for each in collections]])
    fingerprint = hashlib.sha256(said.encode()).hexdigest()[:32]
    kept = find_cache_folder() / f"index-{fingerprint}.json"
    found = read_kept(kept)
    if found is None:
        found = _build_index(collections)
        write_kept(kept, found)
    folders = {each.name: str(each.folder) for each in collections}
    return Index(fingerprint, found["versions"], found["modules"], folders)


def list_collections() -> Iterator[Collection]:
    """The collections in the order in which Ansible looks for them; the first of a name counts."""
    spec = find_spec("ansible")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place)
        yield Collection(BUILTIN, folder, f"{_get_state(folder / 'release.py')}")
        break
    known = {BUILTIN}
    for root in _list_roots():
        for folder in sorted(root.glob("*/*")):
            name = f"{folder.parent.name}.{folder.name}"
            if name in known or not name.replace(".", "").isidentifier():
                continue
            states = [_get_state(folder / file) for file in ("MANIFEST.json", "galaxy.yml")]
            modules = _get_state(folder / "plugins" / "modules")
            if any(states) or modules:
                known.add(name)
                yield Collection(name, folder, " ".join((*states, modules)))


def _list_roots() -> Iterator[Path]:
    """The folders ``ansible_collections`` that Ansible would look into."""
    given = os.environ.get("ANSIBLE_COLLECTIONS_PATH") or _read_configured_path()
    paths = given or "~/.ansible/collections:/usr/share/ansible/collections"
    seen = set()
    for path in (*paths.split(":"), *sys.path):
        folder = Path(os.path.expandvars(path or ".")).expanduser()
        root = folder if folder.name == "ansible_collections" else folder / "ansible_collections"
        if root not in seen and root.is_dir():
            seen.add(root)
            yield root


def find_configuration() -> str:
    """Ansible's file of settings; '' where there is none. That of the working folder is ignored.

    Whoever may write into the folder that zonda happens to run in must not set its commands.
    """
    files = [os.environ.get("ANSIBLE_CONFIG") or "", "~/.ansible.cfg", "/etc/ansible/ansible.cfg"]
    return next((file for each in files if os.path.isfile(file := os.path.expanduser(each))), "")


def _read_configured_path() -> str:
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";",))
    with contextlib.suppress(configparser.Error, OSError, UnicodeDecodeError):
        parser.read(find_configuration(), encoding="utf-8")
        for name in ("collections_path", "collections_paths"):
            found = parser.get("defaults", name, fallback="")
            if found:
                return found
    return ""


def _get_state(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}"


def _build_index(collections: list[Collection]) -> dict[str, Any]:
    modules = {
        f"{each.name}.{name}": str(path)
        for each in collections
        for name, path in _list_modules(each.modules)
    }
    return {
        "versions": {each.name: _read_version(each) for each in collections},
        "modules": {name: modules[name] for name in sorted(modules.keys() - DIRECTIVES)},
    }


def _list_modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """The names of modules below a folder; documentation beside a module is no second one."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each.isidentifier() and each[0] != "_")
        inside = Path(place).relative_to(folder).parts
        for file in sorted(
            files,
            key=lambda name: (
                _SUFFIXES[::-1].index(Path(name).suffix) if Path(name).suffix in _SUFFIXES else -1
            ),
        ):
            name, suffix = os.path.splitext(file)
            name = name.removeprefix("_")  # as modules of ansible-core that end soon once began
            if suffix in _SUFFIXES and name.isidentifier() and not name.startswith("_init__"):
                yield ".".join((*inside, name)), Path(place, file)


def _read_version(collection: Collection) -> str:
    if collection.name == BUILTIN:
        with contextlib.suppress(OSError):
            for line in (collection.folder / "release.py").read_text().splitlines():
                if line.startswith("__version__"):
                    return line.partition("=")[2].strip().strip("'\"")
        return ""
    try:
        manifest = json.loads((collection.folder / "MANIFEST.json").read_text())
        return str(manifest["collection_info"]["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # a clone: it has no manifest


def read_kept(path: Path) -> Any:
    """The JSON of a file of the cache; None where it is not there or not whole."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_kept(path: Path, value: Any) -> None:
    """Write a file of the cache as a whole; a cache that cannot be written is done without."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(value, file)
        os.replace(file.name, path)
