"""Reads cases, deviations and the list of later cases from YAML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent.parent
TIMESTAMP = "tag:yaml.org,2002:timestamp"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.1 without dates: every expectation that looks like a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path: Path) -> Any:
    """The data of one YAML file."""
    return yaml.load(path.read_text(encoding="utf-8"), _Loader)


def cases(paths: list[Path]) -> Iterator[dict[str, Any]]:
    """Every case of the given files and folders."""
    for path in paths:
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        for file in files:
            yield from read(file)


def deviations() -> dict[str, dict[str, Any]]:
    """Case id -> the rule of docs/reference/heat-compatibility.md and our own expectation."""
    return read(HERE / "deviations.yaml") or {}


def later() -> dict[str, str]:
    """Case id -> why it cannot pass yet."""
    listed: dict[str, str] = {}
    for reason, ids in (read(HERE / "later.yaml") or {}).items():
        listed.update(dict.fromkeys(ids, reason))
    return listed
