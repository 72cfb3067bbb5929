"""The class that plug-ins for Heat extend.

It has the methods that plug-ins override and call, and nothing of Heat's engine: what is stored and
when what is called is zonda's business. ``zonda_heat_compat.adapter`` stands between both.
"""

from __future__ import annotations

import contextlib
import copy
import datetime as dt
import logging
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from zonda.hooks import NotReady

from heat.common import exception, identifier, short_id
from heat.engine import attributes, properties, rsrc_defn, status, support
from heat.rpc import client
from zonda_heat_compat.showing import Showing
from zonda_heat_compat.storing import Kept

LOG = logging.getLogger(__name__)

datetime = dt.datetime
UpdateReplace = exception.UpdateReplace
#: The place of these two until 2015.
ResourceInError = exception.ResourceInError
ResourceUnknownStatus = exception.ResourceUnknownStatus


class NoActionRequired(Exception):
    """Raised by ``handle_signal``: there is nothing to do."""

    def __init__(self, res_name: Any = "Unknown", reason: Any = "") -> None:
        super().__init__(f"{res_name}: {reason or 'nothing to do'}")


class PollDelay(NotReady):
    """Raised by a check: not complete, ask again after ``period`` seconds."""

    def __init__(self, period: float) -> None:
        if not isinstance(period, int | float) or isinstance(period, bool) or period < 0:
            raise ValueError("A delay is a number of seconds, not below zero")
        super().__init__(period)
        self.period = period


class Resource(Showing, status.ResourceStatus):
    """One resource. ``stack`` is what may be seen of the stack around it."""

    BASE_ATTRIBUTES = (SHOW,) = (attributes.SHOW_ATTR,)
    LOCK_ACTIONS = (LOCK_NONE, LOCK_ACQUIRE, LOCK_RELEASE, LOCK_RESPECT) = (None, 1, -1, 0)

    properties_schema: ClassVar[Any] = {}
    attributes_schema: Any = {}  # noqa: RUF012
    update_policy_schema: ClassVar[Any] = {}
    base_attributes_schema: ClassVar[Any] = {
        SHOW: attributes.Schema(
            "What the service behind the resource tells of it.",
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.MAP,
        )
    }
    #: Until 2014 these said what an update may change in place.
    update_allowed_properties: Any = ()
    update_allowed_keys: Any = ("Properties", "Metadata", "UpdatePolicy")

    _zonda_declared: ClassVar[dict[str, properties.Schema]]

    support_status: support.SupportStatus = support.SupportStatus()
    entity: Any = None
    default_client_name: Any = None
    required_service_extension: Any = None
    physical_resource_name_limit: int | None = 255
    strict_dependency = True
    requires_deferred_auth = False
    always_replace_on_check_failed = True
    no_signal_actions: Any = (status.ResourceStatus.SUSPEND, status.ResourceStatus.DELETE)
    signal_needs_metadata_updates = True
    #: zonda's: what recovery may do with a handler that was interrupted
    #: (docs/reference/resource-life-cycle.md).
    start_policy: ClassVar[str] = "fail"

    def __init__(self, name: str, definition: Any, stack: Any) -> None:
        if "/" in name:
            raise exception.StackValidationFailed(message='Resource name may not contain "/"')
        self.name = name
        self.stack = stack
        self.context = getattr(stack, "context", None)
        self.t = definition
        self.reparse(client_resolve=False)
        self.update_policy = self.t.update_policy(self.update_policy_schema, self.context)
        self._update_allowed_properties = self.calc_update_allowed(self.properties)
        self.attributes_schema = {**self.attributes_schema, **self.base_attributes_schema}
        self.attributes = attributes.Attributes(
            name, self.attributes_schema, self._resolve_any_attribute
        )
        self.id: Any = None
        self.uuid: Any = None
        self.action, self.status, self.status_reason = self.INIT, self.COMPLETE, ""
        self.created_time: Any = None
        self.updated_time: Any = None
        self.requires: set[Any] = set()
        self.replaces: Any = None
        self.replaced_by: Any = None
        self.abandon_in_progress = False
        self.converge = False
        self._kept = Kept()
        fill = getattr(stack, "fill", None)
        if fill is not None:
            fill(self)

    # -- what it is ----------------------------------------------------------------------------

    def reparse(self, client_resolve: bool = True) -> None:
        """Read the properties of the definition."""
        schema = self.properties_schema
        if schema is type(self).properties_schema:
            schema = self._declared()
        self.properties = self.t.properties(schema, self.context)
        self.translate_properties(self.properties, client_resolve)

    @classmethod
    def _declared(cls) -> dict[str, properties.Schema]:
        """The schemas of the class, read once, with what ``update_allowed_properties`` says."""
        if "_zonda_declared" not in cls.__dict__:
            known = properties.schemata(cls.properties_schema or {})
            for name in set(cls.update_allowed_properties or ()) & set(known):
                known[name] = copy.copy(known[name])
                known[name].update_allowed = True
            cls._zonda_declared = known
        return cls._zonda_declared

    def type(self) -> str:
        """The name of the type in the template."""
        return str(self.t.resource_type)

    def has_interface(self, resource_type: str) -> bool:
        """Whether it is of that type."""
        return bool(self.type() == resource_type)

    def identifier(self) -> identifier.ResourceIdentifier:
        """The name of the resource in its stack."""
        return identifier.ResourceIdentifier(resource_name=self.name, **self.stack.identifier())

    @property
    def external_id(self) -> Any:
        """The id of the thing that is not made here, or None."""
        return self.t.external_id()

    @property
    def state(self) -> tuple[str, str]:
        """(action, status)."""
        return self.action, self.status

    def state_set(self, action: str, status: str, reason: str = "state changed") -> None:
        """Heat's engine calls it; here the state is the engine's own."""
        self.action, self.status, self.status_reason = action, status, reason

    def state_reset(self) -> None:
        """Back to the beginning."""
        self.state_set(self.INIT, self.COMPLETE, "")

    @classmethod
    def getdoc(cls) -> str:
        """The description of the type."""
        return cls.__doc__ or "No description available"

    def physical_resource_name(self) -> str | None:
        """A name for the thing: stack, resource and a tail of its own. None before it is made."""
        if not self.uuid or self.action == self.INIT:
            return None
        tail = short_id.get_id(self.uuid)
        name = f"{self.stack.name.rstrip('*')}-{self.name}-{tail}"
        if self.physical_resource_name_limit:
            name = self.reduce_physical_resource_name(name, self.physical_resource_name_limit)
        return name

    @staticmethod
    def reduce_physical_resource_name(name: str, limit: int) -> str:
        """``name`` of at most ``limit`` characters, which keeps its tail."""
        if len(name) <= limit:
            return name
        if limit < 4:
            raise ValueError("limit cannot be less than 4")
        head, _, tail = name.rpartition("-")
        kept = limit - len(tail) - 2
        short = name[:2] + "-" + name[-(limit - 3) :]
        return short if kept < 0 else f"{head[:2]}-{head[len(head) - kept + 2 :]}-{tail}"[:limit]

    def frozen_definition(self) -> Any:
        """The definition with its values."""
        return self.t.freeze()

    @contextlib.contextmanager
    def frozen_properties(self) -> Iterator[properties.Properties]:
        """The values as they are stored."""
        yield self.properties

    def __str__(self) -> str:
        kind = type(self).__name__
        if self.resource_id is not None:
            return f'{kind} "{self.name}" [{self.resource_id}] {self.stack}'
        return f'{kind} "{self.name}" {self.stack}'

    __repr__ = __str__

    # -- validation ----------------------------------------------------------------------------

    def validate(self) -> Any:
        """Check what the schema cannot say. Raises, or gives the text of a fault."""
        self.properties.validate()
        return None

    def validate_template(self) -> None:
        """The engine validates templates."""

    def validate_deletion_policy(self, policy: Any = None) -> None:
        """The engine looks at the deletion policy."""

    def translation_rules(self, properties: Any) -> Any:
        """Rules that turn old forms of properties into new ones."""
        return None

    def translate_properties(
        self, properties: Any, client_resolve: bool = True, ignore_resolve_error: bool = False
    ) -> None:
        """Have the rules applied to ``properties``."""
        ask = getattr(properties, "translate_by", None)
        if ask is not None and type(self).translation_rules is not Resource.translation_rules:
            ask(lambda: self._rules(properties))

    def _rules(self, props: Any) -> Any:
        rules: Any = self.translation_rules
        code = getattr(rules, "__code__", None)
        # In 2015 the method took no argument but self.
        return rules() if code is not None and code.co_argcount < 2 else rules(props)

    def add_dependencies(self, deps: Any) -> None:
        """Add edges that the template does not show."""

    def add_explicit_dependencies(self, deps: Any) -> None:
        """The engine knows them."""

    def required_by(self) -> list[Any]:
        """The resources that require this one; not told to plug-ins."""
        return []

    def calc_update_allowed(self, props: Any) -> set[str]:
        """The properties that an update may change in place."""
        allowed = {name for name, each in props.props.items() if each.update_allowed()}
        return allowed | set(self.update_allowed_properties)

    # -- life cycle ----------------------------------------------------------------------------

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> Any:
        """Change the thing. By default any change of a property asks for a new one."""
        if prop_diff:
            raise UpdateReplace(self.name)
        return None

    def handle_delete(self) -> Any:
        """Remove the thing, by ``client().<entity>.delete``."""
        if self.entity and self.default_client_name is not None and self.resource_id is not None:
            with self._default_client_plugin().ignore_not_found:
                getattr(self.client(), self.entity).delete(self.resource_id)
                return self.resource_id
        return None

    def handle_adopt(self, resource_data: Any = None) -> Any:
        """Take over a thing that exists."""
        resource_id, data, metadata = self._get_resource_info(resource_data)
        if not resource_id:
            raise exception.Error("Resource ID was not provided.")
        self.resource_id_set(resource_id)
        for key, value in (data or {}).items():
            self.data_set(key, value)
        if metadata is not None:
            self.metadata_set(metadata)

    def _get_resource_info(self, resource_data: Any) -> tuple[Any, Any, Any]:
        if not resource_data:
            return None, None, None
        given = resource_data.get
        return given("resource_id"), given("resource_data"), given("metadata")

    def handle_metadata_reset(self) -> None:
        """Told before an action that metadata may be set anew."""

    def update_template_diff(self, after: Any, before: Any) -> Any:
        """What changed of the definition."""
        return after - before

    def update_template_diff_properties(
        self, after_props: Any, before_props: Any
    ) -> dict[str, Any]:
        """What changed of the properties; raises where that cannot be done in place."""
        changed = {key for key in after_props if _value(before_props, key) != after_props.get(key)}
        fixed = sorted(key for key in changed if after_props.props[key].immutable())
        if fixed:
            what = f"Update to properties {', '.join(fixed)} of {self.name} ({self.type()})"
            raise exception.NotSupported(feature=what)
        if changed and self.needs_replace_with_prop_diff(changed, after_props, before_props):
            raise UpdateReplace(self)
        if not changed <= self.calc_update_allowed(after_props):
            raise UpdateReplace(self)
        return {key: after_props.get(key) for key in changed}

    def needs_replace(self, after_props: Any) -> bool:
        """Whether the new properties need a new thing."""
        return False

    def needs_replace_with_prop_diff(
        self, changed_properties_set: Any, after_props: Any, before_props: Any
    ) -> Any:
        """Whether these changes need a new thing."""
        return False

    def needs_replace_with_tmpl_diff(self, tmpl_diff: Any) -> Any:
        """Whether these changes of the definition need a new thing."""
        return False

    def needs_replace_failed(self) -> Any:
        """Whether the next update after a failure makes a new thing."""
        return True

    def _needs_update(
        self,
        after: Any,
        before: Any,
        after_props: Any,
        before_props: Any,
        prev_resource: Any,
        check_init_complete: bool = True,
    ) -> bool:
        if self.needs_replace(after_props):
            raise UpdateReplace(self)
        if before != after:
            return True
        try:
            return bool(before_props != after_props)
        except ValueError:
            return True

    def prepare_for_replace(self) -> None:
        """Let go of what the new thing needs and only one can have, before that is made."""

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Give it back to the thing before, which a rollback takes again."""

    @classmethod
    def check_is_substituted(cls, new_res_type: Any) -> bool:
        """Whether a resource of this class may go on as one of the other."""
        return bool(getattr(new_res_type, "support_status", None)) and bool(
            new_res_type.support_status.is_substituted(cls)
        )

    # -- the rest of what plug-ins call --------------------------------------------------------

    def _verify_check_conditions(self, checks: Any) -> None:
        """Raise Error with every check that does not hold."""
        wrong = [
            f"'{each['attr']}': expected '{each['expected']}', got '{each['current']}'"
            for each in checks
            if not _holds(each)
        ]
        if wrong:
            raise exception.Error("; ".join(wrong))

    def _add_event(self, action: str, status: str, reason: str) -> None:
        LOG.info("%s: %s_%s: %s", self.name, action, status, reason)
        progress = getattr(self.context, "progress", None)
        if progress is not None:
            progress(str(reason))

    def parsed_template(self, section: str | None = None, default: Any = None) -> Any:
        """A part of the definition, as plug-ins of 2013 read it."""
        if section is None:
            return dict(self.t)
        return self.t.get(section, {} if default is None else default)

    def store(self, *given: Any, **named: Any) -> None:
        """What is set is stored at once."""

    def rpc_client(self) -> client.EngineClient:
        """Heat's own services, which some of its types keep their things in."""
        return client.EngineClient(self.type())

    def has_nested(self) -> bool:
        """Whether there is a stack inside."""
        return False

    def nested(self, *given: Any, **named: Any) -> Any:
        """The stack inside."""
        return None

    def preview(self) -> Any:
        """What a preview shows."""
        return self

    def cancel_grace_period(self) -> Any:
        """Seconds that an operation has to end when it is cancelled."""
        return None

    def has_hook(self, hook: str) -> bool:
        """Breakpoints are the engine's."""
        return False

    # -- zonda ---------------------------------------------------------------------------------

    @classmethod
    def __zonda_resource__(cls) -> Any:
        """The class that zonda's engine works with."""
        from zonda_heat_compat.adapter import adapted  # it imports this module

        return adapted(cls)


def _value(props: Any, key: str) -> Any:
    try:
        return props.get(key)
    except (TypeError, ValueError):
        return _Value


class _Value:
    """Stands for a value that cannot be read: it is equal to none."""


def _holds(check: Mapping[str, Any]) -> bool:
    expected, current = check["expected"], check["current"]
    return current in expected if isinstance(expected, list | tuple) else bool(current == expected)


class Metadata:
    """The descriptor of 2013: ``metadata = resource.Metadata()``."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance.metadata_get()

    def __set__(self, instance: Any, value: Any) -> None:
        instance.metadata_set(value)


def _register_class(resource_type: str, resource_class: Any) -> None:
    """What plug-ins of 2013 call; ``resource_mapping`` says it today."""


# Where the definition stands in plug-ins that only import this module.
ResourceDefinition = rsrc_defn.ResourceDefinition
