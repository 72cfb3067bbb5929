"""A stack whose template is the resources and outputs that a test gives, in the engine."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from zonda.core.engine.actions import Action, CreateStack, SignalResource, UpdateStack
from zonda.core.store.read.views import ResourceView, StackView
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack


class Life:
    """A stack whose template is the resources and outputs that a test gives."""

    def __init__(self, stack: InlineStack, files: Mapping[str, str] | None = None) -> None:
        self.stack = stack
        self.engine = stack.engine
        self.files = {name: template(text) for name, text in (files or {}).items()}
        self.environment: str | None = None

    def create(self, text: str) -> StackView:
        return self.run(CreateStack("test", self.bundle(text)))

    def update(self, text: str, *, rollback: bool | None = None) -> StackView:
        return self.run(UpdateStack("test", self.bundle(text), rollback=rollback))

    def signal(self, resource: str, details: dict[str, Any] | None = None) -> StackView:
        return self.run(SignalResource("test", resource, details or {}))

    def run(self, action: Action) -> StackView:
        return self.engine.run(action)

    def bundle(self, text: str) -> Bundle:
        return Bundle(template(text), environment=self.environment, files=self.files)

    @property
    def child_of_root(self) -> str:
        return self.engine.reader.stack("test").id

    @property
    def outputs(self) -> dict[str, Any]:
        return self.stack.outputs

    def child(self, owner: str) -> StackView:
        """The nested stack of a resource."""
        reader = self.engine.reader
        physical = self.stack.resources[owner].physical_id
        assert physical is not None
        return reader.stack(physical)

    def members(self, owner: str) -> dict[str, ResourceView]:
        found = self.engine.reader.resources(self.child(owner).id)
        return {member.name: member for member in found}

    def touched(self, owner: str, since: int) -> set[tuple[str | None, str]]:
        """(member, action) of what has happened in a nested stack."""
        events = self.engine.reader.events(self.child(owner).id, after=since, limit=100_000)
        return {(each.resource_name, each.action) for each in events if each.resource_name}

    @property
    def now(self) -> int:
        return self.engine.reader.last_event()


def template(text: str) -> str:
    return "heat_template_version: 2018-08-31\n" + textwrap.dedent(text.rstrip(" "))
