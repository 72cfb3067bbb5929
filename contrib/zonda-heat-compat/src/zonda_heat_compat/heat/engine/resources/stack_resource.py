"""Resources that are stacks themselves.

In Heat their handlers make, change and delete the nested stack. Here they say what it shall be
(``child_template`` and ``child_params``, or what ``handle_create`` hands on), and zonda's engine
makes it so: its batches, rollbacks, and what a crash interrupts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import NotSupported

from heat.common import exception, identifier
from heat.engine import resource


class StackResource(resource.Resource):
    """The base of such types."""

    start_policy = "idempotent"
    requires_deferred_auth = True
    _asked: Any = None

    def child_template(self) -> Any:
        """The template of the stack inside: as data, as text, or a ``Template``."""
        raise NotImplementedError

    def child_params(self) -> Any:
        """The parameters of the stack inside, or an environment."""
        raise NotImplementedError

    def handle_create(self) -> Any:
        """Make the stack inside."""
        return self.create_with_template(self.child_template(), self.child_params())

    def create_with_template(
        self, child_template: Any, user_params: Any = None, *given: Any, **named: Any
    ) -> Any:
        """Say what the stack inside shall be."""
        params = self.child_params() if user_params is None else user_params
        self._asked = (child_template, params)

    update_with_template = create_with_template

    def ask_for_template(self, is_done: bool) -> tuple[Any, Any]:
        """The template and the parameters. ``is_done``: not only looked at.

        While a template is only looked at no handler of a stranger's is called, which may do more
        than that; those of Heat's own types do nothing else.
        """
        own = type(self).handle_create is not StackResource.handle_create
        if own and (is_done or type(self).__module__.startswith("heat.engine.resources.")):
            self._asked = None
            self.handle_create()
            if self._asked is not None:
                return tuple(self._asked)
        return self.child_template(), self.child_params()

    # -- the stack inside, for reading -------------------------------------------------------------

    def nested(self, *given: Any, **named: Any) -> Any:
        """The stack inside, as it is; None before it is made."""
        child = self._child()
        return None if child is None else Nested(child)

    def has_nested(self) -> bool:
        """Whether it is made."""
        return self._child() is not None

    def _child(self) -> Any:
        ask = getattr(getattr(self.context, "lent", None), "child", None)
        return None if ask is None else ask()

    def nested_identifier(self) -> Any:
        """Its name in one line; None before it is made."""
        child = self._child()
        if child is None:
            return None
        project = self.stack.identifier().tenant
        return identifier.HeatIdentifier(project, child.name, child.id)

    def get_reference_id(self) -> Any:
        """The stack inside; before it is made the name of the resource."""
        found = self.nested_identifier()
        return str(self.name) if found is None else found.arn()

    def get_output(self, op: str) -> Any:
        """An output of the stack inside."""
        child = self._child()
        if child is None:
            return None
        if not child.has_output(op):
            raise exception.NotFound(f"Specified output key {op} not found.")
        return child.output(op)

    def _resolve_attribute(self, name: str) -> Any:
        try:
            return self.get_output(name)
        except exception.NotFound:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=name) from None

    def delete_nested(self) -> Any:
        raise NotSupported("zonda deletes the stack inside with its resource.")


class Nested:
    """The stack inside, as plug-ins read it: members by name, and outputs."""

    def __init__(self, child: Any) -> None:
        self.id, self.name = child.id, child.name
        self.action, self.status = child.action, child.status
        self._child = child

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The values of the outputs."""
        return {name: self._child.output(name) for name in self._child.output_names()}

    @property
    def resources(self) -> Mapping[str, Any]:
        """The members by name."""
        return {each.name: NestedMember(each) for each in self._child.members()}

    def __getitem__(self, name: str) -> Any:
        return self.resources[name]

    def __contains__(self, name: object) -> bool:
        return name in self.resources

    def __iter__(self) -> Any:
        return iter(self.resources)


class NestedMember:
    """A resource of the stack inside, for reading only."""

    def __init__(self, member: Any) -> None:
        self.name, self.resource_id = member.name, member.physical_id
        self.action, self.status = member.action, member.status
        self._member = member

    def type(self) -> str:
        """Its type."""
        return str(self._member.type)

    def FnGetRefId(self) -> Any:
        """Its reference."""
        return self._member.reference

    get_reference_id = FnGetRefId

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An attribute."""
        return self._member.attribute(key, *path)

    get_attribute = FnGetAtt

    def metadata_get(self) -> dict[str, Any]:
        """The metadata that its template gives."""
        found = self._member.definition
        return dict(found.get("metadata") or found.get("Metadata") or {})
