"""The base class of every resource type.

A resource gets values in and gives values out. It lives for one operation: the engine makes an
instance from stored values, calls ``handle_X`` and then ``check_X_complete`` until that is true.
After a restart it is made anew from the token, ``resource_id_set``, ``data_set`` and
``metadata_set``, so nothing else of ``self`` may be relied upon. It never saves itself, knows no
database and no other resource.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, Literal

from ..context import ResourceContext
from ..declared_types import TypeText
from ..errors import InvalidTemplateAttribute, ResourceFailure, UpdateReplace
from ..records import dataclass, field
from ..schema import properties, support, translation
from ..schema.attributes import SHOW, SHOW_SCHEMA, Attributes, select
from ..schema.attributes import Schema as AttributeSchema
from ..text.sanitize import require_encodable, require_json, require_text
from .definition import ResourceDefinition
from .dependencies import Dependencies

__all__ = ["Resource", "ResourceDefinition", "ResourceState", "UpdateReplace"]

_LOG = logging.getLogger(__name__)

StartPolicy = Literal["fail", "idempotent", "find"]


@dataclass(slots=True)
class ResourceState:
    """The stored state of a resource, handed to an instance.

    ``action`` and ``status`` are the last ones (``CREATE``, ``COMPLETE``); ``data`` the entries of
    ``data_set``; ``metadata`` what ``metadata_set`` or the template gave. ``drift``: see there.
    """

    uuid: str = ""
    resource_id: str | None = None
    action: str = "INIT"
    status: str = "COMPLETE"
    status_reason: str = ""
    data: MutableMapping[str, str] = field(default_factory=dict, repr=False)
    metadata: dict[str, Any] = field(default_factory=dict, repr=False)
    drift: str = ""


class Resource:
    """The base class of resource types, which a plug-in extends.

    ``handle_create``, ``handle_update``, ``handle_delete``, ``handle_suspend``, ``handle_resume``,
    ``handle_check`` and ``handle_snapshot`` return a token; ``check_<action>_complete(token)`` is
    called until it gives True. A token that is a dict may be changed by the check: the change is
    stored. Only the first three are defined here; a class that lacks the others, or a check, does
    without. ``handle_snapshot_delete(state)`` stands in for ``handle_delete`` where the deletion
    policy is Snapshot, ``handle_delete_snapshot(snapshot)`` removes one snapshot, and
    ``handle_signal(details)`` receives signals. ``handle_adopt(resource_data)`` binds what exists
    already, and ``check_adopt_complete`` may follow it. ``prepare_for_replace()`` lets go of what
    only one can have before a successor is made, and ``restore_replaced(successor)`` gets it back
    where the instance is taken again; both may be called once more after a crash.
    """

    ACTIONS: ClassVar[tuple[str, ...]] = (
        INIT := "INIT",
        CREATE := "CREATE",
        DELETE := "DELETE",
        UPDATE := "UPDATE",
        ROLLBACK := "ROLLBACK",
        SUSPEND := "SUSPEND",
        RESUME := "RESUME",
        ADOPT := "ADOPT",
        SNAPSHOT := "SNAPSHOT",
        CHECK := "CHECK",
    )
    STATUSES: ClassVar[tuple[str, ...]] = (
        IN_PROGRESS := "IN_PROGRESS",
        FAILED := "FAILED",
        COMPLETE := "COMPLETE",
    )

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {}
    attributes_schema: ClassVar[Mapping[str, AttributeSchema]] = {}
    update_policy_schema: ClassVar[Mapping[str, properties.Schema]] = {}
    support_status: ClassVar[support.SupportStatus] = support.SupportStatus()
    entity: ClassVar[str | None] = None
    default_client_name: ClassVar[str | None] = None

    #: Properties that make a good example, as far as the schema alone does not lead to them: for
    #: the generated reference and for ``zonda plugin check``.
    example: ClassVar[Mapping[str, Any]] = {}
    #: The recovery of an operation that was interrupted inside ``handle_X``:
    #: ``idempotent``: call it again with the same operation id; ``find``: ask
    #: ``handle_find(op_id)`` first; ``fail``: give up, keeping the physical id for clean-up.
    start_policy: ClassVar[StartPolicy] = "fail"
    #: Whether handlers and checks do anything outside zonda. If not, what they store is committed
    #: together with their answer instead of each for itself: with it, or not at all. Such calls
    #: only compute, so many of them share a thread's turn. They are made before anything is stored
    #: of the operation; where a newer action comes between, the answer is dropped.
    has_side_effects: ClassVar[bool] = True
    #: Whether ``needs_replace_failed`` decides after a failed CHECK, too: where it gives False the
    #: next update calls ``handle_update``, which puts right what is wrong (``prop_diff`` may be
    #: empty). Otherwise a resource that failed its CHECK is replaced, as in Heat.
    repairs_in_place: ClassVar[bool] = False
    #: Whether an update in place may give it another reference. A plan then tells that whoever
    #: uses it may change, too; so it does where ``get_reference_id`` is overridden.
    reference_may_change: ClassVar[bool] = False
    #: The capabilities of the type, for environments that list several templates or types for one
    #: name: key -> a value or several, like the section ``capabilities`` of a template.
    capabilities: ClassVar[Mapping[str, Any]] = {}
    #: Never updated, whatever changes (``OS::Heat::None``).
    never_update: ClassVar[bool] = False
    #: Any attribute name is accepted and null (``OS::Heat::None``).
    any_attribute: ClassVar[bool] = False
    #: Nothing of its definition is checked, and what has no value is null (``OS::Heat::None``).
    unchecked: ClassVar[bool] = False
    #: Whether its physical side is a nested stack:
    #: ``zonda.hooks.resources.nested_stack.NestedStack``.
    is_nested_stack: ClassVar[bool] = False
    #: The properties or attributes that an attribute repeats, so that a secret stays one; the key
    #: None stands for the reference. An attribute always repeats the property of its own name.
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {}
    #: The name of the type that the class stands for in a stack that is simulated, else ''.
    simulates: ClassVar[str] = ""
    #: The text that the class was made from, where it was (``zonda_type_readers``).
    declared_by: ClassVar[TypeText | None] = None

    def __init__(
        self,
        name: str,
        definition: ResourceDefinition,
        context: ResourceContext,
        state: ResourceState | None = None,
    ) -> None:
        self.name = name
        self.t = definition
        self.context = context
        self._state = state or ResourceState()
        self.properties = self.make_properties(definition)
        self._known_attributes: dict[str, Any] = {}

    # -- identity ---------------------------------------------------------------------------

    @property
    def stack(self) -> Any:
        """The stack's ``id``, ``name`` and ``project``."""
        return self.context.stack

    @property
    def uuid(self) -> str:
        """The id of this resource instance in zonda."""
        return self._state.uuid

    @property
    def resource_id(self) -> str | None:
        """The physical id, or None as long as nothing was made."""
        return self._state.resource_id

    @property
    def action(self) -> str:
        """The last action, e.g. ``CREATE``."""
        return self._state.action

    @property
    def status(self) -> str:
        """The status of the last action, e.g. ``COMPLETE``."""
        return self._state.status

    @property
    def state(self) -> tuple[str, str]:
        """(action, status)."""
        return self._state.action, self._state.status

    @property
    def drift(self) -> str:
        """The drift that the running repair has found: ``DRIFTED``, ``MISSING``; else ''."""
        return self._state.drift

    def type(self) -> str:
        """The type's name in the template."""
        return self.t.type

    def physical_resource_name(self) -> str:
        """A name for the physical resource that is unique to this instance.

        ``<stack>-<resource>-<12 characters>``, at most 255 characters.
        """
        tail = self.uuid.replace("-", "").lower()[-12:] if self.uuid else "0" * 12
        return f"{self.stack.name}-{self.name}"[: 255 - 13] + f"-{tail}"

    def get_reference_id(self) -> str:
        """The reference (``get_resource``): the physical id, else the resource's name."""
        return self.resource_id if self.resource_id is not None else self.name

    # -- what an instance may store ----------------------------------------------------------

    def resource_id_set(self, value: str | None) -> None:
        """Keep the physical id (255 characters at most); durable when this returns."""
        value = None if value is None else require_text("resource_id", value)[:255]
        self.context.save_resource_id(value)
        self._state.resource_id = value

    def data(self) -> dict[str, str]:
        """The entries of ``data_set``."""
        return dict(self._state.data)

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        """Keep a text under ``key``; durable when this returns. ``redact``: it is never shown."""
        key = require_encodable("the key of data_set", str(key))
        text = require_encodable(f"data {key}", str(value))
        self.context.save_data(key, text, redact)
        self._state.data[key] = text

    def data_delete(self, key: str) -> bool:
        """Forget ``key``; whether it was there."""
        known = key in self._state.data
        if known:
            self.context.save_data(key, None, False)
            del self._state.data[key]
        return known

    def data_delete_all(self) -> None:
        """Forget every entry."""
        for key in list(self._state.data):
            self.data_delete(key)

    def metadata_get(self) -> dict[str, Any]:
        """The stored metadata."""
        return dict(self._state.metadata)

    def metadata_set(self, metadata: Mapping[str, Any]) -> None:
        """Replace the metadata; durable when this returns."""
        known: dict[str, Any] = require_json("metadata", dict(metadata))
        self.context.save_metadata(known)
        self._state.metadata = known

    # -- validation -----------------------------------------------------------------------------

    def make_properties(self, definition: ResourceDefinition) -> properties.Properties:
        """The properties of ``definition``, by this class's schema."""
        has_rules = type(self).translation_rules is not Resource.translation_rules
        return properties.Properties(
            self.properties_schema,
            definition.properties,
            raw=definition.raw.get("properties") or {},
            context=self.context,
            rules=self.translation_rules if has_rules else None,
        )

    def translation_rules(self, props: properties.Properties) -> Sequence[translation.Rule]:
        """Rules that turn old property forms into new ones. None by default."""
        return ()

    def validate(self) -> None:
        """Check what the schema cannot say; raises TemplateError. Properties are validated before.

        Attributes of other resources are null while a template is validated.
        """

    def describe_claim(self) -> str:
        """The name of what it makes outside, with the place; '' where the template does not tell.

        A template is warned of two resources of a type with one claim. Asked when the template is
        validated, and shown nowhere.
        """
        return ""

    def add_dependencies(self, deps: Dependencies) -> None:
        """Add edges that the template does not show, e.g. ``deps.require("gateway")``.

        What properties refer to, and ``depends_on``, are there already; best add nothing. Asked
        whenever the template is read: only ``self.properties`` and ``deps`` may be looked at.
        """

    # -- life cycle -----------------------------------------------------------------------------

    def handle_create(self) -> Any:
        """Make the physical resource. Does nothing by default."""

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> Any:
        """Change the physical resource. Only called if every changed property allows it.

        ``tmpl_diff``: changed keys of the definition; ``prop_diff``: changed properties with
        their new values, None where a property is gone. Asks for a replacement by default if
        properties changed.
        """
        if prop_diff:
            raise UpdateReplace(self.name)
        return None

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        """Take over a physical resource that exists, instead of making one.

        ``resource_data`` has ``resource_id`` (the physical id), ``resource_data`` (entries of
        ``data_set``; ``redacted`` names those that are never shown) and ``metadata``, as an
        abandoned stack gave them. All of it is kept by default; raises ResourceFailure where no id
        is given.
        """
        physical = resource_data.get("resource_id")
        if not physical:
            raise ResourceFailure("Resource ID was not provided.")
        self.resource_id_set(physical)
        data = resource_data.get("resource_data")
        redacted = resource_data.get("redacted") or ()
        for key, value in (data if isinstance(data, Mapping) else {}).items():
            self.data_set(key, value, redact=key in redacted)
        metadata = resource_data.get("metadata")
        if isinstance(metadata, Mapping) and metadata:
            self.metadata_set(metadata)
        return None

    def handle_delete(self) -> Any:
        """Remove the physical resource; by default through ``client().<entity>.delete``."""
        if self.entity and self.resource_id is not None:
            try:
                getattr(self.client(), self.entity).delete(self.resource_id)
            except Exception as error:
                self.client_plugin().ignore_not_found(error)
                return None
            return self.resource_id
        return None

    def describe_remains(self) -> str:
        """The things that ``handle_delete`` leaves outside, as a sentence; '' where there are none.

        Shown in every plan that makes or deletes the resource. Asked before anything is done: only
        ``self.properties`` and what is stored may be looked at.
        """
        return ""

    def describe_outcome(self) -> str:
        """The sentence for the event of a creation or update that has ended well; '' for the usual.

        Such as that the thing was there already. Asked at the end of the operation.
        """
        return ""

    def needs_replace_failed(self) -> bool:
        """Whether a resource in a FAILED state is replaced by the next update."""
        return True

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether these changes need a replacement although each property may be updated."""
        return False

    def always_update(self) -> bool:
        """Whether ``handle_update`` runs on every stack update, changes or not."""
        return False

    def needs_update(self, after: Resource, changed: bool) -> bool:
        """Whether what ``after`` holds is worth an operation. Asked of the resource as it is.

        ``changed``: the resolved definition is another one. False keeps the new definition and does
        nothing; UpdateReplace asks for a replacement. A class that can say True without a change
        defines ``always_update``, too: else nobody asks it then.
        """
        return changed or after.always_update()

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The properties as they really are outside; None: this type cannot tell.

        By the names of the properties and in their types; a name that cannot be observed is left
        out, also in a map whose schema names its keys (of another: ``live_state.Partial``). A name
        with None was observed: the thing has no such value, which differs from one that was sent.
        Raises ``errors.NotFound`` where the thing is gone, ``errors.NotReady(delay)`` to be called
        again within the same check, on another instance; any other error: nobody could look.
        Changes nothing, here or outside: ``resource_id_set`` and the like are refused.
        During a check ``context.operation`` has the action CHECK, an id of its own and a deadline,
        and ``context.observation`` keeps what one call has for the next.
        """

    def cancel_observation(self) -> None:
        """End an observation that ``get_live_state`` began and that is no longer needed.

        Called on another instance, where the check has given up or is interrupted;
        ``context.observation`` has what the last call has kept. Nothing can be stored here either.
        """

    # -- attributes -----------------------------------------------------------------------------

    @property
    def attributes(self) -> Attributes:
        """The attributes by name; a value is asked for when it is first read."""
        # Made anew each time: kept here it would hold the instance that holds it, and what is in
        # such a circle is freed late.
        return Attributes(
            self.name,
            self._attribute_schemata(),
            self._resolve_any_attribute,
            self._known_attributes,
        )

    def _attribute_schemata(self) -> Mapping[str, AttributeSchema]:
        return {**self.attributes_schema, SHOW: SHOW_SCHEMA}

    def _resolve_any_attribute(self, name: str) -> Any:
        if name == SHOW:
            return self._show_resource()
        return self._resolve_attribute(name)

    def _resolve_attribute(self, name: str) -> Any:
        """The current value of an attribute; None where it is not known."""

    def _show_resource(self) -> Any:
        """The map behind the attribute ``show``; by default the client's view of the entity."""
        if self.entity and self.resource_id is not None:
            try:
                return getattr(self.client(), self.entity).get(self.resource_id).to_dict()
            except AttributeError as error:
                _LOG.warning("The attribute show of %s cannot be resolved: %s", self.name, error)
                return None
        return None

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """The value of an attribute, below ``path``; raises InvalidTemplateAttribute."""
        if key not in self.attributes:
            if self.any_attribute:
                return None
            raise InvalidTemplateAttribute(self.name, key)
        return select(self.attributes[key], path)

    # -- clients --------------------------------------------------------------------------------

    def client(self, name: str | None = None) -> Any:
        """The client object of ``name`` or ``default_client_name``."""
        return self.context.client(name or self.default_client_name or "")

    def client_plugin(self, name: str | None = None) -> Any:
        """The client plug-in of ``name`` or ``default_client_name``."""
        return self.context.client_plugin(name or self.default_client_name or "")
