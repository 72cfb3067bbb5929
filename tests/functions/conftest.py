"""A scope made by hand, and ``evaluate``: parse a piece of template and resolve it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.template.source.bundle import Limits
from zonda.core.template.source.diagnostics import TooLarge
from zonda.hooks.errors import TemplateError, UnknownReference
from zonda.hooks.function import Function, resolve_value
from zonda.hooks.schema.attributes import select


class ParameterMissing(TemplateError):
    heat_type = "UserParameterMissing"


@dataclass
class FakeScope:
    """Parses and resolves: parameters, conditions, files and resources are plain maps."""

    version: str = "2021-04-16"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, bool] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    facade_parts: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    in_condition: bool = False
    spent: int = 0

    def spend(self, values):
        if self.spent + values > self.limits.max_nodes:
            raise TooLarge(f"more than {self.limits.max_nodes} values")
        self.spent += values

    def parse(self, value, path=()):
        table = build_function_table(self.version)
        functions = table.conditions if self.in_condition else table.functions
        if isinstance(value, dict):
            if len(value) == 1:
                ((name, args),) = value.items()
                if name in functions:
                    return functions[name](self, name, args, (*path, name))
            return {key: self.parse(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.parse(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def parameter(self, name):
        if name not in self.parameters:
            raise ParameterMissing(f"The Parameter ({name}) was not provided.")
        return self.parameters[name]

    def condition(self, value, path=()):
        if isinstance(value, dict):
            inside = FakeScope(self.version, self.parameters, self.conditions, in_condition=True)
            value = resolve_value(inside.parse(value, path), inside)
        if value is None or isinstance(value, bool):
            return value is not False
        if value not in self.conditions:
            raise TemplateError(f'Invalid condition "{value}"')
        return self.conditions[value]

    def file(self, key):
        return self.files[key]

    def reference(self, resource, path):
        if resource not in self.resources:
            raise UnknownReference(f'The specified reference "{resource}" is incorrect.')
        return f"id-of-{resource}"

    def attribute(self, resource, attribute, rest):
        self.reference(resource, ())
        if attribute is None:
            return dict(self.resources[resource])
        if attribute not in self.resources[resource]:
            raise TemplateError(f"The Referenced Attribute ({resource} {attribute}) is incorrect.")
        return select(self.resources[resource][attribute], rest)

    def facade(self, kind):
        return self.facade_parts[kind]

    def yaql(self, expression, data):
        return make_evaluator(self.limits)(expression, data, self.spend)


@pytest.fixture
def evaluate():
    """``evaluate(tree, version=..., parameters=..., ...)``: the value, through a FakeScope."""

    def run(tree, **fields):
        scope = FakeScope(**fields)
        return resolve_value(scope.parse(tree, ("o",)), scope)

    return run


@pytest.fixture
def parse():
    """``parse(tree, root=path, ...)``: the parsed call and its scope."""

    def run(tree, root=("o",), **fields):
        scope = FakeScope(**fields)
        call = scope.parse(tree, root)
        assert isinstance(call, Function)
        return call, scope

    return run
