"""``Zonda::PostgreSQL::Server``: a connection that other resources share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import (
    NotReady,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    attributes,
    constraints,
    properties,
    support,
)

from . import connection
from .session import Session, Unreachable, connect

WAIT, CONNECTION = "wait", "connection"

_Schema = properties.Schema
_Attribute = attributes.Schema


class Server(Resource):
    """A PostgreSQL server that is there already, and how to reach it.

    Nothing is made and nothing is removed. The attribute `connection` holds all settings, the
    password among them, and is never shown: give it to other types as `server`. Creation proves
    that the server can be reached, and waits for one that is only being started.
    """

    support_status = support.SupportStatus(version="0.1.0")
    start_policy = "idempotent"
    repairs_in_place = True
    reference_may_change = True  # another address
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **connection.settings(),
        WAIT: _Schema(
            _Schema.NUMBER,
            "Seconds for which the server is waited for when it cannot be reached at first.",
            default=0,
            constraints=[constraints.Range(0, 86400)],
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        CONNECTION: _Attribute(
            "All settings of the connection, for the property `server` of other types.",
            type=_Attribute.MAP,
            hidden=True,
        ),
        "version": _Attribute("The version, e.g. 18.1.", type=_Attribute.STRING),
        "version_number": _Attribute("The version as a number, e.g. 180001.", type="Number"),
        "system_identifier": _Attribute(
            "What tells this cluster from every other.", type=_Attribute.STRING
        ),
        "in_recovery": _Attribute("Whether it is a standby.", type=_Attribute.BOOLEAN),
        "superuser": _Attribute("Whether zonda logs in as a superuser.", type=_Attribute.BOOLEAN),
        "encrypted": _Attribute("Whether the connection is.", type=_Attribute.BOOLEAN),
        "host": _Attribute("The server's name or address.", type=_Attribute.STRING),
        "port": _Attribute("The server's port.", type=_Attribute.NUMBER),
        "user": _Attribute("The role that zonda logs in as.", type=_Attribute.STRING),
    }
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {
        CONNECTION: (connection.PASSWORD,)
    }

    def needs_replace_failed(self) -> bool:
        """There is nothing to replace."""
        return False

    def handle_create(self) -> None:
        """Prove that the server can be reached."""
        self._prove(self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Prove that it can be reached as the template says now."""
        self._prove(self.make_properties(json_snippet))

    def handle_delete(self) -> None:
        """The server is not ours."""
        return None

    def handle_check(self) -> None:
        """Fail if it cannot be reached, or if it is another server."""
        with self._session(self.properties) as session:
            found, known = session.cluster(), self.data().get("cluster")
            if known not in (None, found):
                raise ResourceFailure(
                    f"PostgreSQL at {session.where} is another server than before "
                    f"(system identifier {found}, it was {known})"
                )

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """The same as to create it."""
        self._prove(self.properties)

    def get_live_state(self) -> Mapping[str, Any]:
        """The server that the connection leads to."""
        with self._session(self.properties) as session:
            info = session.raw.info
            given = {"host": info.host, "port": info.port, "user": info.user, "dbname": info.dbname}
            return {key: value for key, value in given.items() if self.properties[key]}

    def _resolve_attribute(self, name: str) -> Any:
        if name == CONNECTION:
            names = connection.settings()
            return {key: self.properties[key] for key in names if self.properties[key]}
        with self._session(self.properties) as session:
            return _facts(session)[name]

    def _session(self, props: Mapping[str, Any]) -> Any:
        return connect(props, "", f"zonda {self.stack.name}/{self.name}")

    def _prove(self, wanted: Mapping[str, Any]) -> None:
        try:
            with self._session(wanted) as session:
                cluster = session.cluster()
        except Unreachable as error:
            operation, now = self.context.operation, self.context.clock.now()
            if operation is None or now - operation.started_at >= wanted[WAIT]:
                raise
            self.context.progress(error.message)
            raise NotReady(1.0, error.message) from error
        self.data_set("cluster", cluster)
        self.resource_id_set(f"{connection.place_of(wanted)}/{cluster}")


def _facts(session: Session) -> dict[str, Any]:
    row = session.one(
        "SELECT current_setting('server_version'), pg_is_in_recovery(), rolsuper, current_user "
        "FROM pg_roles WHERE rolname = current_user"
    )
    assert row is not None, "whoever is logged in is a role"
    info = session.raw.info
    return {
        "version": row[0].split()[0],
        "version_number": session.version,
        "system_identifier": session.cluster(),
        "in_recovery": row[1],
        "superuser": row[2],
        "encrypted": session.raw.pgconn.ssl_in_use,
        "host": info.host,
        "port": info.port,
        "user": row[3],
    }
