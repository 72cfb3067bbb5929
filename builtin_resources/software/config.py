"""``OS::Heat::SoftwareConfig``, ``StructuredConfig`` and ``CloudConfig``: what is to be configured.

A configuration is nothing but its properties. It never changes: another definition is another
configuration, with another id. Who uses one (a deployment, a message of parts) finds it by that id
and asks for ``software_config``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import SupportStatus, attributes, properties

from ..base import LocalResource
from ..schema import make_text_schema
from .schema import (
    CONFIG,
    GROUP,
    GROUP_SCHEMA,
    INPUTS,
    INPUTS_SCHEMA,
    OPTIONS,
    OPTIONS_SCHEMA,
    OUTPUTS,
    OUTPUTS_SCHEMA,
    UNGROUPED,
    drop_unset,
)

CLOUD_CONFIG = "cloud_config"

_Schema = properties.Schema


class Configuration(LocalResource):
    """The base of the types of configuration."""

    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        CONFIG: attributes.Schema("The configuration.", type=attributes.Schema.STRING)
    }

    def handle_create(self) -> None:
        """Set its own id, by which others find it."""
        self.resource_id_set(self.uuid)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Set its own id; its content stands in the template."""
        self.resource_id_set(self.uuid)

    def configuration(self) -> Any:
        """The text or the map itself; None where none is given."""
        return self.properties.convert(CONFIG)

    def software_config(self) -> dict[str, Any]:
        """Data of a deployment: ``group``, ``config``, ``inputs``, ``outputs``, ``options``."""
        given = {
            key: self.properties.convert(key) if key in self.properties else None
            for key in (GROUP, INPUTS, OUTPUTS, OPTIONS)
        }
        return {
            GROUP: given[GROUP] or UNGROUPED,
            CONFIG: self.configuration(),
            INPUTS: drop_unset(given[INPUTS]),
            OUTPUTS: drop_unset(given[OUTPUTS]),
            OPTIONS: given[OPTIONS] or {},
        }

    def _resolve_attribute(self, name: str) -> Any:
        return self.configuration() if name == CONFIG else None


class SoftwareConfig(Configuration):
    """A script, or another text that a tool applies, with the inputs and outputs that it has.

    Any change makes a new one, with a new id, and removes the old one once nobody uses it.
    """

    support_status = SupportStatus(version="2014.1")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        GROUP: GROUP_SCHEMA,
        CONFIG: make_text_schema("The script, or whatever the tool takes."),
        OPTIONS: OPTIONS_SCHEMA,
        INPUTS: INPUTS_SCHEMA,
        OUTPUTS: OUTPUTS_SCHEMA,
    }


class StructuredConfig(Configuration):
    """A configuration that is a map instead of a text.

    ``{get_input: NAME}`` in it is filled in by an OS::Heat::StructuredDeployment; here it is data.
    """

    support_status = SupportStatus(version="2014.1")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **SoftwareConfig.properties_schema,
        CONFIG: _Schema(_Schema.MAP, "The map that the tool takes."),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        CONFIG: attributes.Schema("The configuration.")
    }


class CloudConfig(Configuration):
    """A configuration of cloud-init, written as a map; the attribute ``config`` is its text."""

    support_status = SupportStatus(version="2014.1")
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {CONFIG: (CLOUD_CONFIG,)}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        CLOUD_CONFIG: _Schema(_Schema.MAP, "The keys of cloud-config.")
    }

    def configuration(self) -> str:
        """The map as YAML, keys in order."""
        import yaml  # 0.02 s that a stack without one need not spend

        known = self.properties.convert(CLOUD_CONFIG)
        return "#cloud-config\n" + yaml.safe_dump(known, default_flow_style=False)
