"""The registry of types: which class a type name means for a resource.

Called by ``resources`` for every resource. Entries of the environment come before the types that
plug-ins bring; among them, those for the resource's own name come first, then the alphabet
decides, so that ``My::*`` beats ``My::Thing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.resource import Resource

from .faults import ALIAS_RING, REGISTRY, TYPE_TEMPLATE, TYPE_UNKNOWN, near, type_name
from .own_section import BREAKPOINTS as _HOOKS

SECTION = "resource_registry"
RESOURCES = "resources"
HOOKS = "hooks"
RESTRICTED = "restricted_actions"

_RESTRICTIONS = ("update", "replace")
_TEMPLATE_SUFFIXES = (".yaml", ".template")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the registry: a name (maybe ending in ``*``), its target, where it stands."""

    name: str
    target: Any
    at: Path
    resource: str | None = None

    def matches(self, type_: str, resource: str) -> bool:
        if self.resource is not None:
            # Heat looks for the very type there: a ``*`` is no wildcard below a resource's name.
            return self.resource == resource and type_ == self.name
        if self.name.endswith("*"):
            return type_ != self.target and type_.startswith(self.name[:-1])
        return type_ == self.name

    def covers(self, other: _Entry) -> bool:
        """Whether every type that ``other`` is for is this entry's, too; for resources as well."""
        same = self.resource is None or self.resource == other.resource
        return same and other.name.startswith(self.name[:-1])

    def meant(self, type_: str) -> Any:
        """The target for ``type_``, where a ``*`` stands for the rest of the name."""
        pattern = self.resource is None and self.name.endswith("*")
        if not pattern or not isinstance(self.target, str) or not self.target.endswith("*"):
            return self.target
        return self.target[:-1] + type_[len(self.name) - 1 :]


def is_template(type_: str) -> bool:
    """Whether a type name or a registry's value names a template file."""
    return type_.endswith(_TEMPLATE_SUFFIXES)


class Registry:
    """The environment's entries in front of the types of the plug-ins."""

    def __init__(
        self, types: Mapping[str, type[Resource]], why_none: Callable[[str], str] | None = None
    ) -> None:
        """``why_none`` says why there is no type of a name, where a plug-in is to blame."""
        self._types = types
        self._why_none = why_none
        self._entries: list[_Entry] = []
        self._rules: list[tuple[str, dict[str, Any]]] = []
        self._cache: dict[tuple[str, str], type[Resource]] = {}

    def read(self, data: Mapping[str, Any], errors: list[TemplateError]) -> None:
        """Take the section ``resource_registry`` of an environment."""
        for name, target in data.items():
            if name == RESOURCES:
                self._read_resources(target, errors)
            else:
                self._add(name, target, (SECTION, name), None, errors)
        self._entries.sort(key=lambda entry: (entry.resource is None, entry.name))

    def _read_resources(self, data: Any, errors: list[TemplateError]) -> None:
        if not isinstance(data, Mapping):
            errors.append(_fault("resources must be a map", data, (SECTION, RESOURCES)))
            return
        for resource, lines in data.items():
            at = (SECTION, RESOURCES, resource)
            if not isinstance(lines, Mapping):
                errors.append(_fault("entries for a resource must be a map", lines, at))
                continue
            rules = {key: _words(lines[key]) for key in (HOOKS, RESTRICTED) if key in lines}
            errors.extend(_rule_faults(lines, at))
            self._rules.append((str(resource), rules))
            for name, target in lines.items():
                if name not in (HOOKS, RESTRICTED):
                    self._add(name, target, (*at, name), str(resource), errors)

    def _add(
        self, name: Any, target: Any, at: Path, resource: str | None, errors: list[TemplateError]
    ) -> None:
        if target is None:
            self._remove(name, resource)
        elif isinstance(target, Mapping):
            # Heat takes a map for a level of its own, in which no type is ever looked for; hooks of
            # a nested stack's resources may stand there.
            errors.extend(_nested_faults(target, at))
        elif not isinstance(name, str):
            errors.append(_fault("a type's name must be text", name, at))
        elif not isinstance(target, str | list):
            errors.append(_fault("a type maps to a type's name or a file", target, at))
        else:
            self._entries.append(_Entry(name, target, at, resource))

    def _remove(self, name: Any, resource: str | None) -> None:
        """Take back what was said before: one entry, or all that a pattern covers."""
        start = name[:-1] if isinstance(name, str) and name.endswith("*") else None

        def goes(entry: _Entry) -> bool:
            covered = entry.name == name if start is None else entry.name.startswith(start)
            return covered and entry.resource == resource

        self._entries = [entry for entry in self._entries if not goes(entry)]

    def resolve(self, type_: str, resource: str) -> type[Resource]:
        """The class that ``type_`` means for ``resource``; raises TemplateError."""
        known = self._cache.get((type_, ""))
        if known is not None:
            return known
        found = self._follow(type_, resource)
        if not any(entry.resource for entry in self._entries):
            self._cache[type_, ""] = found
        return found

    def _follow(self, type_: str, resource: str) -> type[Resource]:
        found = self._search(type_, type_, resource, (), set())
        if found is not None:
            return found
        meant, entry = self._dead_end(type_, resource)
        raise TemplateError(
            f"The Resource Type ({type_}) could not be found.",
            at=entry.at if entry else (),
            code=TYPE_UNKNOWN,
            hint=self._hint(type_, meant),
        )

    def _hint(self, type_: str, meant: str) -> str:
        blamed = self._why_none(meant) if self._why_none is not None else ""
        if meant in blamed:  # a plug-in brings it, and it cannot be used
            return blamed
        found = near(meant, self.names()) or _alias_hint(type_, meant)
        return f"{found} {blamed}".strip()

    def _search(
        self, meant: str, type_: str, resource: str, used: tuple[_Entry, ...], dead: set[str]
    ) -> type[Resource] | None:
        """The class for ``meant``, by the first entry that leads to one, else that of a plug-in.

        ``dead`` are names that lead nowhere. Raises TemplateError for a ring and for a template.
        """
        if meant in dead:
            return None
        for entry in self._matching(meant, resource):
            if entry in used:
                raise _ring(type_, used, entry)
            target = entry.meant(meant)
            if not isinstance(target, str) or is_template(target):
                raise _no_templates(type_, target)
            found = self._search(target, type_, resource, (*used, entry), dead)
            if found is not None:
                return found
        if meant in self._types:
            return self._types[meant]
        if is_template(meant):
            raise _no_templates(type_, meant)
        dead.add(meant)
        return None

    def _matching(self, type_: str, resource: str) -> Iterator[_Entry]:
        return (entry for entry in self._entries if entry.matches(type_, resource))

    def _dead_end(self, type_: str, resource: str) -> tuple[str, _Entry | None]:
        """Where the first entries lead, and the last of them."""
        meant, last = type_, None
        while (entry := next(self._matching(meant, resource), None)) is not None:
            meant, last = entry.meant(meant), entry
        return meant, last

    def hidden_entries(self) -> Iterator[tuple[_Entry, _Entry]]:
        """Entries that never apply, each with the one that always comes before it."""
        patterns: list[_Entry] = []
        for entry in self._entries:
            if entry.name.endswith("*"):
                patterns.append(entry)
                continue
            stronger = next((each for each in patterns if self._hides(each, entry)), None)
            if stronger is not None:
                yield entry, stronger

    def _hides(self, pattern: _Entry, entry: _Entry) -> bool:
        """Whether ``pattern`` covers ``entry`` and leads somewhere, so that it is the one taken."""
        target = pattern.meant(entry.name)
        return pattern.covers(entry) and isinstance(target, str) and target in self._types

    def names(self) -> list[str]:
        """Every type's name that a template may use."""
        return sorted({*self._types, *(entry.name for entry in self._entries)})

    def restricted_actions(self, resource: str) -> frozenset[str]:
        """``update`` and ``replace``, as far as they are forbidden for a resource."""
        return frozenset(self._rule(RESTRICTED, resource))

    def hooks(self, resource: str) -> frozenset[str]:
        """The hooks (``pre-create``, ...) that are set for a resource."""
        return frozenset(self._rule(HOOKS, resource))

    @property
    def breakpoints(self) -> dict[str, tuple[str, ...]]:
        """The hooks by name, or pattern of names."""
        found: dict[str, tuple[str, ...]] = {}
        for pattern, rules in self._rules:
            if rules.get(HOOKS):
                found[pattern] = (*found.get(pattern, ()), *rules[HOOKS])
        return found

    def _rule(self, key: str, resource: str) -> Iterator[str]:
        for pattern, rules in self._rules:
            if pattern == resource or fnmatchcase(resource, pattern):
                yield from rules.get(key, ())


def _words(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _nested_faults(level: Mapping[str, Any], at: Path) -> Iterator[TemplateError]:
    yield from _rule_faults(level, at)
    for key, value in level.items():
        if isinstance(value, Mapping):
            yield from _nested_faults(value, (*at, key))


def _rule_faults(rules: Mapping[str, Any], at: Path) -> Iterator[TemplateError]:
    """Words that are no hooks or no actions, in Heat's sentences."""
    for key, known, text, heat_type in (
        (
            HOOKS,
            _HOOKS,
            'Invalid hook type "{}" for resource breakpoint, acceptable hook types are: {}',
            "InvalidBreakPointHook",
        ),
        (
            RESTRICTED,
            _RESTRICTIONS,
            'Invalid restricted_action type "{}" for resource, '
            "acceptable restricted_action types are: {}",
            "InvalidRestrictedAction",
        ),
    ):
        wrong = [word for word in _words(rules.get(key, [])) if word not in known]
        if wrong:
            yield TemplateError(
                text.format(rules[key], known),
                at=(*at, key),
                code=REGISTRY,
                heat_type=heat_type,
                hint=near(wrong[0], known),
            )


def _fault(wanted: str, value: Any, at: Path) -> TemplateError:
    return TemplateError(
        f"resource_registry: {wanted}, not a {type_name(value)}",
        at=at,
        code=REGISTRY,
        heat_type="ValueError",
    )


def _ring(type_: str, used: Iterable[_Entry], again: _Entry) -> TemplateError:
    names = [*(entry.name for entry in used), again.name]
    return TemplateError(
        f"The Resource Type ({type_}) could not be found: its aliases form a ring.",
        at=again.at,
        code=ALIAS_RING,
        hint=f"The ring is {' -> '.join(names)}.",
    )


def _alias_hint(type_: str, meant: str) -> str:
    return f"The environment maps it to {meant}, which is no type." if meant != type_ else ""


def _no_templates(type_: str, meant: Any) -> TemplateError:
    """The one place that refuses templates as types, until there are nested stacks."""
    return TemplateError(
        f"The Resource Type ({type_}) is a template ({meant}); "
        "templates as types are not supported yet.",
        code=TYPE_TEMPLATE,
    )
