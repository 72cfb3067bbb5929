"""``OS::Heat::ScalingPolicy`` and CloudFormation's: a signal to them changes a group's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    SupportStatus,
    TemplateError,
    attributes,
    constraints,
    properties,
)

from ..base import DefinitionResource
from ..signals.urls import make_signal_schema
from .base import ADJUSTMENT, COOLDOWN, KIND, STEP
from .capacity import CFN_TYPES, PERCENT, TYPES

ALARM_URL: Final = "alarm_url"
SIGNAL_URL: Final = "signal_url"
CFN_ALARM_URL: Final = "AlarmUrl"

_Schema = properties.Schema


def _make_schema(
    names: tuple[str, str, str, str, str], types: tuple[str, ...], adjustment: str
) -> dict[str, properties.Schema]:
    group, kind, by, cooldown, step = names
    return {
        group: _Schema(_Schema.STRING, "The reference of the group.", required=True),
        by: _Schema(
            adjustment,
            "By how much the size changes, or the size itself, as the type says.",
            required=True,
            update_allowed=True,
        ),
        kind: _Schema(
            _Schema.STRING,
            "What the adjustment means: a difference, a size or a percentage.",
            required=True,
            constraints=[constraints.AllowedValues(list(types))],
            update_allowed=True,
        ),
        cooldown: _Schema(
            _Schema.NUMBER,
            "The seconds after a change by this policy in which no signal counts; the group's "
            "without it.",
            update_allowed=True,
        ),
        step: _Schema(
            _Schema.INTEGER,
            "The least number of members to add or remove; for percentages only.",
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
    }


class ScalingPolicy(DefinitionResource):
    """Every signal changes the size of a group, whatever it says.

    A signal that changes nothing, or comes while the group still cools down, is passed over.
    """

    support_status = SupportStatus(version="2014.1")
    #: The properties for the group, the type, the adjustment, the cooldown and the least step.
    names: ClassVar[tuple[str, str, str, str, str]] = (
        "auto_scaling_group_id",
        KIND,
        ADJUSTMENT,
        COOLDOWN,
        STEP,
    )
    #: The kinds of adjustment by the values of the type.
    types: ClassVar[Mapping[str, str]] = {kind: kind for kind in TYPES}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = _make_schema(
        names, TYPES, _Schema.NUMBER
    )
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        ALARM_URL: make_signal_schema("Where an alarm sends its signal to."),
        SIGNAL_URL: make_signal_schema("Where signals are sent to."),
    }

    def validate(self) -> None:
        """Check that the least step is given with percentages only."""
        _, kind, _, _, step = self.names
        if self.properties.convert(step) is None:
            return
        if self.types.get(self.properties[kind]) != PERCENT:
            percent = next(name for name, meaning in self.types.items() if meaning == PERCENT)
            raise TemplateError(
                f"{step} property should only be specified for {kind} with value {percent}.",
                at=("resources", self.name, "properties", step),
                heat_type="ResourcePropertyValueDependency",
            )

    def _resolve_attribute(self, name: str) -> Any:
        return self.context.signal_url("scale")

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> None:
        """Tell the group how it is to change."""
        group, kind, by, cooldown, step = self.names
        order = {
            KIND: self.types[self.properties[kind]],
            ADJUSTMENT: self.properties[by],
            STEP: self.properties.convert(step),
            COOLDOWN: self.properties.convert(cooldown),
        }
        reference = self.properties[group]
        missing = f'Alarm {self.name} could not find scaling group named "{reference}"'
        self.context.signal(reference, order, missing)


class CfnScalingPolicy(ScalingPolicy):
    """Every signal changes the size of a group, whatever it says.

    CloudFormation's policy: the same with other names. With ``zonda serve`` the reference is the
    URL that alarms call, which is hidden.
    """

    names = (
        "AutoScalingGroupName",
        "AdjustmentType",
        "ScalingAdjustment",
        "Cooldown",
        "MinAdjustmentStep",
    )
    types = CFN_TYPES
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = _make_schema(
        names, tuple(CFN_TYPES), _Schema.INTEGER
    )
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        CFN_ALARM_URL: make_signal_schema("Where an alarm sends its signal to; the reference.")
    }
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {None: (CFN_ALARM_URL,)}

    def get_reference_id(self) -> str:
        """The signal URL; the name of the resource where no server runs."""
        url = None if self.resource_id is None else self.context.signal_url("scale")
        return url or super().get_reference_id()
