"""A loader with a few small types, for tests of the template room."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import Bundle, Identity, Limits, StackDefinition, load
from zonda.hooks import attributes, properties
from zonda.hooks.errors import ResourceFailure, TemplateError, ValidationErrors
from zonda.hooks.resources.nested_stack import NestedStack
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners import StackRef
from zonda.hooks.schema.constraints import AllowedValues, NotChecked

_Schema = properties.Schema


class Thing(Resource):
    """Holds a value."""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "value": _Schema(_Schema.ANY, update_allowed=True),
        "text": _Schema(_Schema.STRING),
        "number": _Schema(_Schema.NUMBER),
        "secret": _Schema(_Schema.STRING, hidden=True),
        "nested": _Schema(_Schema.MAP, schema={"colour": _Schema(_Schema.STRING)}),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "value": attributes.Schema(),
        "secret": attributes.Schema(),
        "sealed": attributes.Schema(sealed=True),
        "covered": attributes.Schema(hidden=True),
        "other": attributes.Schema(),
        "echo": attributes.Schema(),
    }
    exposes_properties: ClassVar[Mapping[str | None, tuple[str, ...]]] = {
        None: ("sealed",),
        "echo": ("text",),
    }


class Picky(Resource):
    """Needs a value and refuses it."""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "value": _Schema(_Schema.STRING, required=True)
    }

    def validate(self) -> None:
        if self.properties["value"] == "bad":
            raise TemplateError("bad is not good")
        if self.properties["value"] == "crash":
            raise RuntimeError("no such luck")
        if self.properties["value"] == "silent":
            raise AssertionError
        if self.properties["value"] == "remote":
            raise NotChecked("nobody to ask")


class Choosy(Resource):
    """Takes few values."""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "size": _Schema(_Schema.STRING, constraints=[AllowedValues(["small", "large"])])
    }


class Group(NestedStack):
    """Members of one type."""

    attributes_with_key: ClassVar[tuple[str, ...]] = ("attributes",)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "attributes": attributes.Schema()
    }

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "count": _Schema(_Schema.INTEGER, default=1),
        "member": _Schema(_Schema.MAP),
        "types": _Schema(_Schema.LIST),
        "secret": _Schema(_Schema.STRING, hidden=True),
    }

    def child_template(self) -> Mapping[str, Any]:
        if self.properties["count"] > 9:
            raise ResourceFailure("too many")
        member = self.properties["member"]
        types = self.properties["types"] or [member.get("type")]
        members = [{**member, "type": each} for each in types] * self.properties["count"]
        resources = {str(index): each for index, each in enumerate(members)}
        return {"heat_template_version": "2018-08-31", "resources": resources}

    def member_types(self) -> list[str]:
        return [self.properties["member"].get("type", ""), *self.properties["types"]]


TYPES: dict[str, type[Resource]] = {"Thing": Thing, "Picky": Picky, "Choosy": Choosy}
IDENTITY = Identity("5eb1", "stack", "pr0j")


class FakeContext:
    """As much of a ResourceContext as validation asks for."""

    operation = None
    stack = StackRef("5eb1", "stack", "pr0j")
    stack_timeout = 3600.0
    random = random.Random(1)

    def full_match(self, pattern: str, text: str) -> bool:
        return True

    def constraint(self, name: str) -> None:
        return None


class Load(Protocol):
    """Loads and validates a template with the types of this file."""

    def __call__(
        self,
        template: str,
        *,
        version: str = ...,
        previous: Mapping[str, Any] | None = ...,
        **bundle: Any,
    ) -> StackDefinition: ...


@pytest.fixture
def loaded() -> Load:
    def load_text(
        template: str,
        *,
        version: str = "2018-08-31",
        previous: Mapping[str, Any] | None = None,
        all_given: bool = True,
        **bundle: Any,
    ) -> StackDefinition:
        name = bundle.pop("stack_name", IDENTITY.stack_name)
        text = f"heat_template_version: {version}\n{template}" if version else template
        limits = Limits()
        return load(
            Bundle(text, "t.yaml", **bundle),
            identity=Identity(IDENTITY.stack_id, name, IDENTITY.project_id),
            plugins=Plugins(resource_types=TYPES),
            functions=build_function_table,
            limits=limits,
            previous=previous,
            context_for=lambda node: FakeContext(),  # type: ignore[arg-type, return-value]
            yaql=make_evaluator(limits),
            all_given=all_given,
        )

    return load_text


@pytest.fixture
def faults(loaded: Load) -> Callable[..., tuple[TemplateError, ...]]:
    """The faults of a template that must have some."""

    def faults_of(template: str, **arguments: Any) -> tuple[TemplateError, ...]:
        with pytest.raises(ValidationErrors) as caught:
            loaded(template, **arguments)
        return caught.value.errors

    return faults_of


class Tree(Protocol):
    """Loads and validates a root with nested files; every text but ``more`` gets a version."""

    def __call__(
        self,
        template: str,
        files: Mapping[str, str] | None = ...,
        *,
        limits: Limits | None = ...,
        more: dict[str, str] | None = ...,
        **bundle: Any,
    ) -> StackDefinition: ...


@pytest.fixture
def tree() -> Tree:
    def loaded(
        template: str,
        files: Mapping[str, str] | None = None,
        *,
        limits: Limits | None = None,
        more: dict[str, str] | None = None,
        **bundle: Any,
    ) -> StackDefinition:
        limits = limits or Limits()
        first = "heat_template_version: 2018-08-31\n"
        texts = {name: first + text for name, text in (files or {}).items()} | (more or {})
        return load(
            Bundle(first + template, "root.yaml", files=texts, **bundle),
            identity=IDENTITY,
            plugins=Plugins(resource_types={**TYPES, "Group": Group}),
            functions=build_function_table,
            limits=limits,
            yaql=make_evaluator(limits),
            context_for=lambda node: FakeContext(),  # type: ignore[arg-type, return-value]
        )

    return loaded


@pytest.fixture
def types() -> dict[str, type[Resource]]:
    """The types that ``loaded`` knows."""
    return TYPES


@pytest.fixture
def context() -> FakeContext:
    """A context for one validation."""
    return FakeContext()
