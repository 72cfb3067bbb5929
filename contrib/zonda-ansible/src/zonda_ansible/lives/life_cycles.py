"""The names and the removal of what modules make: the table, and the conventions of options.

The table stands in ``life_cycles.yaml``. A collection extends it by ``meta/zonda.yaml``, a user by
``ansible.yaml`` in zonda's folder of settings (``~/.config/zonda``); the later wins. Called by
``types``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from zonda.hooks import UsageError

from ..index import Index

KEEP: Final = "keep"
#: The deletion of what makes nothing: a module that only asks.
NOTHING: Final = "nothing"
#: The states in which a thing is gone, as modules call them.
_GONE: Final = ("absent", "deleted", "removed", "delete", "remove", "missing")
_FILE: Final = "ansible.builtin.file"
#: The modules that only ask, by the ends of their names.
_ASKING: Final = ("_info", "_facts")
#: The options that name a thing where nothing else is known.
_NAMING: Final = ("path", "dest", "name", "key", "id", "src", "url")
_KEYS: Final = frozenset({"identity", "delete", "only_given", "keeps_folder", "repeatable", "look"})


@dataclass(frozen=True, slots=True)
class Removal:
    """The module that removes a thing, and its options."""

    module: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LifeCycle:
    """The life cycle of a module, as a table or its options say it.

    ``delete``: options, a module with options, ``keep``, ``nothing``; None where nobody knows how.
    ``look``: options with which it is looked at, where the template does not give them.
    """

    module: str
    identity: tuple[str, ...]
    delete: Any = None
    only_given: bool = False
    keeps_folder: bool = False
    repeatable: bool = True
    look: Mapping[str, Any] = field(default_factory=dict)

    def list_identity(self, given: Mapping[str, Any]) -> list[Any]:
        """The values that name the thing."""
        found = []
        for names in self.identity:
            values = (given.get(name) for name in names.split("|"))
            found.append(next((value for value in values if value is not None), None))
        return found

    def list_claim(self, given: Mapping[str, Any]) -> list[Any]:
        """The values that tell the thing from those of other resources.

        Two files that are sent to one folder have their sources for names.
        """
        dest = str(given.get("dest") or "")
        is_folder = self.keeps_folder and "src" in given and not os.path.splitext(dest)[1]
        source = [os.path.basename(str(given["src"]))] if is_folder else []
        return [*self.list_identity(given), *source]

    @property
    def removes_anything(self) -> bool:
        """Whether there is a thing, which a deletion removes."""
        return isinstance(self.delete, Mapping)

    @property
    def makes_nothing(self) -> bool:
        """Whether the module only asks, so that nothing of it stays."""
        return bool(self.delete == NOTHING)

    @property
    def removes_file(self) -> bool:
        """Whether the thing is a file, which is removed as one."""
        return isinstance(self.delete, Mapping) and self.delete.get("module") == _FILE

    def is_gone(self, given: Mapping[str, Any]) -> bool:
        """Whether the options say that the thing is to be gone."""
        return given.get("state") in _GONE

    def describe_remains(
        self, given: Mapping[str, Any], wanted: Any = None, written: str | None = None
    ) -> str:
        """The sentence on what stays after the deletion; '' where nothing does."""
        if self.makes_nothing or self.is_gone(given) or self.plan_removal(given, wanted, written):
            return ""
        if KEEP in (wanted, self.delete if wanted is None else None):
            return f"its deletion keeps what {self.module} has done (`{KEEP}`)"
        if wanted is None and self.keeps_folder:
            return (
                f"its deletion leaves what {self.module} has copied into a folder: "
                "`ansible_delete` can say what to remove"
            )
        if self.delete is None:
            return (
                f"its deletion leaves what {self.module} has done, since how to undo that is not "
                "known: `ansible_delete` can say it"
            )
        return f"its deletion leaves all as it is: there is nothing for {self.module} to undo"

    def plan_removal(
        self, given: Mapping[str, Any], wanted: Any = None, written: str | None = None
    ) -> Removal | None:
        """The way to remove what was made with ``given``; None: it stays.

        ``wanted``: what the template says instead, in the form of ``delete``. ``written``: the file
        that the module says it has written; '' where it has filled a folder, None if nothing.
        """
        delete = self.delete if wanted is None else wanted
        if not isinstance(delete, Mapping) or self.is_gone(given):
            return None
        if self.keeps_folder and wanted is None and written is not None:
            return Removal(_FILE, {"path": written, "state": "absent"}) if written else None
        if "module" in delete:
            rendered = _fill_in(delete.get("options") or {}, given)
            return Removal(str(delete["module"]), rendered)
        if self.only_given and wanted is None:
            delete = {name: value for name, value in delete.items() if name in given}
        options = {**given, **delete}
        kept = {name: value for name, value in options.items() if value is not None}
        return Removal(self.module, kept) if delete else None


def _fill_in(options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: given.get(value[1:]) if isinstance(value, str) and value.startswith("$") else value
        for name, value in options.items()
    }


def find_life_cycle(index: Index, module: str, interface: Mapping[str, Any]) -> LifeCycle:
    """The life cycle of a module; raises UsageError where a table is wrong.

    The table may have any name of an option.
    """
    options = interface["options"]
    entry: dict[str, Any] = {}
    for file in _list_tables(index, module):
        found = _read_entry(file, module)
        if "delete" in found:  # what an earlier table says of its own deletion goes with it
            entry = {key: entry[key] for key in entry.keys() - {"only_given", "keeps_folder"}}
        entry |= found
    identity = entry.get("identity")
    if identity is None:
        identity = _guess_identity(options)
    guessed = NOTHING if module.endswith(_ASKING) else _guess_removal(options)
    own = {alias: name for name, option in options.items() for alias in option["aliases"]}
    own |= {name: name for name in options}
    return LifeCycle(
        module,
        tuple("|".join(own.get(each, each) for each in names.split("|")) for names in identity),
        _rename(entry.get("delete", guessed), module, own),
        entry.get("only_given", False),
        entry.get("keeps_folder", False),
        entry.get("repeatable", True),
        entry.get("look", {}),
    )


def _rename(delete: Any, module: str, own: Mapping[str, str]) -> Any:
    """A removal with the options' own names, where the table has other names of them."""
    if not isinstance(delete, Mapping):
        return delete
    if "module" not in delete:
        return {own.get(name, name): value for name, value in delete.items()}
    options = {
        name: f"${own.get(value[1:], value[1:])}" if str(value).startswith("$") else value
        for name, value in (delete.get("options") or {}).items()
    }
    return {**delete, "options": options}


def _guess_identity(options: Mapping[str, Mapping[str, Any]]) -> list[str]:
    required = [
        name
        for name, option in options.items()
        if option["required"] and not option["no_log"] and name != "state"
    ]
    return required or [name for name in _NAMING if name in options][:1]


def _guess_removal(options: Mapping[str, Mapping[str, Any]]) -> Any:
    choices = options.get("state", {}).get("choices") or []
    gone = next((state for state in _GONE if state in choices), None)
    return {"state": gone} if gone else None


def _list_tables(index: Index, module: str) -> Iterator[Path]:
    yield Path(__file__).with_name("life_cycles.yaml")
    yield Path(index.folders[index.get_collection(module)], "meta", "zonda.yaml")
    given = os.environ.get("XDG_CONFIG_HOME") or ""
    base = Path(given) if os.path.isabs(given) else Path.home() / ".config"
    yield base / "zonda" / "ansible.yaml"


def _read_entry(file: Path, module: str) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    try:
        table = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise UsageError(f"{file} is no YAML: {error}") from error
    entry = table.get(module, {}) if isinstance(table, dict) else None
    if not isinstance(entry, dict) or not entry.keys() <= _KEYS:
        known = ", ".join(sorted(_KEYS))
        raise UsageError(f"{file}: an entry is a map with some of {known}", hint=module)
    if not isinstance(entry.get("identity", []), list):
        raise UsageError(f"{file}: {module}: identity is a list of options")
    return entry
