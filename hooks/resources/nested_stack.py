"""Resources whose physical side is a stack of their own: templates as types, groups, chains.

A plug-in says what its nested stack shall be, as a template; the engine makes it so, as a stack of
its own in the tables whose actions belong to the plan of the stack above. Such a resource has no
``handle_create`` and the like: creating, updating, suspending, checking and deleting it means
doing that to its nested stack. ``handle_signal`` may be defined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ..errors import InvalidTemplateAttribute, TemplateError
from ..records import dataclass, field
from ..schema.attributes import select
from .resource import Resource


class Converge:
    """The result of ``handle_signal`` that has the nested stack converge to its next template."""


CONVERGE = Converge()


@dataclass(frozen=True, slots=True)
class ChildTemplate:
    """The next template of a nested stack, with its parameters.

    Either ``template``, a HOT template as data: what stands in the ``properties``, ``metadata`` and
    ``update_policy`` of its resources are values, never functions; elsewhere (outputs) functions
    are functions. Or ``file``: a template among the stack's files; or ``text``: a whole template as
    it would stand in a file. ``parameters`` are its parameters' values. ``pause``: seconds to wait
    before it is applied.
    """

    template: Mapping[str, Any] | None = None
    file: str | None = None
    text: str | None = field(default=None, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    pause: float = 0.0


class Member(Protocol):
    """One resource of a nested stack, as it is now."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def type(self) -> str:
        """Its type, as the nested template says."""

    @property
    def reference(self) -> Any:
        """The member's reference (``get_resource``)."""

    @property
    def physical_id(self) -> str | None:
        """Its physical id."""

    @property
    def action(self) -> str:
        """The last action; ``INIT`` before any."""

    @property
    def status(self) -> str:
        """The status of the last action."""

    @property
    def created_at(self) -> float:
        """The time at which it was first made (seconds since the epoch)."""

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its entry in the nested stack's present template, as it was given."""

    @property
    def is_current(self) -> bool:
        """Whether it is as ``definition`` says: it has not failed, and no change is left to do."""

    def attribute(self, name: str, *path: Any) -> Any:
        """The value of an attribute, below ``path``; raises InvalidTemplateAttribute."""


class Child(Protocol):
    """A nested stack, as it is now: for reading only."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def action(self) -> str:
        """The last action."""

    @property
    def status(self) -> str:
        """The status of the last action."""

    @property
    def is_healthy(self) -> bool:
        """Whether all of it is as its template says, as far as is known."""

    def members(self) -> Sequence[Member]:
        """Its resources, in the order of its template; without those that no template has."""

    def member(self, name: str) -> Member | None:
        """The resource of that name."""

    def output_names(self) -> Sequence[str]:
        """The outputs of its template."""

    def has_output(self, name: str) -> bool:
        """Whether its template has that output."""

    def output(self, name: str) -> Any:
        """The value of an output; None where it cannot be resolved."""


class NestedStack(Resource):
    """A resource that is a stack of its own. A plug-in overrides ``child_template``, at least."""

    is_nested_stack: ClassVar[bool] = True
    #: The data that a handler stores is committed with its consequence: a plan, or nothing.
    has_side_effects: ClassVar[bool] = False
    #: Of what a check found broken in it just that is replaced.
    repairs_in_place: ClassVar[bool] = True
    #: Whether an unknown type among ``member_types`` is a fault of the resource itself: otherwise
    #: it is one of the nested template, and the message says so.
    checks_member_types: ClassVar[bool] = False
    #: While a nested stack is adopted: the names of the members that there are. They exist, so
    #: that there is nothing to be made in batches.
    adopted: Sequence[str] = ()
    #: Attributes that are none without a name behind them, as ``attributes`` of groups.
    attributes_with_key: ClassVar[Collection[str]] = ()
    #: The properties in which types of members may stand, or whole templates; None: in any. What
    #: others may repeat of a secret is told by the types: what cannot be seen is hidden.
    type_properties: ClassVar[Collection[str] | None] = None
    #: Properties whose values members are given under other names: where one of them is secret, all
    #: that members are given is.
    renamed_properties: ClassVar[Collection[str]] = ()
    #: Properties whose keys, or items of a list, name members: no secret may stand there.
    member_names_from: ClassVar[Collection[str]] = ()
    #: Types of members that are used whatever the properties say.
    always_used_types: ClassVar[Collection[str]] = ()

    def child_template(self) -> Mapping[str, Any]:
        """The nested template, as data. Attributes of other resources are null in validation."""
        raise NotImplementedError

    def child_parameters(self) -> Mapping[str, Any]:
        """The values of the nested template's parameters."""
        return {}

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The next template of the nested stack; None: no change is left.

        Asked when a creation or an update begins, and again whenever the nested stack has become
        what was asked for; so a rollout in batches gives one template after another. ``child`` is
        None as long as there is none; ``applied`` counts the templates of this operation so far.
        It must get along without any memory of its own: after a restart only ``child`` and
        ``applied`` tell how far it is. While a signal's ``CONVERGE`` is carried out, the action of
        ``context.operation`` is ``SIGNAL``.
        """
        if applied:
            return None
        return ChildTemplate(self.child_template(), parameters=self.child_parameters())

    def template_for_validation(self) -> ChildTemplate | None:
        """The template to validate with that of the resource; None: there is none.

        By default the first that ``next_template`` gives. Of many that are alike one is enough.
        """
        return self.next_template(None, 0)

    def member_types(self) -> Collection[str]:
        """The types that the nested template uses, as far as properties decide them.

        Where one of them is a template whose file changes, the resource is updated.
        """
        return ()

    # -- what follows from it ----------------------------------------------------------------

    @property
    def child(self) -> Child | None:
        """The nested stack as it is now; None before it is made, and in validation."""
        child: Child | None = self.context.child()
        return child

    def needs_replace_failed(self) -> bool:
        """Whether there is no nested stack: one that exists is repaired by an update."""
        return self.child is None

    def needs_update(self, after: Resource, changed: bool) -> bool:
        """Whether an update has work to do; also where the nested stack is not healthy."""
        child = self.child
        return super().needs_update(after, changed or child is None or not child.is_healthy)

    def get_reference_id(self) -> str:
        """The output ``OS::stack_id``, else the id of the nested stack."""
        child = self.child
        if child is not None and child.has_output("OS::stack_id"):
            return str(child.output("OS::stack_id"))
        return super().get_reference_id()

    def member_attribute(self, key: str, path: Sequence[Any]) -> Any:
        """``resource.NAME`` (a reference) or ``resource.NAME.ATTRIBUTE``, below ``path``.

        The attribute may also be the first of ``path``. Raises TemplateError (``NotFound``) where
        nothing has that name, InvalidTemplateAttribute for a key of another form.
        """
        _, dot, rest = key.partition(".")
        if not dot or not rest:
            raise InvalidTemplateAttribute(self.name, key)
        child = self.child
        name, attribute, below = _split_member_key(child, rest, list(path))
        member = None if child is None else child.member(name)
        if attribute is not None and (child is None or not child.members()):
            return None  # as in Heat: nothing is there yet, so nothing is missing
        if member is None:
            raise member_not_found(name, self.name)
        return member.reference if attribute is None else member.attribute(attribute, *below)

    def _resolve_attribute(self, name: str) -> Any:
        child = self.child
        if child is None or not child.has_output(name):
            return None
        try:
            return child.output(name)
        except TemplateError as error:
            raise self._build_output_error(name, error) from error

    def _build_output_error(self, name: str, error: TemplateError) -> TemplateError:
        made = TemplateError(
            f"Error in {self.name} output {name}: {error}",
            place=error.place,
            code=error.code,
            heat_type="TemplateOutputError",
            hint=error.hint,
        )
        made.discreet = error.discreet
        return made

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An output, or something of a member (``resource.NAME...``)."""
        if key.startswith("resource."):
            return self.member_attribute(key, path)
        if key not in self.attributes:
            raise InvalidTemplateAttribute(self.name, key)
        return select(self.attributes[key], path)


def member_not_found(name: str, group: str) -> TemplateError:
    """The error for a nested stack that has no resource of that name."""
    return TemplateError(
        f"Member '{name}' not found in group resource '{group}'.", heat_type="NotFound"
    )


def _split_member_key(
    child: Child | None, rest: str, path: list[Any]
) -> tuple[str, str | None, list[Any]]:
    """(name, attribute, path): names may hold dots themselves."""
    if (child is not None and child.member(rest) is not None) or "." not in rest:
        return rest, str(path[0]) if path else None, path[1:]
    name, _, attribute = rest.rpartition(".")
    return name, attribute, path
