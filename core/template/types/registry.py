"""The registry of types: the class or the template of a type name, for a resource.

Called by ``loader`` for every resource, and by whoever walks a tree of templates. Entries of the
environment come before the types that plug-ins bring; among them, those for the resource's own
name come first, then the alphabet decides, so that ``My::*`` beats ``My::Thing``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.sanitize import escape_control_chars

from ..capabilities.selection import Candidate, Selection, TemplateSelector, explain_rejection
from ..source.bundle import Bundle
from ..source.diagnostics import ALIAS_RING, TYPE_TEMPLATE, TYPE_UNKNOWN, suggestion
from .declared_types import DeclaredTypes
from .registry_rules import (
    BASE_URL,
    HOOKS,
    RESOURCES,
    RESTRICTED,
    SECTION,
    Entry,
    find_entry_faults,
    find_nested_faults,
    find_rule_faults,
    is_template,
    make_fault,
    to_words,
)

__all__ = ["HOOKS", "RESOURCES", "RESTRICTED", "SECTION", "Choice", "Registry", "is_template"]

_NO_TEXTS = DeclaredTypes({}, Bundle(""), 0)

#: The key in ``Bundle.files`` of a file by its name in one template.
KeyOf = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Choice:
    """The meaning of a type for a resource: a class, or a template by its key in ``Bundle.files``.

    ``type_name``: as the template has it; ``meant``: the name that led to the class or template.
    ``rules``: the entries that were followed, in order; none where the type is a plug-in's own, or
    a file. ``selections``: the lists among them, judged.
    """

    type_name: str
    meant: str
    cls: type[Resource] | None
    template_file: str | None
    rules: tuple[Entry, ...] = ()
    selections: tuple[Selection, ...] = ()


class Registry:
    """The environment's entries in front of the types of the plug-ins."""

    def __init__(
        self,
        types: Mapping[str, type[Resource]],
        why_none: Callable[[str], str] | None = None,
        candidates: TemplateSelector | None = None,
        key_of: KeyOf = str,
        texts: DeclaredTypes | None = None,
    ) -> None:
        """``why_none`` says why there is no type of a name, where a plug-in is to blame.

        ``key_of`` gives the key of a file by its name in the template; ``texts`` are the types
        among the files.
        """
        self._types = types
        self._why_none = why_none
        self._candidates = candidates or TemplateSelector()
        self._key_of = key_of
        self.texts = texts or _NO_TEXTS
        #: Makes the class of a template from its key in the files.
        self.templates: Callable[[str], type[Resource]] = _refuse_template
        self.entries: list[Entry] = []
        self._rules: list[tuple[str, dict[str, Any]]] = []
        self._levels: dict[str, tuple[Mapping[str, Any], Path]] = {}
        self._cache: dict[str, Choice] = {}
        self._index: Index | None = None

    def read(self, data: Mapping[str, Any], errors: list[TemplateError]) -> None:
        """Take the section ``resource_registry`` of an environment."""
        for name, target in data.items():
            if name == RESOURCES:
                self._read_resources(target, (SECTION, RESOURCES), errors)
            elif name != BASE_URL:
                self._add(name, target, (SECTION, name), None, errors)
            elif target is not None and not isinstance(target, str):
                errors.append(make_fault("base_url must be text", target, (SECTION, name)))
        self._sort()

    def _sort(self) -> None:
        self.entries = sorted(self.entries, key=lambda entry: (entry.resource is None, entry.name))

    def _read_resources(self, data: Any, at: Path, errors: list[TemplateError]) -> None:
        if data is not None and not isinstance(data, Mapping):
            errors.append(make_fault("resources must be a map", data, at))
            return
        for resource, lines in (data or {}).items():
            here = (*at, resource)
            if lines is None:  # takes back what nobody has said
                continue
            if not isinstance(lines, Mapping):
                errors.append(make_fault("entries for a resource must be a map", lines, here))
                continue
            self._read_resource(str(resource), lines, here, errors)

    def _read_resource(
        self, resource: str, lines: Mapping[str, Any], at: Path, errors: list[TemplateError]
    ) -> None:
        self._levels[resource] = (lines, at)
        rules = {key: to_words(lines[key]) for key in (HOOKS, RESTRICTED) if key in lines}
        errors.extend(find_rule_faults(lines, at))
        self._rules.append((resource, rules))
        for name, target in lines.items():
            if name not in (HOOKS, RESTRICTED, BASE_URL):
                self._add(name, target, (*at, name), resource, errors)

    def _add(
        self, name: Any, target: Any, at: Path, resource: str | None, errors: list[TemplateError]
    ) -> None:
        if target is None:
            self._remove(name, resource)
        elif isinstance(target, Mapping):
            # Heat takes a map for a level of its own, in which no type is ever looked for; hooks of
            # a nested stack's resources may stand there.
            errors.extend(find_nested_faults(target, at))
        else:
            found = list(find_entry_faults(name, target, at))
            errors.extend(found)
            if not found:
                self.entries.append(Entry(name, target, at, resource))

    def _remove(self, name: Any, resource: str | None) -> None:
        """Take back what was said before: one entry, or all that a pattern covers."""
        start = name[:-1] if isinstance(name, str) and name.endswith("*") else None

        def goes(entry: Entry) -> bool:
            covered = entry.name == name if start is None else entry.name.startswith(start)
            return covered and entry.resource == resource

        self.entries = [entry for entry in self.entries if not goes(entry)]

    def choose(self, type_: str, resource: str = "") -> Choice:
        """Choose the meaning of ``type_`` for ``resource``; raises TemplateError where it has none.

        Lists are narrowed down to one by what the environments require.
        """
        found = self.find(type_, resource)
        if found is None:
            raise self._explain_unknown(type_, resource)
        return found

    def find(self, type_: str, resource: str = "") -> Choice | None:
        """Find the meaning of ``type_``, or None; raises TemplateError for a ring or a list."""
        known = self._cache.get(type_)
        if known is not None:
            return known
        found = _Search(self, type_, resource, self._key_of).run(type_, (), ())
        if found is not None and not self._current_index.has_own:
            self._cache[type_] = found
        return found

    def resolve(self, type_: str, resource: str) -> type[Resource]:
        """Resolve ``type_`` for ``resource`` to its class; raises TemplateError."""
        choice = self.choose(type_, resource)
        return choice.cls or self.templates(choice.template_file or "")

    def find_facade(self, type_: str, resource: str) -> type[Resource] | None:
        """Find the class that ``type_`` would have without the entry that is chosen for it."""
        chosen = self.choose(type_, resource).rules[:1]
        try:
            found = _Search(self, type_, resource, self._key_of, chosen).run(type_, (), ())
        except TemplateError:  # what is not chosen need not be usable
            return None
        return None if found is None else found.cls or self.templates(found.template_file or "")

    def _explain_unknown(self, type_: str, resource: str) -> TemplateError:
        meant, entry = self._find_dead_end(type_, resource)
        return TemplateError(
            f"The Resource Type ({escape_control_chars(type_)}) could not be found.",
            at=entry.at if entry else (),
            code=TYPE_UNKNOWN,
            hint=self._build_hint(type_, meant),
        )

    def _build_hint(self, type_: str, meant: str) -> str:
        blamed = self._why_none(meant) if self._why_none is not None else ""
        if meant in blamed:  # a plug-in brings it, and it cannot be used
            return blamed
        found = suggestion(meant, self.names())
        if not found and meant != type_:
            found = f"The environment maps it to {meant}, which is no type."
        found = found or self._build_pattern_hint(meant)
        return f"{found} {blamed}".strip()

    def _build_pattern_hint(self, meant: str) -> str:
        """Build a hint on a pattern that would fit, if patterns could stand for templates."""
        for entry in self.entries:
            if entry.is_pattern and entry.unusable_reason and meant.startswith(entry.name[:-1]):
                return f"The entry {entry.name} does not apply: {entry.unusable_reason}."
        return ""

    def find_matches(self, type_: str, resource: str) -> Iterator[Entry]:
        """Yield the entries for a name; the first one that leads somewhere counts."""
        near_ones = self._current_index.near(type_)
        return (entry for entry in near_ones if entry.matches(type_, resource))

    @property
    def _current_index(self) -> Index:
        index = self._index
        if index is None or index.entries is not self.entries:
            index = self._index = Index.of(self.entries)
        return index

    def _find_dead_end(self, type_: str, resource: str) -> tuple[str, Entry | None]:
        """Follow the first entries to their end: the last name, and the last entry."""
        meant, last = type_, None
        while (entry := next(self.find_matches(meant, resource), None)) is not None:
            target = entry.find_target(meant)
            last = entry
            if not isinstance(target, str):
                break
            meant = target
        return meant, last

    def derive_nested(
        self, names: Iterable[str], without: Collection[str], key_of: KeyOf = str
    ) -> Registry:
        """The registry of a nested stack that the resources ``names`` lead to, from here on.

        ``without``: the names of entries that do not apply there: the rule that chose a template
        does not apply inside it, so that a template may stand for a type and use it. Entries below
        a resource's name are for the resources inside. ``key_of``: for names of files there.
        """
        made = Registry(self._types, self._why_none, self._candidates, key_of, self.texts)
        made.templates = self.templates
        made.entries = [
            entry for entry in self.entries if entry.resource is None and entry.name not in without
        ]
        levels = self._levels
        for name in names:
            levels = dict(_list_next_levels(levels, name))
        for name, (lines, at) in levels.items():
            made._read_resource(name, lines, at, [])
        if levels:
            made._sort()
        else:  # they are in order, as they were here
            made._index = self._current_index.drop_names(without, made.entries)
        return made

    @property
    def has_levels(self) -> bool:
        """Whether there are entries for single resources, or for those inside them."""
        return bool(self._levels)

    def find_hidden_entries(self) -> Iterator[tuple[Entry, Entry]]:
        """Find entries that never apply, each with the one that always comes before it."""
        patterns: list[Entry] = []
        for entry in self.entries:
            if entry.is_pattern and not entry.unusable_reason:
                patterns.append(entry)
                continue
            stronger = next((each for each in patterns if self._hides(each, entry)), None)
            if stronger is not None:
                yield entry, stronger

    def _hides(self, pattern: Entry, entry: Entry) -> bool:
        """Whether ``pattern`` covers ``entry`` and leads somewhere, so that it is the one taken."""
        target = pattern.find_target(entry.name)
        return pattern.covers(entry) and isinstance(target, str) and target in self._types

    @property
    def types(self) -> Mapping[str, type[Resource]]:
        """The types of the plug-ins."""
        return self._types

    @property
    def candidates(self) -> TemplateSelector:
        """The selector for the items of lists."""
        return self._candidates

    def names(self) -> list[str]:
        """The names of all types that a template may use."""
        return sorted({*self._types, *(entry.name for entry in self.entries)})

    def list_restricted_actions(self, resource: str) -> frozenset[str]:
        """``update`` and ``replace``, as far as they are forbidden for a resource."""
        return frozenset(self._list_rules(RESTRICTED, resource))

    @property
    def breakpoints(self) -> dict[str, tuple[str, ...]]:
        """The hooks by name, or pattern of names."""
        found: dict[str, tuple[str, ...]] = {}
        for pattern, rules in self._rules:
            if rules.get(HOOKS):
                found[pattern] = (*found.get(pattern, ()), *rules[HOOKS])
        return found

    def _list_rules(self, key: str, resource: str) -> Iterator[str]:
        for pattern, rules in self._rules:
            if pattern == resource or fnmatchcase(resource, pattern):
                yield from rules.get(key, ())


def _list_next_levels(
    levels: Mapping[str, tuple[Mapping[str, Any], Path]], resource: str
) -> Iterator[tuple[str, tuple[Mapping[str, Any], Path]]]:
    """List the levels for the resources inside ``resource``."""
    for pattern, (lines, at) in levels.items():
        if pattern == resource or fnmatchcase(resource, pattern):
            for name, level in lines.items():
                if isinstance(level, Mapping):
                    yield str(name), (level, (*at, name))


class _Search:
    """One search for the meaning of a type: the first entry that leads to something counts."""

    def __init__(
        self,
        registry: Registry,
        type_: str,
        resource: str,
        key_of: KeyOf,
        without: Collection[Entry] = (),
    ) -> None:
        self._registry = registry
        self._without = without
        self._type = type_
        self._resource = resource
        self._key_of = key_of
        self._dead: set[str] = set()

    def run(
        self, meant: str, used: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice | None:
        """Follow ``meant`` to its choice or None. Raises TemplateError for a ring or a list."""
        if meant in self._dead:
            return None
        for entry in self._registry.find_matches(meant, self._resource):
            if entry in self._without:
                continue
            if entry in used:
                raise _make_ring_error(self._type, used, entry)
            target = entry.find_target(meant)
            rules = (*used, entry)
            if isinstance(target, list):
                return self._choose_from_list(entry, meant, rules, judged)
            found = self._look_up(target, meant, rules, judged)
            if found is not None:
                return found
        found = self._choose_own(meant, used, judged)
        if found is None:
            self._dead.add(meant)
        return found

    def _look_up(
        self, target: str, meant: str, rules: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice | None:
        if is_template(target):
            return self._choose_file(target, meant, rules, judged)
        return self.run(target, rules, judged)

    def _choose_file(
        self, key: str, meant: str, rules: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice:
        """A template, or a type that the file declares."""
        cls = self._registry.texts.find_type(key)
        return Choice(self._type, meant, cls, key if cls is None else None, rules, judged)

    def _choose_own(
        self, meant: str, used: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice | None:
        """Choose a plug-in's type, or the file that has this name."""
        if meant in self._registry.types:
            return Choice(self._type, meant, self._registry.types[meant], None, used, judged)
        if is_template(meant):
            return self._choose_file(self._key_of(meant), meant, used, judged)
        return None

    def _choose_from_list(
        self, entry: Entry, meant: str, rules: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice:
        """Choose the one candidate that fits the requirements; raises TemplateError."""
        keys = list(dict.fromkeys(entry.fill_target(item, meant) for item in entry.target))
        choices = {key: self._choose_candidate(key, meant, rules, judged) for key in keys}
        found = [self._describe_candidate(key, choices[key]) for key in keys]
        selection = self._registry.candidates.judge((self._type, meant), found)
        left = [choices[each.key] for each in selection.fitting]
        if len({(each.cls, each.template_file) for each in left if each is not None}) != 1:
            raise explain_rejection(selection, self._resource, entry.at)
        chosen = left[0]
        assert chosen is not None
        return Choice(
            self._type,
            chosen.meant,
            chosen.cls,
            chosen.template_file,
            chosen.rules,
            (*judged, selection, *chosen.selections[len(judged) :]),
        )

    def _choose_candidate(
        self, key: str, meant: str, rules: tuple[Entry, ...], judged: tuple[Selection, ...]
    ) -> Choice | None:
        if key == meant and meant in self._registry.types:
            # The type itself among those that may stand for it is the plug-in's.
            return self._choose_own(meant, rules, judged)
        return self._look_up(key, meant, rules, judged)

    def _describe_candidate(self, key: str, choice: Choice | None) -> Candidate:
        candidates = self._registry.candidates
        if choice is None:
            return candidates.nothing(key)
        if choice.template_file is not None:
            found = candidates.template(choice.template_file)
            return found if is_template(key) else _rename_candidate(found, key)
        assert choice.cls is not None
        found = candidates.plugin(key, choice.cls)
        return _rename_candidate(found, key, candidates.name(key)) if is_template(key) else found


def _rename_candidate(found: Candidate, key: str, name: str = "") -> Candidate:
    return Candidate(key, name or key, found.capabilities, found.problem, found.annotation)


def _make_ring_error(type_: str, used: Iterable[Entry], again: Entry) -> TemplateError:
    names = [*(entry.name for entry in used), again.name]
    return TemplateError(
        f"The Resource Type ({escape_control_chars(type_)}) could not be found: "
        "its aliases form a ring.",
        at=again.at,
        code=ALIAS_RING,
        hint=f"The ring is {' -> '.join(names)}.",
    )


def _refuse_template(file: str) -> type[Resource]:
    """Raise TemplateError: the default where no maker of template classes is set."""
    raise TemplateError(f"The template {file} cannot be used here.", code=TYPE_TEMPLATE)


class Index:
    """Entries by name, since every type is looked up among hundreds of them."""

    def __init__(
        self,
        entries: list[Entry],
        named: dict[str, list[tuple[int, Entry]]],
        patterns: list[tuple[int, Entry]],
        has_own: bool,
    ) -> None:
        self.entries = entries
        self._named = named
        self._patterns = patterns
        #: Whether any entry is for a single resource.
        self.has_own = has_own

    @classmethod
    def of(cls, entries: list[Entry]) -> Index:
        """The index of some entries."""
        named: dict[str, list[tuple[int, Entry]]] = {}
        patterns: list[tuple[int, Entry]] = []
        for place, entry in enumerate(entries):
            if entry.name.endswith("*"):
                patterns.append((place, entry))
            else:
                named.setdefault(entry.name, []).append((place, entry))
        return cls(entries, named, patterns, any(entry.resource for entry in entries))

    def drop_names(self, names: Collection[str], entries: list[Entry]) -> Index | None:
        """Build the index of ``entries``, which lack ``names``; None: build it anew."""
        if self.has_own:  # these are left out, too
            return None
        named = {**self._named}
        for name in names:
            named.pop(name, None)
        patterns = [each for each in self._patterns if each[1].name not in names]
        return Index(entries, named, patterns, has_own=False)

    def near(self, type_: str) -> list[Entry]:
        """The entries that may be for a type, in their order."""
        found = self._named.get(type_, [])
        fitting = [each for each in self._patterns if type_.startswith(each[1].name[:-1])]
        both = sorted([*found, *fitting], key=itemgetter(0)) if fitting else found
        return [entry for _, entry in both]
