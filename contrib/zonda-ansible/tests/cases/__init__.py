"""The table of cases: modules in use, each through its whole life by ``test_lives``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Final

from . import core, crypto, postgresql, system
from .ground import Ground, Life

Make = Callable[[Ground], Life]


def _list_cases(*modules: ModuleType) -> Iterator[tuple[str, Make]]:
    for module in modules:
        for name, make in vars(module).items():
            if name.startswith("make_") and make.__annotations__.get("return") == "Life":
                yield name.removeprefix("make_"), make


#: Name of a case -> what makes its life.
CASES: Final[Mapping[str, Make]] = dict(_list_cases(core, system, crypto, postgresql))
