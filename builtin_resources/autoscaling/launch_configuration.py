"""``AWS::AutoScaling::LaunchConfiguration``: what the instances of a group are made like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import SupportStatus, properties

from ..base import LocalResource

_Schema = properties.Schema


def _make_text_schema(description: str, *, required: bool = False) -> properties.Schema:
    return _Schema(_Schema.STRING, description, required=required)


class LaunchConfiguration(LocalResource):
    """The properties of instances, kept for the groups that refer to it.

    Nothing can be changed in place: another configuration is another one for the groups, too.
    """

    support_status = SupportStatus(version="2014.1")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "InstanceId": _make_text_schema("An instance to take what is not given from."),
        "ImageId": _make_text_schema("The image."),
        "InstanceType": _make_text_schema("The flavor."),
        "KeyName": _make_text_schema("The name of a key pair."),
        "UserData": _make_text_schema("What the instance is given to run."),
        "SecurityGroups": _Schema(_Schema.LIST, "Names of security groups."),
        "KernelId": _make_text_schema("The kernel."),
        "RamDiskId": _make_text_schema("The memory disk."),
        "BlockDeviceMappings": _Schema(
            _Schema.LIST,
            "The disks of the instance.",
            schema=_Schema(_Schema.MAP, "One disk."),
        ),
        "NovaSchedulerHints": _Schema(
            _Schema.LIST,
            "Hints for whoever chooses a host.",
            schema=_Schema(
                _Schema.MAP,
                "One hint.",
                schema={
                    "Key": _make_text_schema("The name of the hint.", required=True),
                    "Value": _make_text_schema("Its value.", required=True),
                },
            ),
        ),
    }

    # Whoever refers to it makes something of all that it keeps.
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {
        None: tuple(properties_schema)
    }

    def handle_create(self) -> None:
        """Make nothing; the id says that it exists."""
        self.resource_id_set(self.physical_resource_name())

    def instance_properties(self) -> dict[str, Any]:
        """The properties of an instance, as far as they are given."""
        given = self.properties.get_stored_values()
        return {
            name: value
            for name, value in given.items()
            if value is not None and name != "InstanceId"
        }
