"""One class of zonda's for each class of a plug-in for Heat. Made by ``adapted`` only.

The engine calls ``zonda.hooks.resources.resource.Resource``, plug-ins extend Heat's class of that
name. Both have methods of the same name that mean different things, so neither extends the other:
the one holds the other and hands on.
"""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import (
    Dependencies,
    InvalidTemplateAttribute,
    NotFound,
    Properties,
    ResourceContext,
    ResourceDefinition,
    ResourceState,
    TemplateError,
    Unavailable,
    UpdateReplace,
    ValidationErrors,
    attributes,
    constraints,
    resource,
    select,
)
from zonda.hooks import NoActionRequired as _NoActionRequired

from heat.common import exception
from heat.engine import attributes as heat_attributes
from heat.engine import properties as heat_properties
from heat.engine import rsrc_defn
from heat.engine.resource import NoActionRequired
from heat.engine.resource import Resource as HeatResource
from heat.engine.resources.stack_resource import StackResource

from . import asking, dependencies, stack_users
from .around import Stack
from .deletion import complete_deletion
from .marks import carry
from .observing import tell
from .placeholders import AsGiven, Broken, make_fault
from .recovery import Recovering, find_way
from .replacement import let_go, take_back
from .steps import note_steps
from .tokens import CannotBeStored, pack, unpack

#: Actions whose handlers take no argument but the resource itself.
_PLAIN = ("create", "delete", "suspend", "resume", "check", "snapshot")
_KEPT = "_zonda_adapted"
#: The groups of Heat, whose handlers reach into its engine.
_GROUPS = (
    *("heat.engine.resources.openstack.heat.", "heat.engine.resources.aws.autoscaling."),
    "heat.engine.resources.aws.cfn.",
)


class Adapted(Recovering, resource.Resource):
    """The base of all adapted classes; ``heat_class`` is the plug-in's own class."""

    heat_class: ClassVar[type[HeatResource]] = HeatResource

    def __init__(
        self,
        name: str,
        definition: ResourceDefinition,
        context: ResourceContext,
        state: ResourceState | None = None,
    ) -> None:
        # Not the base's: it would read the properties, which belong to the plug-in's instance.
        self.name = name
        self.t = definition
        self._state = state or ResourceState()
        self._lent = context
        self._heat: Any = None
        self._token: Any = None

    @property
    def context(self) -> ResourceContext:
        """The context of the engine."""
        return self._lent

    @context.setter
    def context(self, context: ResourceContext) -> None:
        self._lent = context
        if self._heat is not None:
            self._heat.stack.context.lent = context

    @property
    def heat(self) -> Any:
        """The plug-in's own instance."""
        # no cached_property: Python 3.11 has one lock for all, and this may wait for templates
        if self._heat is None:
            self._heat = self._make_heat()
        return self._heat

    def _make_heat(self) -> Any:
        stack = Stack(self._lent, self, self._state)
        made = self.heat_class(self.name, _definition(self.t), stack)
        operation = getattr(self._lent, "operation", None)
        if operation is not None and operation.action in made.ACTIONS:
            made.action, made.status = operation.action, made.IN_PROGRESS
            begun = datetime.datetime.fromtimestamp(operation.started_at, datetime.UTC)
            made.created_time = made.updated_time = begun.replace(tzinfo=None)
        return made

    # -- properties ----------------------------------------------------------------------------

    @property
    def properties(self) -> Properties:  # type: ignore[override]
        """The values, as the engine reads them."""
        try:
            held: Properties = self.heat.properties.held
            if self.t.properties and not held.data and not held.props:
                return AsGiven({}, self.t.properties)
            return held
        except Exception as error:
            if getattr(self._lent, "operation", None) is not None:
                raise
            return Broken(self.properties_schema, error)

    def make_properties(self, definition: ResourceDefinition) -> Properties:
        """The properties of another definition."""
        return type(self)(self.name, definition, self._lent, self._state).properties

    def validate(self) -> None:
        """Run the plug-in's own check; tell of what it needs and zonda has not."""
        faults = [*stack_users.list_warnings(self.heat)]
        try:
            self._check_own()
        except constraints.NotChecked as error:
            path = ("resources", self.name)
            faults.append(TemplateError(str(error), path=path, code=asking.NOT_CHECKED))
        else:
            properties = self.heat.properties
            unchecked = properties.finders.list_unchecked(properties.held.props)
            at = ("resources", self.name, "properties")
            faults += [fault.prepend_path(*at) for fault in unchecked]
        if faults:
            raise ValidationErrors(faults)

    def _check_own(self) -> None:
        try:
            with asking.not_checked("The resource", self._lent):
                found = self.heat.validate()
        except constraints.NotChecked:
            raise
        except Exception as error:
            raise make_fault(error) from error
        if found:  # until 2013 a check gave back the text of a fault
            text = found.get("Error", found) if isinstance(found, Mapping) else found
            raise TemplateError(str(text))

    def add_dependencies(self, deps: Dependencies) -> None:
        """Add the edges of the plug-in."""
        dependencies.add_edges(self.heat, self.t, deps)

    # -- life cycle ----------------------------------------------------------------------------

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> Any:
        """Hand an update on, in the form that Heat has it."""
        heat, after = self.heat, _definition(json_snippet)
        heat.regenerate_info_schema(after)
        diff = heat.update_template_diff(after, heat.t)
        changed = dict(prop_diff)
        if _overrides(self.heat_class, "translation_rules"):
            changed = self._translate(after, changed)
        if _overrides(self.heat_class, "update_template_diff_properties"):
            before = heat.t.properties(heat.properties_schema, heat.context)
            props = after.properties(heat.properties_schema, heat.context)
            changed = heat.update_template_diff_properties(props, before)
        if diff and heat.needs_replace_with_tmpl_diff(diff):
            raise UpdateReplace(self.name)
        with carry(self._state.uuid):
            token = heat.handle_update(after, diff, changed)
        self._note_steps(token)
        return self._begun("update", token)

    def _note_steps(self, token: Any) -> None:
        if self.way is not None:  # a type of Heat's own
            note_steps(self.heat, token)

    def _translate(
        self, after: rsrc_defn.ResourceDefinition, changed: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The changes with ids for names, as the values that are read of ``after`` from now on."""
        heat, read = self.heat, after.properties

        def translated(schema: Any, context: Any = None) -> Any:
            props = read(schema, context)
            heat.translate_properties(props)
            return props

        after.properties = translated  # type: ignore[method-assign]
        props = translated(heat.properties_schema, heat.context)
        return {key: props.get(key) for key in changed}

    def needs_update(self, after: resource.Resource, changed: bool) -> bool:
        """Whether an update is worth an operation; the plug-in may ask for a replacement."""
        asks = _overrides(self.heat_class, "_needs_update", "needs_replace")
        if not asks or not isinstance(after, Adapted):
            return super().needs_update(after, changed)
        heat, new = self.heat, after.heat
        return bool(heat._needs_update(new.t, heat.t, new.properties, heat.properties, None))

    def needs_replace_failed(self) -> bool:
        """Whether the next update after a failure makes a new thing."""
        return bool(self.heat.needs_replace_failed())

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: Properties, before: Properties
    ) -> bool:
        """Whether these changes need a new thing."""
        new, old = _Read(after), _Read(before)
        return bool(self.heat.needs_replace_with_prop_diff(set(changed), new, old))

    def handle_delete(self) -> Any:
        """Remove the thing, and what handlers that were cut off have made."""
        self.remove_strays()
        with complete_deletion(self.heat):
            return self._begun("delete", self.heat.handle_delete())

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        """Take over a thing that exists."""
        return self._begun("adopt", self.heat.handle_adopt(resource_data))

    def _begun(self, action: str, token: Any) -> Any:
        """The token of a handler, in a form that the engine can store if that is possible."""
        self._token = token
        if token is None:
            return None
        if inspect.isgenerator(token) and not hasattr(self.heat, f"check_{action}_complete"):
            # A handler that is a task: each poll takes it one step further.
            setattr(self, f"check_{action}_complete", self._step)
        return {"heat": _stored(token)}

    def _step(self, token: Any) -> bool:
        try:
            next(self._token)
        except StopIteration:
            return True
        return False

    def _checked(self, action: str, token: Any) -> bool:
        """The answer of a check; a token that it changes is stored as it is then."""
        live = self._token
        if live is None and token is not None:
            live = self._token = unpack(token["heat"])
            if action == "update":
                self._note_steps(live)
        check = getattr(self.heat, f"check_{action}_complete")
        try:
            return bool(_with_token(check, live))
        finally:
            if isinstance(token, dict):
                token["heat"] = _stored(live)

    # -- what others read ----------------------------------------------------------------------

    @property
    def attributes(self) -> Any:
        """The attributes by name; some plug-ins put a plain map of their own in their place."""
        heat = self.heat
        if not isinstance(heat.attributes, heat_attributes.Attributes):
            heat.attributes = heat_attributes.Attributes(
                self.name, heat.attributes_schema, heat._resolve_any_attribute
            )
        return heat.attributes

    def _resolve_attribute(self, name: str) -> Any:
        return self.attributes[name]

    def _show_resource(self) -> Any:
        return self.attributes[HeatResource.SHOW]

    def get_reference_id(self) -> Any:
        """The value of ``get_resource``."""
        return self.heat.FnGetRefId()

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The properties as they really are, where the plug-in can tell."""
        try:
            return tell(self.heat)
        except exception.EntityNotFound as error:
            raise NotFound("resource", self.name) from error


class _Read(heat_properties.Properties):
    """Properties that the engine holds, as plug-ins read them."""

    def __init__(self, held: Properties) -> None:
        super().__init__(held.props, held.data)
        self.held = held


def _definition(definition: ResourceDefinition) -> rsrc_defn.ResourceDefinition:
    """A definition as plug-ins read it."""
    return rsrc_defn.ResourceDefinition(
        definition.name,
        definition.type,
        properties=definition.properties,
        metadata=definition.metadata,
        depends=definition.depends_on,
        deletion_policy=definition.deletion_policy,
        update_policy=definition.update_policy,
        description=definition.description,
        external_id=definition.external_id,
        raw=definition.raw.get("properties"),
    )


def _stored(token: Any) -> Any:
    """The token as JSON, or as it is where it cannot be: then it lives as long as the process."""
    try:
        return pack(token)
    except CannotBeStored:
        return token


def _with_token(check: Callable[..., Any], token: Any) -> Any:
    try:
        inspect.signature(check).bind(token)
    except TypeError:  # until 2012 checks had no token
        return check()
    return check(token)


def _overrides(cls: type[Any], *names: str) -> bool:
    return any(getattr(cls, name) is not getattr(HeatResource, name) for name in names)


# -- making the classes ------------------------------------------------------------------------


def adapted(heat_class: type[HeatResource]) -> type[Adapted] | Unavailable:
    """The class for ``heat_class``, made once; ``Unavailable`` where zonda cannot have it."""
    if _KEPT not in heat_class.__dict__:
        setattr(heat_class, _KEPT, _choose(heat_class))
    made: type[Adapted] | Unavailable = heat_class.__dict__[_KEPT]
    return made


def _choose(heat_class: type[HeatResource]) -> type[Adapted] | Unavailable:
    if not issubclass(heat_class, StackResource):
        return _make(heat_class)
    if heat_class.__module__.startswith(_GROUPS):
        return Unavailable("zonda brings its own type for it: Heat's calls Heat's engine")
    from .nested import NestedAdapted  # it extends what is here

    return _make(heat_class, NestedAdapted)


def _make(heat_class: type[HeatResource], base: type[Adapted] | None = None) -> type[Adapted]:
    body: dict[str, Any] = {
        "__doc__": heat_class.__doc__,
        "__module__": heat_class.__module__,
        "__qualname__": heat_class.__qualname__,
        "heat_class": heat_class,
        "properties_schema": heat_class._declared(),
        "attributes_schema": _attributes_schema(heat_class),
        "update_policy_schema": heat_properties.schemata(heat_class.update_policy_schema or {}),
        "support_status": heat_class.support_status,
        "entity": heat_class.entity,
        "default_client_name": heat_class.default_client_name,
        "start_policy": heat_class.start_policy,
        "way": find_way(heat_class),
    }
    if base is not None:  # its handlers are the engine's
        if callable(getattr(heat_class, "handle_signal", None)):
            body["handle_signal"] = _signal
        return type(heat_class.__name__, (base,), body)
    body.update(_handlers(heat_class))
    if body["way"] is not None and "handle_find" not in body:
        body.update(start_policy="find", handle_find=Adapted.find_cut_off)
    if _overrides(heat_class, "get_attribute", "FnGetAtt"):
        body["any_attribute"], body["FnGetAtt"] = True, _get_att
    if _overrides(heat_class, "_needs_update", "needs_replace"):
        # That it is defined makes the engine look at every update, changed or not.
        body["always_update"] = lambda self: False
    if _overrides(heat_class, "prepare_for_replace"):
        body.update(prepare_for_replace=let_go, restore_replaced=take_back)
    if not _overrides(heat_class, "add_dependencies"):
        body["add_dependencies"] = resource.Resource.add_dependencies
    return type(heat_class.__name__, (Adapted,), body)


def _attributes_schema(heat_class: type[HeatResource]) -> dict[str, attributes.Schema]:
    own = {**(heat_class.attributes_schema or {}), **(heat_class.base_attributes_schema or {})}
    own.pop(HeatResource.SHOW, None)
    return dict(heat_attributes.schemata(own))


def _handlers(heat_class: type[HeatResource]) -> dict[str, Any]:
    """Only what the plug-in has: whether a method is there says what a type can do."""
    found: dict[str, Any] = {}
    for action in _PLAIN:
        is_own = action != "delete"  # all have one, which removes more than the plug-in's
        if is_own and callable(getattr(heat_class, f"handle_{action}", None)):
            found[f"handle_{action}"] = _handler(action)
    for action in (*_PLAIN, "update", "adopt", "delete_snapshot", "restore"):
        if callable(getattr(heat_class, f"check_{action}_complete", None)):
            found[f"check_{action}_complete"] = _check(action)
        if callable(getattr(heat_class, f"handle_{action}_cancel", None)):
            found[f"handle_{action}_cancel"] = _cancel(action)
    for name, action in (
        ("handle_snapshot_delete", "delete"),
        ("handle_delete_snapshot", "delete_snapshot"),
        ("handle_find", "create"),
    ):
        if callable(getattr(heat_class, name, None)):
            found[name] = _given(name, action)
    if callable(getattr(heat_class, "handle_restore", None)):
        found["handle_restore"] = _restore
    if callable(getattr(heat_class, "handle_signal", None)):
        found["handle_signal"] = _signal
    return found


def _get_att(self: Adapted, key: str, *path: Any) -> Any:
    own = self.heat.FnGetAtt
    try:
        inspect.signature(own).bind(key, *path)
    except TypeError:  # it was written when there were no paths
        return select(own(key), path)
    try:
        return own(key, *path)
    except exception.InvalidTemplateAttribute as error:
        raise InvalidTemplateAttribute(self.name, key) from error


def _handler(action: str) -> Any:
    def handle(self: Adapted) -> Any:
        with carry(self._state.uuid):
            return self._begun(action, getattr(self.heat, f"handle_{action}")())

    return handle


def _check(action: str) -> Any:
    def check(self: Adapted, token: Any) -> bool:
        return self._checked(action, token)

    return check


def _cancel(action: str) -> Any:
    def cancel(self: Adapted, token: Any) -> None:
        live = self._token
        if live is None and isinstance(token, dict):
            live = unpack(token["heat"])
        getattr(self.heat, f"handle_{action}_cancel")(live)

    return cancel


def _given(name: str, action: str) -> Any:
    def handle(self: Adapted, said: Any) -> Any:
        return self._begun(action, getattr(self.heat, name)(said))

    return handle


def _restore(
    self: Adapted, definition: ResourceDefinition, data: Mapping[str, Any]
) -> ResourceDefinition:
    made = self.heat.handle_restore(_definition(definition), data)
    return definition.freeze(properties=dict(made["Properties"]), metadata=made.metadata())


def _signal(self: Adapted, details: Any = None) -> Any:
    try:
        return self.heat.handle_signal(details)
    except NoActionRequired as error:
        raise _NoActionRequired(self.name, str(error)) from error
