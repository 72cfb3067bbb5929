"""Warnings of registries: entries that never apply, and requirements that nothing can meet.

Called by ``advice``, after the environments were read. Never changes what a type means.
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


def of(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Every warning, with its place in an environment."""
    yield from _hidden(registry, environment)
    yield from _never(registry, environment)
    yield from _idle(registry, environment)


def _hidden(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Entries that never apply, since an earlier one covers their names."""
    for entry, stronger in registry.hidden_entries():
        yield TemplateWarning(
            HIDDEN_ENTRY,
            f"The entry {entry.name} never applies: {stronger.name} comes first",
            entry.at,
            environment.place(entry.at),
            "Of two entries that fit, the first by the alphabet counts.",
            (Related(f"{stronger.name} stands here", environment.place(stronger.at)),),
        )


def _never(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Entries that no type's name can fit."""
    for entry in registry.entries:
        if entry.never:
            text = f"The entry {entry.name} never applies: {entry.never}"
            yield TemplateWarning(HIDDEN_ENTRY, text, entry.at, environment.place(entry.at))


def _idle(registry: Registry, environment: Environment) -> Iterator[TemplateWarning]:
    """Requirements whose key no candidate of any list declares: perhaps misspelt."""
    lists = any(isinstance(entry.target, list) for entry in registry.entries)
    if not (lists and registry.candidates.required):
        return
    declared = _declared(registry)
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


def _declared(registry: Registry) -> set[str]:
    """The keys that some candidate of a list declares."""
    found: set[str] = set()
    for entry in registry.entries:
        for target in entry.target if isinstance(entry.target, list) else ():
            if is_template(target):
                found.update(registry.candidates.template(target).capabilities)
            elif target in registry.types:
                found.update(registry.types[target].capabilities)
    return found
