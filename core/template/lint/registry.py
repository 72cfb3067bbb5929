"""Warnings of registries: entries that never apply, and requirements that nothing can meet.

Called by ``linter``, after the environments were read. Never changes what a type means.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.hooks.errors import Related, TemplateWarning

from ..capabilities import requirements
from ..environment.environment import Environment
from ..source.diagnostics import suggestion
from ..types.registry import Registry
from ..types.registry_rules import is_template

HIDDEN_ENTRY = "ZON604"
IDLE_REQUIREMENT = "ZON615"


def list_warnings(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Yield every warning, with its place in an environment."""
    yield from _list_hidden_entries(registry, environment)
    yield from _list_unusable_entries(registry, environment)
    yield from _list_idle_requirements(registry, environment)


def _list_hidden_entries(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Entries that never apply, since an earlier one covers their names."""
    for entry, stronger in registry.find_hidden_entries():
        yield TemplateWarning(
            HIDDEN_ENTRY,
            f"The entry {entry.name} never applies: {stronger.name} comes first",
            entry.at,
            environment.place(entry.at),
            "Of two entries that fit, the first by the alphabet counts.",
            (Related(f"{stronger.name} stands here", environment.place(stronger.at)),),
        )


def _list_unusable_entries(
    registry: Registry, environment: Environment
) -> Iterator[TemplateWarning]:
    """Entries that no type's name can fit."""
    for entry in registry.entries:
        if entry.unusable_reason:
            text = f"The entry {entry.name} never applies: {entry.unusable_reason}"
            yield TemplateWarning(HIDDEN_ENTRY, text, entry.at, environment.place(entry.at))


def _list_idle_requirements(
    registry: Registry, environment: Environment
) -> Iterator[TemplateWarning]:
    """Requirements whose key no candidate of any list declares: perhaps misspelt."""
    lists = any(isinstance(entry.target, list) for entry in registry.entries)
    if not (lists and registry.candidates.required):
        return
    declared = _list_declared_keys(registry)
    for requirement in registry.candidates.required:
        if requirement.key not in declared:
            at = (requirements.SECTION, requirement.key)
            yield TemplateWarning(
                IDLE_REQUIREMENT,
                f"No candidate of any list in the registry declares {requirement.key}, "
                "so that requiring it has no effect",
                at,
                environment.place(at),
                suggestion(requirement.key, sorted(declared)),
            )


def _list_declared_keys(registry: Registry) -> set[str]:
    """The keys that some candidate of a list declares."""
    found: set[str] = set()
    for entry in registry.entries:
        for target in entry.target if isinstance(entry.target, list) else ():
            if is_template(target):
                found.update(registry.candidates.template(target).capabilities)
            elif target in registry.types:
                found.update(registry.types[target].capabilities)
    return found
