"""One configuration on several servers: a deployment for each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import SupportStatus, attributes, properties, support

from ..groups import member_template
from ..groups.batched import BATCH_CREATE, ROLLING_UPDATE, BatchedGroup, make_policies_schema
from ..groups.member_template import Entry, ReadPath
from ..groups.rolling_update import make_policy_schema
from .deployment import SERVER, SoftwareDeployment, StructuredDeployment
from .deployment_values import STATUS_CODE, STDERR, STDOUT

SERVERS: Final = "servers"

#: The attribute of a single deployment by that of the group.
_OWN: Final = {
    "deploy_stdouts": STDOUT,
    "deploy_stderrs": STDERR,
    "deploy_status_codes": STATUS_CODE,
}
_Schema = properties.Schema


def _make_properties_schema(of: Mapping[str, properties.Schema]) -> dict[str, properties.Schema]:
    """The properties of a deployment, with several servers in the place of one."""
    servers = _Schema(
        _Schema.MAP,
        "The ids of the servers by a name for each, which the deployment is called, too.",
        required=True,
        update_allowed=True,
    )
    return {SERVERS: servers, **{name: one for name, one in of.items() if name != SERVER}}


def _make_values_schema(what: str) -> attributes.Schema:
    return attributes.Schema(f"{what}, by the name of the server.", type=attributes.Schema.MAP)


def _make_hidden_status(instead: str) -> SupportStatus:
    return SupportStatus(
        support.HIDDEN,
        f"Use {instead}.",
        version="7.0.0",
        previous_status=SupportStatus("DEPRECATED", version="2014.2"),
    )


class DeploymentGroup(BatchedGroup):
    """A deployment for each server; any attribute of one is a map of those of all."""

    member_type: ClassVar[str]
    type_properties = ()
    sized_by = (SERVERS,)
    renamed_properties = (SERVERS,)
    member_names_from = (SERVERS,)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "deploy_stdouts": _make_values_schema("What was written"),
        "deploy_stderrs": _make_values_schema("What was written of errors"),
        "deploy_status_codes": _make_values_schema("The exit codes"),
    }
    update_policy_schema: ClassVar[Mapping[str, properties.Schema]] = {
        ROLLING_UPDATE: _Schema(
            _Schema.MAP,
            "How deployments are given a new definition; all at once without it.",
            schema=make_policy_schema(with_service=False, what="replace"),
        ),
        BATCH_CREATE: make_policies_schema(with_service=False)[BATCH_CREATE],
    }

    def size(self) -> int:
        """One deployment for each server."""
        return len(self.properties[SERVERS])

    def names(self, size: int) -> Sequence[str]:
        """The names of the first servers."""
        return [str(name) for name in self.properties[SERVERS]][:size]

    def member_types(self) -> Collection[str]:
        """The type of a deployment."""
        return [self.member_type]

    def entry(self, name: str) -> Entry:
        """The deployment for one server: what is given for the group, but for the servers."""
        given = self.properties.get_stored_values()
        servers = {str(key): value for key, value in given.pop(SERVERS).items()}
        own = {key: value for key, value in given.items() if value is not None}
        return member_template.build_entry(self.member_type, {**own, SERVER: servers[name]})

    def build_output(self, names: Collection[str], path: ReadPath) -> Any:
        """The attribute of each deployment, by name."""
        key = path[0]
        if key is None or str(key).startswith("resource."):
            return super().build_output(names, path)
        return member_template.build_attribute_map(names, [_OWN.get(key, key)])

    def get_other_attribute(self, key: str, *path: Any) -> Any:
        """The attribute of each deployment, by name."""
        values = self.map_of(key)
        return attributes.select(values, path)

    def _resolve_attribute(self, name: str) -> Any:
        return self.map_of(_OWN[name])


class SoftwareDeploymentGroup(DeploymentGroup):
    """A configuration that is to be applied to several servers."""

    support_status = SupportStatus(version="5.0.0")
    member_type = "OS::Heat::SoftwareDeployment"
    always_used_types = (member_type,)
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = _make_properties_schema(
        SoftwareDeployment.properties_schema
    )


class StructuredDeploymentGroup(DeploymentGroup):
    """A structured configuration that is to be applied to several servers."""

    support_status = SupportStatus(version="5.0.0")
    member_type = "OS::Heat::StructuredDeployment"
    always_used_types = (member_type,)
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = _make_properties_schema(
        StructuredDeployment.properties_schema
    )


class SoftwareDeployments(SoftwareDeploymentGroup):
    """An old name of ``OS::Heat::SoftwareDeploymentGroup``."""

    support_status = _make_hidden_status("OS::Heat::SoftwareDeploymentGroup")


class StructuredDeployments(StructuredDeploymentGroup):
    """An old name of ``OS::Heat::StructuredDeploymentGroup``."""

    support_status = _make_hidden_status("OS::Heat::StructuredDeploymentGroup")
