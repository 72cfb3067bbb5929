"""Explains which rule of a registry decides what a type means, and why other rules do not.

Called by ``app`` for ``zonda template explain-type``. What is chosen is the registry's matter; here
it is explained, rule by rule and name by name, with the rules that another environment overrules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities.selection import Selection
from zonda.core.template.environment.environment import Environment
from zonda.core.template.source.bundle import Bundle, Limits, to_display_name
from zonda.core.template.source.document import Document
from zonda.core.template.types.registry import RESOURCES, SECTION, Choice, Registry, is_template
from zonda.core.template.types.registry_rules import BASE_URL, HOOKS, RESTRICTED, Entry
from zonda.hooks.errors import Path, Place, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.resources.resource import Resource

from . import environments

#: More names than any chain of aliases has.
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """One examined rule. ``name``: the name that was looked up; ``pattern``: the rule's own name.

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
    """The explanation of one type. ``chain``: the names from the type to the chosen one.

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


def explain_type(
    bundle: Bundle, plugins: Plugins, limits: Limits, type_name: str, resource: str = ""
) -> Explanation:
    """Explain what a type means for a resource; raises ValidationErrors for environments."""
    found = environments.load_environments(bundle, plugins, limits)
    registry, environment = found.registry, found.environment
    error: TemplateError | None = None
    choice: Choice | None = None
    try:
        choice = registry.choose(type_name, resource)
    except TemplateError as fault:
        error = environments.attach_location(fault, environment)
    teller = _RuleExplainer(registry, environment, resource, choice)
    chain, rules = teller.explain_names(type_name)
    made = Explanation(type_name, resource, tuple(chain), tuple(rules), error=error)
    return made if choice is None else _add_choice(made, choice, registry, plugins)


def _add_choice(
    made: Explanation, choice: Choice, registry: Registry, plugins: Plugins
) -> Explanation:
    key = choice.template_file
    cls_name = origin = template = ""
    if key is None:
        assert choice.cls is not None
        cls_name, source = _format_class(choice.cls), choice.cls.declared_by
        origin = str(plugins.origins.get(("resource type", choice.meant), ""))
        if source is not None:
            origin = source.file
    else:
        template = registry.candidates.name(key)
    chosen = (made.type_name, made.resource, made.chain, made.rules, choice.selections)
    return Explanation(*chosen, cls_name, origin, template, to_display_name(key) if key else "")


def _format_class(cls: type[Resource]) -> str:
    """Format a class for users; a declared type by the name that its manifest gives."""
    made = cls.declared_by
    return f"{cls.__module__}.{cls.__qualname__}" if made is None else made.class_type


@dataclass(frozen=True, slots=True)
class _RegistryLine:
    """One line of a registry as it is written in a document."""

    pattern: str
    target: Any
    at: Path
    resource: str | None
    document: Document

    @property
    def place(self) -> Place | None:
        return self.document.place(self.at, key=True)

    def matches(self, name: str) -> bool:
        if self.pattern.endswith("*"):
            return name.startswith(self.pattern[:-1])
        return self.pattern == name

    def covers(self, other: _RegistryLine) -> bool:
        """Whether null in this line removes ``other``."""
        if self.pattern.endswith("*"):
            return other.pattern.startswith(self.pattern[:-1])
        return self.pattern == other.pattern


def _list_lines(environment: Environment) -> Iterator[_RegistryLine]:
    for document in environment.documents:
        registry = document.data.get(SECTION)
        if not isinstance(registry, Mapping):
            continue
        yield from _list_section_lines(registry, (SECTION,), None, document)
        levels = registry.get(RESOURCES)
        for name, lines in levels.items() if isinstance(levels, Mapping) else ():
            if isinstance(lines, Mapping):
                yield from _list_section_lines(
                    lines, (SECTION, RESOURCES, name), str(name), document
                )


def _list_section_lines(
    lines: Mapping[str, Any], at: Path, resource: str | None, document: Document
) -> Iterator[_RegistryLine]:
    for name, target in lines.items():
        if name not in (RESOURCES, HOOKS, RESTRICTED, BASE_URL) and not isinstance(target, Mapping):
            yield _RegistryLine(str(name), target, (*at, name), resource, document)


class _RuleExplainer:
    """Follows a chain of names and explains every rule on the way."""

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
        self._written = list(_list_lines(environment))

    def explain_names(self, type_name: str) -> tuple[list[str], list[Rule]]:
        """List the names from a type on, and the rules that were examined for each."""
        chain = [type_name]
        rules: list[Rule] = []
        taken = list(self._choice.rules) if self._choice is not None else None
        while len(chain) < _LONGEST:
            name = chain[-1]
            followed = self._find_rule(name, taken)
            rules += self._explain_rules(name, followed)
            target = None if followed is None else self._find_next_name(name, followed)
            if target is None or target in chain:
                break
            chain.append(target)
        return chain, rules

    def _find_rule(self, name: str, taken: list[Entry] | None) -> Entry | None:
        """Find the rule that applies to a name: of the choice, else the first that matches."""
        if taken is not None:
            return taken.pop(0) if taken else None
        return next(self._registry.find_matches(name, self._resource), None)

    def _find_next_name(self, name: str, entry: Entry) -> str | None:
        target = entry.find_target(name)
        if isinstance(target, str):
            return None if self._is_last(target) else target
        for selection in self._choice.selections if self._choice is not None else ():
            fitting = selection.fitting
            if selection.type_name == name and fitting:
                key = fitting[0].key
                return None if self._is_last(key) or key == name else key
        return None

    def _is_last(self, key: str) -> bool:
        if self._choice is None:
            return False
        declared = self._choice.cls is not None and is_template(key)
        return declared or key == self._choice.template_file

    def _explain_rules(self, name: str, followed: Entry | None) -> Iterator[Rule]:
        effective = {entry.at: entry for entry in self._registry.entries}
        order = list(self._registry.find_matches(name, self._resource))
        seen = [each for each in self._written if each.matches(name)]
        seen.sort(key=lambda each: (each.resource is None, each.pattern))
        for each in seen:
            entry = effective.get(each.at)
            why = self._explain_overruled(each, entry)
            chosen = not why and entry is followed and entry is not None
            if not why and entry is not None:
                why = self._explain_rule(name, entry, followed, order)
            yield Rule(
                name,
                each.pattern,
                self._format_target(each.target),
                each.resource,
                each.place,
                chosen,
                why,
            )
        yield from self._build_plugin_rule(name, followed)

    def _format_target(self, target: Any) -> Any:
        """Format a target with the display names of files."""
        if isinstance(target, list):
            return [self._format_target(item) for item in target]
        return self._registry.candidates.name(target) if isinstance(target, str) else target

    def _explain_overruled(self, each: _RegistryLine, entry: Entry | None) -> str:
        """Explain why a line never applies, whatever is looked up; '' if it may apply."""
        if each.target is None and self._environment.place(each.at) is not None:
            return "null leaves what another environment says, as with Heat"
        if each.target is None:
            return "null takes back what stands before it"
        last = self._environment.place(each.at)
        if last is not None and last != each.place:
            return f"overruled by {last}"
        return self._explain_removed(each) if entry is None else ""

    def _explain_removed(self, each: _RegistryLine) -> str:
        for other in self._written:
            if other.target is None and other.resource == each.resource and other.covers(each):
                return f"taken back by null at {other.place}"
        return f"a later environment has a section {RESOURCES} of its own"

    def _explain_rule(
        self, name: str, entry: Entry, followed: Entry | None, order: list[Entry]
    ) -> str:
        if entry.unusable_reason:
            return entry.unusable_reason
        if entry.resource is not None and entry.resource != self._resource:
            return f"only for the resource {entry.resource}"
        if entry not in order:
            return "a pattern does not apply to its own target"
        if followed is None or entry is followed:
            return self._explain_applied(name, entry)
        if order.index(entry) < order.index(followed):
            return (
                f"comes first, but {self._format_target(entry.find_target(name))} leads to no type"
            )
        scope = f" (for {followed.resource})" if followed.resource is not None else ""
        return f"comes after {followed.name}{scope}: {_format_precedence(followed, entry)}"

    def _explain_applied(self, name: str, entry: Entry) -> str:
        if self._choice is None:
            return "comes first, and leads nowhere"
        target = entry.find_target(name)
        if isinstance(target, list):
            return f"comes first; one of {len(target)} candidates is left"
        if target != entry.target:
            return f"comes first; * makes it {self._format_target(target)}"
        return "comes first"

    def _build_plugin_rule(self, name: str, followed: Entry | None) -> Iterator[Rule]:
        cls = self._registry.types.get(name)
        if cls is None:
            return
        target = _format_class(cls)
        chosen = self._choice is not None and self._choice.meant == name and followed is None
        if self._choice is not None and self._choice.cls is cls and self._choice.meant == name:
            chosen = True
        why = "no rule of an environment leads elsewhere" if chosen else "environments come first"
        yield Rule(name, name, target, None, None, chosen, why)


def _format_precedence(first: Entry, second: Entry) -> str:
    if first.resource is not None and second.resource is None:
        return "rules for the resource's own name come first"
    return "of several that fit, the first by the alphabet counts"
