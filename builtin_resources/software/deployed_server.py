"""``OS::Heat::DeployedServer``: a server that is there already, to be configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import (
    SupportStatus,
    attributes,
    constraints,
    properties,
    support,
)

from ..base import DefinitionResource
from ..schema import make_text_schema

NAME, METADATA, TRANSPORT = "name", "metadata", "software_config_transport"
SWIFT_DATA, CONTAINER, OBJECT = "deployment_swift_data", "container", "object"
COLLECT_CONFIG = "os_collect_config"
TRANSPORTS = ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"]

_Schema = properties.Schema
_Status = SupportStatus


class DeployedServer(DefinitionResource):
    """A server that somebody else has made, for deployments to name.

    Nothing happens to the server. An agent on it (os-collect-config) may poll what is to be
    configured while zonda serve runs: os_collect_config is its configuration, and hidden.
    """

    support_status = SupportStatus(version="8.0.0")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        NAME: make_text_schema("The name of the server.", update_allowed=True),
        METADATA: _Schema(
            _Schema.MAP,
            "Not used.",
            update_allowed=True,
            support_status=_Status(
                support.DEPRECATED,
                "This property will be ignored",
                version="9.0.0",
                previous_status=_Status(support.SUPPORTED, version="8.0.0"),
            ),
        ),
        TRANSPORT: make_text_schema(
            "How an agent on the server is told its configuration in Heat. Here it polls a URL.",
            default=TRANSPORTS[0],
            update_allowed=True,
            constraints=[constraints.AllowedValues(TRANSPORTS)],
        ),
        SWIFT_DATA: _Schema(
            _Schema.MAP,
            "Where POLL_TEMP_URL has its object in Heat. Not used here.",
            update_allowed=True,
            support_status=_Status(version="9.0.0"),
            schema={
                CONTAINER: make_text_schema(
                    "The name of the container.", constraints=[constraints.Length(min=1)]
                ),
                OBJECT: make_text_schema(
                    "The name of the object.", constraints=[constraints.Length(min=1)]
                ),
            },
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NAME: attributes.Schema("The name of the server.", type=attributes.Schema.STRING),
        COLLECT_CONFIG: attributes.Schema(
            "The configuration of an agent on the server: the URL that it polls. Empty as long as "
            "no server runs; hidden.",
            type=attributes.Schema.MAP,
            cache_mode=attributes.Schema.CACHE_NONE,
            hidden=True,
            support_status=_Status(version="9.0.0"),
        ),
    }

    def handle_create(self) -> None:
        """Give it the id that deployments name."""
        self.resource_id_set(self.uuid)

    def _resolve_attribute(self, name: str) -> Any:
        if name == NAME:
            return self.properties[NAME] or self.physical_resource_name()
        url = self.context.signal_url("metadata") if name == COLLECT_CONFIG else None
        if url is None:
            return {} if name == COLLECT_CONFIG else None
        return {"collectors": ["request", "local"], "request": {"metadata_url": url}}
