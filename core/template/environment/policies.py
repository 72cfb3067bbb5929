"""Per-resource policies of an environment: limits, retries, protection, runners, breakpoints.

Made when a plan is made, from the environment's section ``zonda`` and the hooks of its registry,
and kept as text with the stack, so that a transaction can ask without loading a template. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from zonda.hooks.records import dataclass, field, fields, replace

from .zonda_section import EVERY, PROTECT, RETRIES, RUNNERS, TIMEOUTS

#: The key of ``protect`` that means the stack.
STACK = "stack"


@dataclass(frozen=True, slots=True)
class Retry:
    """``attempts`` in all; ``delay``: seconds before the second, twice as many each time after."""

    attempts: int = 1
    delay: float = 0.0


NO_RETRY = Retry()
#: The characters that make a pattern of the name of a breakpoint.
_GLOB = "*?["


class _Table:
    """One table by names and patterns: names are looked up, patterns are tried one by one."""

    def __init__(self, said: Mapping[str, Any], special: str = EVERY) -> None:
        self.said = said
        found = [key for key in said if any(sign in key for sign in special)]
        self.patterns = sorted(found, key=len, reverse=True)

    def find_matches(self, name: str, type_: str, but: str = "") -> Iterator[Any]:
        """Yield the settings of matching keys, the nearest first; the name ``but`` is none."""
        for key in dict.fromkeys((name, type_)):
            if key in self.said and key != but:
                yield self.said[key]
        for key in self.patterns:
            if key not in (name, type_) and (_is_match(key, name) or _is_match(key, type_)):
                yield self.said[key]


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies by name and type of a resource. Keys are names or patterns with ``*``.

    A name comes before a type, that before patterns, of which the longest comes first; the first
    key that says something about the action counts. ``before``: what was protected by the plan
    before, which this one must not touch either. ``breakpoints``: (pattern of names, hooks).
    ``undoing``: the plan undoes a failed one, so what its template does not have is not protected.
    ``runners``: workflows by what they carry out.
    """

    timeouts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    retries: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    protect: Mapping[str, bool] = field(default_factory=dict)
    before: Mapping[str, bool] = field(default_factory=dict)
    breakpoints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    undoing: bool = False
    runners: Mapping[str, str] = field(default_factory=dict)
    _tables: Mapping[str, _Table] = field(init=False, repr=False, compare=False)
    _hooks: _Table = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = (TIMEOUTS, RETRIES, PROTECT, RUNNERS, "before")
        object.__setattr__(self, "_tables", {name: _Table(getattr(self, name)) for name in names})
        object.__setattr__(self, "_hooks", _Table(dict(self.breakpoints), _GLOB))

    def timeout(self, name: str, type_: str, action: str) -> float | None:
        """Seconds that one action on a resource may take; None: no limit of its own."""
        said = _find_setting(self._tables[TIMEOUTS], name, type_, action)
        return None if said is None else float(said)

    def wait(self, name: str, type_: str, hook: str) -> float | None:
        """Seconds after which a breakpoint is cleared by itself; None: never."""
        for said in self._tables[TIMEOUTS].find_matches(name, type_):
            if hook in said:
                return float(said[hook])
        return None

    def retry(self, name: str, type_: str, action: str) -> Retry:
        """The number of attempts of an action on a resource, and their delay."""
        said = _find_setting(self._tables[RETRIES], name, type_, action)
        return NO_RETRY if said is None else Retry(int(said[0]), said[1])

    def workflow(self, name: str, type_: str) -> str | None:
        """The workflow that carries a resource out, where one is named."""
        return next(self._tables[RUNNERS].find_matches(name, type_), None)

    def protects(self, name: str, type_: str) -> bool:
        """Whether a resource may be neither deleted nor replaced."""
        return any(
            next(self._tables[key].find_matches(name, type_, but=STACK), False)
            for key in (PROTECT, "before")
        )

    @property
    def protects_stack(self) -> bool:
        """Whether the stack may not be deleted."""
        return bool(self.protect.get(STACK))

    @property
    def protects_any(self) -> bool:
        """Whether anything is protected."""
        return any(self.protect.values()) or any(self.before.values())

    def hooks(self, name: str) -> frozenset[str]:
        """The breakpoints of a resource: ``pre-create``, ..."""
        found = [self._hooks.said.get(name, ())]
        patterns = self._hooks.patterns
        found += [self._hooks.said[key] for key in patterns if fnmatchcase(name, key)]
        return frozenset(hook for hooks in found for hook in hooks)

    def continue_from(self, previous: Policies) -> Policies:
        """These policies for the plan that follows one with ``previous``.

        What was protected before that is so still where it has not worked (else it was dropped)
        and has said nothing of it.
        """
        before = {**previous.before, **previous.protect}
        return replace(self, before=before, undoing=False)

    def to_undo_policies(self) -> Policies:
        """The policies for the plan that undoes the one which followed theirs."""
        return replace(self, undoing=self.protects_any)

    def to_removal_policies(self) -> Policies:
        """The policies for the removal of everything that these policies were for."""
        return Policies(self.timeouts, self.retries, runners=self.runners)

    def to_text(self) -> str:
        """For a column; '' if nothing is said."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return json.dumps(values) if any(values.values()) else ""


def build_policies(own: Mapping[str, Any], breakpoints: Mapping[str, tuple[str, ...]]) -> Policies:
    """Build the policies of an environment: its normal section and the hooks of its registry."""
    return Policies(
        own.get(TIMEOUTS, {}),
        own.get(RETRIES, {}),
        own.get(PROTECT, {}),
        breakpoints=tuple(breakpoints.items()),
        runners=own.get(RUNNERS, {}),
    )


@lru_cache(maxsize=64)
def parse_policies(text: str) -> Policies:
    """Parse the text of ``to_text``."""
    if not text:
        return Policies()
    values = json.loads(text)
    values["breakpoints"] = tuple((name, tuple(hooks)) for name, hooks in values["breakpoints"])
    return Policies(**values)


def _find_setting(table: _Table, name: str, type_: str, action: str) -> Any:
    for said in table.find_matches(name, type_):
        if action in said:
            return said[action]
        if EVERY in said:
            return said[EVERY]
    return None


@lru_cache(maxsize=1024)
def _is_match(pattern: str, text: str) -> bool:
    """Whether ``text`` fits ``pattern``, in which only ``*`` is special."""
    first, *rest = pattern.split(EVERY)
    if not rest:
        return text == pattern
    if not text.startswith(first) or not text.endswith(rest[-1]):
        return False
    position, end = len(first), len(text) - len(rest[-1])
    for part in rest[:-1]:
        found = text.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return position <= end
