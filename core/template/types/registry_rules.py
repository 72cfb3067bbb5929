"""One entry of the registry of types, how it is read, and the faults of malformed entries.

Called by ``registry``. An entry knows its name, its target and where it stands; which of several
counts is not its matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.records import dataclass

from ..environment.zonda_section import BREAKPOINTS as _HOOKS
from ..source.diagnostics import REGISTRY, format_type_name, suggestion

SECTION = "resource_registry"
RESOURCES = "resources"
HOOKS = "hooks"
RESTRICTED = "restricted_actions"
#: The key of the folder or address that relative files are relative to, if not the document.
BASE_URL = "base_url"

_RESTRICTIONS = ("update", "replace")
TEMPLATE_SUFFIXES = (".yaml", ".template")


def is_template(type_: str) -> bool:
    """Whether a type name or a registry's value names a template file.

    ``Ansible::ansible.builtin.template`` is a type: a file's name with ``::`` has a folder before.
    """
    return type_.endswith(TEMPLATE_SUFFIXES) and ("::" not in type_ or "/" in type_)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the registry: a name (maybe ending in ``*``), its target, where it stands.

    ``target``: a type's name, a template's key, or a list of such. ``resource``: the one resource
    that it is for.
    """

    name: str
    target: Any
    at: Path
    resource: str | None = None

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for many names. Below a resource's name a ``*`` is none, as in Heat."""
        return self.resource is None and self.name.endswith("*")

    @property
    def unusable_reason(self) -> str:
        """The reason why it can apply to nothing; empty if it can."""
        if is_template(self.name):
            return "a file's name always means that file"
        if self.is_pattern and isinstance(self.target, str) and is_template(self.target):
            return "a pattern cannot stand for a template: name the type, or give a list"
        if self.resource is not None and self.name.endswith("*"):
            return "below a resource's name a * is no pattern"
        return ""

    def matches(self, type_: str, resource: str) -> bool:
        """Whether the entry applies to ``type_`` for ``resource``."""
        if is_template(self.name):
            return False
        if self.resource is not None:
            return self.resource == resource and type_ == self.name
        if not self.name.endswith("*"):
            return type_ == self.name
        if isinstance(self.target, str) and is_template(self.target):
            return False
        return type_ != self.target and type_.startswith(self.name[:-1])

    def covers(self, other: Entry) -> bool:
        """Whether every type that ``other`` is for is this entry's, too; for resources as well."""
        same = self.resource is None or self.resource == other.resource
        return same and other.name.startswith(self.name[:-1])

    def find_target(self, type_: str) -> Any:
        """The target for ``type_``, where a ``*`` stands for the rest of the name."""
        if not self.is_pattern or not isinstance(self.target, str):
            return self.target
        return self.fill_target(self.target, type_)

    def fill_target(self, target: str, type_: str) -> str:
        """One target for ``type_``, where a ``*`` stands for the rest of the name."""
        if not self.is_pattern or not target.endswith("*"):
            return target
        return target[:-1] + type_[len(self.name) - 1 :]


def find_entry_faults(name: Any, target: Any, at: Path) -> Iterator[TemplateError]:
    """Yield the faults of the name and the target of an entry."""
    if not isinstance(name, str):
        yield make_fault("a type's name must be text", name, at)
    elif not isinstance(target, str | list):
        yield make_fault("a type maps to a type's name, a file, or a list of such", target, at)
    elif isinstance(target, list):
        for index, item in enumerate(target):
            if not isinstance(item, str) or not item:
                wanted = "what a type maps to by choice must be names of types or files"
                # A null has no place of its own: it may stand for what another environment says.
                yield make_fault(wanted, item, at if item is None else (*at, index))


def find_nested_faults(level: Mapping[str, Any], at: Path) -> Iterator[TemplateError]:
    """Yield the faults of the rules in the levels for nested stacks."""
    yield from find_rule_faults(level, at)
    for key, value in level.items():
        if isinstance(value, Mapping):
            yield from find_nested_faults(value, (*at, key))


def to_words(value: Any) -> list[Any]:
    """Convert one word, or several, to a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def find_rule_faults(rules: Mapping[str, Any], at: Path) -> Iterator[TemplateError]:
    """Yield faults of words that are no hooks or no actions, in Heat's sentences."""
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
        wrong = [word for word in to_words(rules.get(key, [])) if word not in known]
        if wrong:
            yield TemplateError(
                text.format(rules[key], known),
                at=(*at, key),
                code=REGISTRY,
                heat_type=heat_type,
                hint=suggestion(wrong[0], known),
            )


def make_fault(wanted: str, value: Any, at: Path) -> TemplateError:
    """Make the fault of a value of the wrong shape."""
    return TemplateError(
        f"{SECTION}: {wanted}, not a {format_type_name(value)}",
        at=at,
        code=REGISTRY,
        heat_type="ValueError",
    )
