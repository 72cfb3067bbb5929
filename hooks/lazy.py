"""Classes by name, each imported when somebody asks for it.

A template uses few of the types that there are. A package that brings many may say where they
stand, in place of importing them all (``lazy_types``)::

    @hookimpl
    def zonda_resource_types():
        return lazy_types(__package__, {"Acme::Disk": "disk:Disk"})

zonda leaves its own types where they are until they are used. Those of others are looked at when
they are gathered, since what is wrong with them is to be told by name; a ``Fallback`` is not.
Called by ``manager``.
"""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TypeVar

T = TypeVar("T")


class LazyClass:
    """A class that is not imported yet: it stands in ``module`` as ``name``."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module: Final = module
        self.name: Final = name

    def load(self) -> Any:
        """Import and return the class."""
        return getattr(import_module(self.module), self.name)


class Fallback(LazyClass):
    """A class for a name that nobody else brings: it stands back where somebody does.

    It is imported when it is used, whoever brings it, so that ``load`` has to give a class in any
    case: one that says what is wrong where it cannot be had.
    """

    __slots__ = ()


class GeneratedClass(Fallback):
    """One of very many classes, which is made when it is used.

    ``module`` and ``name`` are those of the class that will be. ``version`` is another one whenever
    any class of ``module`` may have changed.
    """

    __slots__ = ("make", "version")

    def __init__(self, module: str, name: str, make: Callable[[str], Any], version: str) -> None:
        super().__init__(module, name)
        self.make: Final = make
        self.version: Final = version

    def load(self) -> Any:
        """Make and return the class."""
        return self.make(self.name)


class Classes(UserDict[str, T]):
    """Names and what they mean. Only what is asked for by its name, or for all, is imported."""

    def __getitem__(self, name: str) -> T:
        found: Any = self.data[name]
        if isinstance(found, LazyClass):
            found = self.data[name] = found.load()
        known: T = found
        return known


def lazy_types(package: str | None, places: Mapping[str, str]) -> Classes[Any]:
    """Classes by name, from ``MODULE:NAME`` with modules of ``package``."""
    found: Classes[Any] = Classes()
    for key, place in places.items():
        module, _, name = place.partition(":")
        found.data[key] = LazyClass(f"{package}.{module}", name)
    return found


def generate_types(
    module: str, names: Iterable[str], make: Callable[[str], Any], version: str
) -> Classes[Any]:
    """Very many classes by name, each made by ``make(name)`` when a template uses it.

    zonda looks at the declaration of none: ``make`` gives a class that is one, whatever happens,
    with ``__module__`` and ``__qualname__`` as ``module`` and its name. ``version`` is a text that
    changes whenever any of the classes may, so that nothing of zonda keeps an older one.
    """
    found: Classes[Any] = Classes()
    for name in names:
        found.data[name] = GeneratedClass(module, name, make, version)
    return found


class LazyFactory:
    """A factory that is imported when something is made, apart from the schema of its section."""

    def __init__(self, package: str | None, place: str, schema: str) -> None:
        self._known = lazy_types(package, {"make": place, "schema": schema})

    def __call__(self, settings: Mapping[str, Any]) -> Any:
        """Make the object of a section by the factory."""
        return self._known["make"](settings)

    def load(self) -> None:
        """Import the factory now, so that its first use waits for nothing."""
        self._known["make"]

    @property
    def settings_schema(self) -> Any:
        """The ``SettingsSchema``."""
        return self._known["schema"]


def get_unloaded(known: Mapping[str, T]) -> Mapping[str, T | LazyClass]:
    """The mapping without any import: values may be ``LazyClass``."""
    return known.data if isinstance(known, Classes) else known


def list_without_generating(known: Mapping[str, T]) -> dict[str, T | GeneratedClass]:
    """The names and classes, those that are generated as they are; the others are imported."""
    unloaded = get_unloaded(known)
    return {
        name: each if isinstance(each, GeneratedClass) else known[name]
        for name, each in unloaded.items()
    }


def list_loaded(known: Mapping[str, T]) -> Iterator[tuple[str, T]]:
    """The names and classes that are imported already."""
    for name, each in get_unloaded(known).items():
        if not isinstance(each, LazyClass):
            yield name, each


def get_place(each: type[Any] | LazyClass) -> tuple[str, str]:
    """The module of a class, and its name there."""
    if isinstance(each, LazyClass):
        return each.module, each.name
    return each.__module__, each.__qualname__


class Names:
    """The first name of each class of a mapping. To ask for it imports nothing."""

    def __init__(self, known: Mapping[str, type[Any]]) -> None:
        self._known = known
        names = reversed([*get_unloaded(known).items()])
        self._by_place: dict[tuple[str, str], str] = {get_place(each): name for name, each in names}

    def of(self, cls: type[Any]) -> str:
        """The name of a class; '' where it has none."""
        name = self._by_place.get(get_place(cls), "")
        if not name or self._known[name] is cls:
            return name
        # another one, made in the same place
        return next((name for name, each in list_loaded(self._known) if each is cls), "")


def find_file(each: type[Any] | LazyClass) -> str:
    """The file that a class stands in; '' where that is none.

    A class that is there may say of itself that it is of any module, also of one that there is not.
    """
    if isinstance(each, LazyClass):
        spec = find_spec(each.module)
        return (spec.origin or "") if spec is not None else ""
    loaded = sys.modules.get(each.__module__)
    return getattr(loaded, "__file__", None) or ""
