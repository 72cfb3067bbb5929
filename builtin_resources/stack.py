"""``OS::Heat::Stack`` and ``AWS::CloudFormation::Stack``: a stack within a stack, by template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    Child,
    ChildTemplate,
    InvalidTemplateAttribute,
    NestedStack,
    SupportStatus,
    TemplateError,
    attributes,
    properties,
    select,
)

TEMPLATE: Final = "template"
PARAMETERS: Final = "parameters"
TIMEOUT: Final = "timeout"
CONTEXT: Final = "context"
REGION: Final = "region_name"
STACK_NAME: Final = "stack_name"
OUTPUTS: Final = "outputs"

_Schema = properties.Schema


class ChildStack(NestedStack):
    """The base class of a stack within a stack, whatever its properties are called."""

    has_side_effects = False
    start_policy = "idempotent"

    def build_child_template(self) -> ChildTemplate:
        """The template and its parameters."""
        raise NotImplementedError

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The template in the properties, once."""
        return None if applied else self.build_child_template()

    def template_for_validation(self) -> ChildTemplate | None:
        """The template; None as long as it is not known."""
        try:
            return self.build_child_template()
        except TemplateError:
            return None

    def outputs(self) -> dict[str, Any] | None:
        """The values of its outputs; None before there is a stack."""
        child = self.child
        if child is None:
            return None
        return {name: child.output(name) for name in child.output_names()}


class Stack(ChildStack):
    """A stack of its own, made from a template that is given as text.

    It is made here and lives with the stack it stands in; another region cannot be reached.
    """

    support_status = SupportStatus(version="2014.2")
    type_properties = (TEMPLATE,)
    example: ClassVar[Mapping[str, Any]] = {TEMPLATE: "heat_template_version: 2018-08-31\n"}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        CONTEXT: _Schema(
            _Schema.MAP,
            "Where Heat makes the stack. Only here is possible: no other region may be named.",
            schema={
                REGION: _Schema(_Schema.STRING, "This region; no other can be reached."),
                "credential_secret_id": _Schema(_Schema.STRING, "Accepted, without effect."),
                "ca_cert": _Schema(_Schema.STRING, "Accepted, without effect."),
                "insecure": _Schema(_Schema.BOOLEAN, "Accepted, without effect.", default=False),
            },
        ),
        TEMPLATE: _Schema(
            _Schema.STRING,
            "The text of the template, best by get_file.",
            required=True,
            update_allowed=True,
        ),
        TIMEOUT: _Schema(
            _Schema.INTEGER,
            "Accepted, without effect: the time of the stack above is what counts.",
            update_allowed=True,
        ),
        PARAMETERS: _Schema(
            _Schema.MAP, "The values of its parameters.", default={}, update_allowed=True
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        STACK_NAME: attributes.Schema("Its name.", type=attributes.Schema.STRING),
        OUTPUTS: attributes.Schema("Its outputs by name.", type=attributes.Schema.MAP),
    }

    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {STACK_NAME: ()}

    def validate(self) -> None:
        """Raise TemplateError where another region is named."""
        region = (self.properties.convert(CONTEXT) or {}).get(REGION)
        if region and region != self.context.region:
            raise TemplateError(
                f'Cannot establish connection to Heat endpoint at region "{region}" due to '
                f'"public endpoint for orchestration service in {region} region not found"',
                at=("resources", self.name, "properties", CONTEXT),
                hint=f"A stack is made where the stack above it is: leave {CONTEXT} out.",
            )

    def build_child_template(self) -> ChildTemplate:
        """The text of the template."""
        given = self.properties
        return ChildTemplate(text=given[TEMPLATE], parameters=given[PARAMETERS])

    def _resolve_attribute(self, name: str) -> Any:
        child = self.child
        if name == OUTPUTS:
            return self.outputs()
        return None if child is None else child.name

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """The stack's name, or one of its outputs."""
        if key not in self.attributes:
            return super().FnGetAtt(key, *path)
        child = self.child
        if key == OUTPUTS and path and child is not None:
            known = child.has_output(str(path[0]))
            return select(child.output(path[0]), path[1:]) if known else None
        return select(self.attributes[key], path)


class CfnStack(ChildStack):
    """A stack of its own, made from a template file.

    Its outputs are attributes with ``Outputs.`` in front of their names.
    """

    support_status = SupportStatus(version="2014.1")
    URL: ClassVar[str] = "TemplateURL"
    VALUES: ClassVar[str] = "Parameters"
    example: ClassVar[Mapping[str, Any]] = {"TemplateURL": "child.yaml"}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "TemplateURL": _Schema(
            _Schema.STRING,
            "The template: one of the files that come along with the template above.",
            required=True,
            update_allowed=True,
        ),
        "TimeoutInMinutes": _Schema(
            _Schema.NUMBER,
            "Accepted, without effect: the time of the stack above is what counts.",
            update_allowed=True,
        ),
        "Parameters": _Schema(_Schema.MAP, "The values of its parameters.", update_allowed=True),
    }

    def build_child_template(self) -> ChildTemplate:
        """The file."""
        return ChildTemplate(
            file=self.properties[self.URL], parameters=self.properties[self.VALUES]
        )

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An output; the name may hold dots."""
        if key.startswith("resource."):
            return self.member_attribute(key, path)
        child, (kind, _, name) = self.child, key.partition(".")
        if kind != "Outputs" or not name:
            raise InvalidTemplateAttribute(self.name, key)
        if child is None:
            return None
        if not child.has_output(name):
            raise InvalidTemplateAttribute(self.name, key)
        return select(child.output(name), path)
