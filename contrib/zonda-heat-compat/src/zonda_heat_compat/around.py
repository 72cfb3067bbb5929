"""The surroundings of a resource of Heat's: its stack, and the data that is stored.

A plug-in in zonda gets values in and gives values out, so that there is much less here than in
Heat; what is missing says so when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from zonda.hooks import (
    Dependencies,
    Neighbour,
    NotSupported,
    Resource,
    ResourceContext,
    ResourceState,
)

from heat.common import identifier
from heat.common.context import RequestContext
from heat.engine import environment, function, status
from heat.engine.template import Template


class Stored:
    """The stored data of a resource; ``owner`` is the class of zonda's that the engine knows."""

    def __init__(self, owner: Resource, state: ResourceState) -> None:
        self._owner = owner
        self._state = state

    @property
    def resource_id(self) -> str | None:
        """The physical id."""
        return self._state.resource_id

    @property
    def data(self) -> dict[str, str]:
        """The entries of ``data_set``."""
        return dict(self._state.data)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata."""
        return self._state.metadata

    def save_resource_id(self, value: str | None) -> None:
        """Keep the physical id."""
        self._owner.resource_id_set(value)

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Keep a text, or forget it."""
        if value is None:
            self._owner.data_delete(key)
        else:
            self._owner.data_set(key, value, redact)

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata."""
        self._owner.metadata_set(metadata)


class Stack(status.ResourceStatus):
    """The stack, as far as a plug-in may see it."""

    strict_validate = True
    convergence = False
    in_convergence_check = False
    disable_rollback = False
    owner_id = None
    user_creds_id = None
    parent_resource_name = None
    parent_resource = None
    created_time = None
    updated_time = None
    deleted_time = None
    username = None
    nested_depth = 0
    tags: tuple[str, ...] = ()
    #: The resource before that a rollback takes again.
    former: Any = None

    def __init__(self, context: ResourceContext, owner: Resource, state: ResourceState) -> None:
        self._owner = owner
        self._state = state
        self.context = RequestContext(context)
        self.env = environment.Environment()
        self._around: Mapping[str, Neighbour] | None = None
        #: For the names of sections: what stands in the template reaches a plug-in as properties.
        self.t = Template.create_empty_template()

    def fill(self, resource: Any) -> None:
        """Give a resource what is stored of it."""
        state = self._state
        resource._kept = Stored(self._owner, state)
        resource.id = resource.uuid = state.uuid or None
        resource.action, resource.status = state.action, state.status
        resource.status_reason = state.status_reason

    @property
    def last_action(self) -> str:
        """The last action of the resource that has ended."""
        return self._state.action

    def with_neighbours(self, deps: Dependencies) -> None:
        """Show the other resources of the template."""
        self._around = deps.neighbours

    @property
    def id(self) -> Any:
        """The id."""
        return self.context.lent.stack.id

    @property
    def name(self) -> Any:
        """The name."""
        return self.context.lent.stack.name

    @property
    def clients(self) -> Any:
        """The clients."""
        return self.context.clients

    @property
    def tenant_id(self) -> Any:
        """The project: that of the cloud where there is one."""
        return self.context.tenant_id

    #: Users for signals belong to nobody, so that their project is the stack's.
    stack_user_project_id = tenant_id
    root_stack_id = id

    @property
    def action(self) -> str:
        """The running action."""
        operation = self.context.lent.operation
        return self.CREATE if operation is None else str(operation.action)

    @property
    def status(self) -> str:
        """Whether anything runs."""
        return self.COMPLETE if self.context.lent.operation is None else self.IN_PROGRESS

    @property
    def state(self) -> tuple[str, str]:
        """(action, status)."""
        return self.action, self.status

    @property
    def timeout_mins(self) -> float:
        """The timeout in minutes."""
        return float(self.context.lent.stack_timeout) / 60

    def timeout_secs(self) -> int:
        """The timeout in seconds."""
        return int(self.context.lent.stack_timeout)

    def stack_name(self) -> Any:
        """The name."""
        return self.name

    def identifier(self) -> identifier.HeatIdentifier:
        """The stack in one line."""
        project = self.context.lent.stack.project
        return identifier.HeatIdentifier(str(project), str(self.name), self.id)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The pseudo parameters. What a template declares reaches a plug-in as properties."""
        return {
            "OS::stack_name": self.name,
            "OS::stack_id": self.id,
            "OS::project_id": self.tenant_id,
            "AWS::StackName": self.name,
            "AWS::StackId": self.id,
            "AWS::Region": None,
        }

    def resolve_runtime_data(self, snippet: Any) -> Any:
        """``snippet``, which is resolved."""
        return function.resolve(snippet)

    resolve_static_data = resolve_runtime_data

    # -- the other resources, while dependencies are asked for ---------------------------------

    @property
    def resources(self) -> Mapping[str, Any]:
        """Other resources by name.

        While dependencies are asked for, all, as the template has them; else those that this one
        requires, as they are.
        """
        if self._around is not None:
            return {name: Other(each) for name, each in self._around.items()}
        required: Mapping[str, Any] = getattr(self.context.lent, "required_resources", dict)()
        return {name: getattr(each, "heat", each) for name, each in required.items()}

    def values(self) -> list[Any]:
        """The other resources."""
        return list(self.resources.values())

    itervalues = values

    def items(self) -> list[tuple[str, Any]]:
        """The other resources with their names."""
        return list(self.resources.items())

    iteritems = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.resources)

    def __len__(self) -> int:
        return len(self.resources)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return name in self.resources

    def __getitem__(self, name: str) -> Any:
        return self.resources[name]

    def _backup_stack(self) -> Any:
        """The stack that Heat keeps replaced resources in."""
        return SimpleNamespace(resources={self.former.name: self.former})

    def resource_by_refid(self, refid: str) -> Any:
        """The resource of that reference, among those that this one requires; or None."""
        for name, each in self.resources.items():
            if refid in (each.FnGetRefId(), name):
                return each
        return None

    def db_resource_get(self, name: str) -> Any:
        """Heat's database; there is none."""
        return None

    def __str__(self) -> str:
        return f'Stack "{self.name}" [{self.id}]'

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotReachable(name)


class NotReachable(NotSupported, AttributeError):
    """A part of Heat's stack that a plug-in in zonda cannot reach."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"self.stack.{name} is not there for plug-ins",
            hint="Give the plug-in what it needs as properties. See the README of heat-compat.",
        )


class Other:
    """Another resource of the template, while dependencies are asked for."""

    def __init__(self, neighbour: Neighbour) -> None:
        self.name = neighbour.name
        self._neighbour = neighbour

    @property
    def properties(self) -> Mapping[str, Any]:
        """The properties in the template; None for those that it leaves out."""
        return _Lenient(self._neighbour.properties)

    def type(self) -> str:
        """The name of the type in the template."""
        return self._neighbour.type

    def has_interface(self, resource_type: str) -> bool:
        """Whether it is of that type, or a stand-in for it."""
        return self._neighbour.type == resource_type

    def FnGetRefId(self) -> str:
        """The reference: the name, while nothing exists."""
        return self.name

    get_reference_id = FnGetRefId


class _Lenient(dict[str, Any]):
    def __missing__(self, key: str) -> None:
        return None
