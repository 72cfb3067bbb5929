"""Which rule of a registry decides what a type means, and why the others do not.

Called by ``app`` for ``zonda template explain-type``. What is chosen is the registry's matter; here
it is told, rule by rule and name by name, those rules included that another environment overrules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities.selection import Selection
from zonda.core.template.environment.environment import Environment
from zonda.core.template.source.bundle import Bundle, Limits, shown
from zonda.core.template.source.document import Document
from zonda.core.template.types.registry import RESOURCES, SECTION, Choice, Registry, is_template
from zonda.core.template.types.registry_rules import BASE_URL, HOOKS, RESTRICTED, Entry
from zonda.hooks.errors import Path, Place, TemplateError
from zonda.hooks.resources.resource import Resource

from . import environments

#: More names than any chain of aliases has.
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that was looked at. ``name``: what was looked up; ``pattern``: what the rule is for.

    ``target``: what it leads to, as people know it; None for null. ``why``: why it counts or not.
    """

    name: str
    pattern: str
    target: Any
    resource: str | None
    place: Place | None
    chosen: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All about one type. ``chain``: the names from the type to what is chosen.

    One of ``cls_name`` (with ``origin``: the plug-in), ``template`` (with ``template_key``) and
    ``error`` is there.
    """

    type_name: str
    resource: str
    chain: tuple[str, ...]
    rules: tuple[Rule, ...]
    selections: tuple[Selection, ...] = ()
    cls_name: str = ""
    origin: str = ""
    template: str = ""
    template_key: str = ""
    error: TemplateError | None = None


def explain(
    bundle: Bundle, plugins: Plugins, limits: Limits, type_name: str, resource: str = ""
) -> Explanation:
    """Why a type means what it means for a resource; raises ValidationErrors for environments."""
    found = environments.read(bundle, plugins, limits)
    registry, environment = found.registry, found.environment
    error: TemplateError | None = None
    choice: Choice | None = None
    try:
        choice = registry.choose(type_name, resource)
    except TemplateError as fault:
        error = environments.placed(fault, environment)
    teller = _Teller(registry, environment, resource, choice)
    chain, rules = teller.told(type_name)
    made = Explanation(type_name, resource, tuple(chain), tuple(rules), error=error)
    return made if choice is None else _chosen(made, choice, registry, plugins)


def _chosen(made: Explanation, choice: Choice, registry: Registry, plugins: Plugins) -> Explanation:
    key = choice.template_file
    cls_name = origin = template = ""
    if key is None:
        assert choice.cls is not None
        cls_name, source = _named(choice.cls), choice.cls.declared_by
        origin = str(plugins.origins.get(("resource type", choice.meant), ""))
        if source is not None:
            origin = source.file
    else:
        template = registry.candidates.name(key)
    chosen = (made.type_name, made.resource, made.chain, made.rules, choice.selections)
    return Explanation(*chosen, cls_name, origin, template, shown(key) if key else "")


def _named(cls: type[Resource]) -> str:
    """A class for people; of one that was made of a text, what the text calls it."""
    made = cls.declared_by
    return f"{cls.__module__}.{cls.__qualname__}" if made is None else made.class_type


@dataclass(frozen=True, slots=True)
class _Written:
    """One line of a registry as a document has it."""

    pattern: str
    target: Any
    at: Path
    resource: str | None
    document: Document

    @property
    def place(self) -> Place | None:
        return self.document.place(self.at, key=True)

    def concerns(self, name: str) -> bool:
        if self.pattern.endswith("*"):
            return name.startswith(self.pattern[:-1])
        return self.pattern == name

    def covers(self, other: _Written) -> bool:
        """Whether null here takes ``other`` back."""
        if self.pattern.endswith("*"):
            return other.pattern.startswith(self.pattern[:-1])
        return self.pattern == other.pattern


def _written(environment: Environment) -> Iterator[_Written]:
    for document in environment.documents:
        registry = document.data.get(SECTION)
        if not isinstance(registry, Mapping):
            continue
        yield from _lines(registry, (SECTION,), None, document)
        levels = registry.get(RESOURCES)
        for name, lines in levels.items() if isinstance(levels, Mapping) else ():
            if isinstance(lines, Mapping):
                yield from _lines(lines, (SECTION, RESOURCES, name), str(name), document)


def _lines(
    lines: Mapping[str, Any], at: Path, resource: str | None, document: Document
) -> Iterator[_Written]:
    for name, target in lines.items():
        if name not in (RESOURCES, HOOKS, RESTRICTED, BASE_URL) and not isinstance(target, Mapping):
            yield _Written(str(name), target, (*at, name), resource, document)


class _Teller:
    """Goes from name to name and tells of every rule on the way."""

    def __init__(
        self,
        registry: Registry,
        environment: Environment,
        resource: str,
        choice: Choice | None,
    ) -> None:
        self._registry = registry
        self._environment = environment
        self._resource = resource
        self._choice = choice
        self._written = list(_written(environment))

    def told(self, type_name: str) -> tuple[list[str], list[Rule]]:
        """The names from a type on, and the rules that were looked at for each."""
        chain = [type_name]
        rules: list[Rule] = []
        taken = list(self._choice.rules) if self._choice is not None else None
        while len(chain) < _LONGEST:
            name = chain[-1]
            followed = self._followed(name, taken)
            rules += self._rules(name, followed)
            target = None if followed is None else self._next(name, followed)
            if target is None or target in chain:
                break
            chain.append(target)
        return chain, rules

    def _followed(self, name: str, taken: list[Entry] | None) -> Entry | None:
        """The rule that counts for a name: of the choice, else the first that fits."""
        if taken is not None:
            return taken.pop(0) if taken else None
        return next(self._registry.matching(name, self._resource), None)

    def _next(self, name: str, entry: Entry) -> str | None:
        target = entry.meant(name)
        if isinstance(target, str):
            return None if self._ends(target) else target
        for selection in self._choice.selections if self._choice is not None else ():
            fitting = selection.fitting
            if selection.type_name == name and fitting:
                key = fitting[0].key
                return None if self._ends(key) or key == name else key
        return None

    def _ends(self, key: str) -> bool:
        if self._choice is None:
            return False
        declared = self._choice.cls is not None and is_template(key)
        return declared or key == self._choice.template_file

    def _rules(self, name: str, followed: Entry | None) -> Iterator[Rule]:
        effective = {entry.at: entry for entry in self._registry.entries}
        order = list(self._registry.matching(name, self._resource))
        seen = [each for each in self._written if each.concerns(name)]
        seen.sort(key=lambda each: (each.resource is None, each.pattern))
        for each in seen:
            entry = effective.get(each.at)
            why = self._overruled(each, entry)
            if not why and entry is not None:
                why = self._why(name, entry, followed, order)
            chosen = not self._overruled(each, entry) and entry is followed and entry is not None
            yield Rule(
                name,
                each.pattern,
                self._shown(each.target),
                each.resource,
                each.place,
                chosen,
                why,
            )
        yield from self._plugin_rule(name, followed)

    def _shown(self, target: Any) -> Any:
        """A target with files as people know them."""
        if isinstance(target, list):
            return [self._shown(item) for item in target]
        return self._registry.candidates.name(target) if isinstance(target, str) else target

    def _overruled(self, each: _Written, entry: Entry | None) -> str:
        """Why a line counts nowhere, whatever is looked up; empty if it does."""
        if each.target is None and self._environment.place(each.at) is not None:
            return "null leaves what another environment says, as with Heat"
        if each.target is None:
            return "null takes back what stands before it"
        last = self._environment.place(each.at)
        if last is not None and last != each.place:
            return f"overruled by {last}"
        return self._taken_back(each) if entry is None else ""

    def _taken_back(self, each: _Written) -> str:
        for other in self._written:
            if other.target is None and other.resource == each.resource and other.covers(each):
                return f"taken back by null at {other.place}"
        return f"a later environment has a section {RESOURCES} of its own"

    def _why(self, name: str, entry: Entry, followed: Entry | None, order: list[Entry]) -> str:
        if entry.never:
            return entry.never
        if entry.resource is not None and entry.resource != self._resource:
            return f"only for the resource {entry.resource}"
        if entry not in order:
            return "a pattern does not apply to its own target"
        if followed is None or entry is followed:
            return self._why_followed(name, entry)
        if order.index(entry) < order.index(followed):
            return f"comes first, but {self._shown(entry.meant(name))} leads to no type"
        return f"comes after {followed.name}{_for(followed)}: {_reason(followed, entry)}"

    def _why_followed(self, name: str, entry: Entry) -> str:
        if self._choice is None:
            return "comes first, and leads nowhere"
        target = entry.meant(name)
        if isinstance(target, list):
            return f"comes first; one of {len(target)} candidates is left"
        if target != entry.target:
            return f"comes first; * makes it {self._shown(target)}"
        return "comes first"

    def _plugin_rule(self, name: str, followed: Entry | None) -> Iterator[Rule]:
        cls = self._registry.types.get(name)
        if cls is None:
            return
        target = _named(cls)
        chosen = self._choice is not None and self._choice.meant == name and followed is None
        if self._choice is not None and self._choice.cls is cls and self._choice.meant == name:
            chosen = True
        why = "no rule of an environment leads elsewhere" if chosen else "environments come first"
        yield Rule(name, name, target, None, None, chosen, why)


def _for(entry: Entry) -> str:
    return f" (for {entry.resource})" if entry.resource is not None else ""


def _reason(first: Entry, second: Entry) -> str:
    if first.resource is not None and second.resource is None:
        return "rules for the resource's own name come first"
    return "of several that fit, the first by the alphabet counts"
