"""Parameters and outputs of a stack or a template, as values.

Made by ``core/app/app.py`` for faces. Hidden values are masked here already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zonda.hooks.errors import TemplateWarning

if TYPE_CHECKING:  # takes 30 ms, which listing stacks must not pay for
    from zonda.core.reports.outputs import OutputView
    from zonda.core.template.load import StackDefinition


@dataclass(frozen=True, slots=True)
class Details:
    """A stack's parameters by name, and its outputs in template order."""

    parameters: Mapping[str, Any]
    outputs: list[OutputView]


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The declarations of a template without errors. ``warnings``: of the same template."""

    description: str
    parameters: dict[str, Any]
    resources: dict[str, str]
    outputs: dict[str, str]
    warnings: tuple[TemplateWarning, ...]

    @classmethod
    def of(cls, definition: StackDefinition) -> ValidationResult:
        """Build the result from a definition: parameters with schemas, resources with types."""
        shown = definition.parameters.shown()
        return cls(
            description=str(definition.description or ""),
            parameters={
                name: {
                    "type": schema.type,
                    "description": schema.description or "",
                    "hidden": bool(schema.hidden),
                    "value": shown.get(name),
                    "constraints": [each.to_dict() for each in schema.constraints],
                }
                for name, schema in definition.schemas.items()
            },
            resources={name: node.type for name, node in definition.resources.items()},
            outputs={name: str(o.description or "") for name, o in definition.outputs.items()},
            warnings=tuple(definition.warnings),
        )
