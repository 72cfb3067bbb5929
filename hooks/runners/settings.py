"""Reads the entries of a runner's section: right kind, or a UsageError that names the entry.

For whoever makes a runner of its section of the settings (``zonda_runners``). Never shows a value,
which may be a secret.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..errors import UsageError

#: What stands in a section beside the settings of the runner itself.
GIVEN = frozenset({"kind", "clock", "random"})
#: No number of a section means anything beyond this: it stands for seconds, bytes or attempts.
_LARGEST = 1e15


def check_settings(given: Mapping[str, Any], kind: str, known: Collection[str]) -> None:
    """Raise UsageError for a setting that runners of ``kind`` do not have."""
    unknown = sorted(map(str, set(given) - set(known) - GIVEN))
    if unknown:
        raise UsageError(
            f"A runner of kind {kind} has no setting {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(known))}.",
        )


def text(given: Mapping[str, Any], name: str, *, within: str = "") -> str:
    """A text, empty where there is none."""
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise UsageError(f"The runner's setting {within}{name} must be a text.")
    return value


def texts(given: Mapping[str, Any], name: str, *, within: str = "") -> list[str]:
    """A list of texts; one text is a list of one."""
    value = given.get(name) or []
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise UsageError(f"The runner's setting {within}{name} must be a text or a list of texts.")
    return list(values)


def number(given: Mapping[str, Any], name: str, default: float, *, positive: bool = False) -> float:
    """A number that is not negative; where it must be ``positive`` it is not 0 either."""
    value = given.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not (value > 0 if positive else value >= 0) or value > _LARGEST:
        wanted = "above 0" if positive else "that is not negative"
        raise UsageError(f"The runner's setting {name} must be a number {wanted}.")
    return float(value)


def flag(given: Mapping[str, Any], name: str, default: bool = False, *, within: str = "") -> bool:
    """True or false."""
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise UsageError(f"The runner's setting {within}{name} must be true or false.")
    return value


def table(given: Mapping[str, Any], name: str, known: Collection[str]) -> Mapping[str, Any] | None:
    """A table with entries of ``known`` names only; None where there is none."""
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise UsageError(f"The runner's setting {name} must be a table.")
    check_names(value, name, known)
    return value


def check_names(given: Mapping[str, Any], name: str, known: Collection[str]) -> None:
    """Raise UsageError for an entry that is not known."""
    unknown = sorted(map(str, set(given) - set(known)))
    if unknown:
        raise UsageError(
            f"The runner's setting {name} has no entry {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(known))}.",
        )


def choice(given: Mapping[str, Any], name: str, known: Collection[str], *, within: str = "") -> str:
    """One of ``known``, whose first is the default."""
    value = text(given, name, within=within) or next(iter(known))
    if value not in known:
        names = ", ".join(dict.fromkeys(known))
        raise UsageError(f"The runner's setting {within}{name} is none of {names}.")
    return value


def fits_a_header(value: str) -> bool:
    """Whether a text can be the value of a header: one line of plain ASCII characters."""
    return value.isprintable() and value == value.strip() and value.isascii()
