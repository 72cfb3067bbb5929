"""``Zonda::PostgreSQL::Grant``."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotFound,
    PropertyErrors,
    ResourceDefinition,
    ResourceFailure,
    UpdateReplace,
    attributes,
    check_live_state,
    constraints,
    properties,
    support,
)

from . import connection, naming, privileges, standing
from .managed import DATABASE, SERVER, OnServer
from .privileges import ALL, KINDS, MANY, PUBLIC, Item
from .session import Session, Unreachable, connect

ROLE, KIND, SCHEMA, OBJECTS = "role", "object_type", "schema", "objects"
PRIVILEGES, OPTION, FUTURE, FUTURE_OWNER = "privileges", "grant_option", "future", "future_owner"

_GRANTED, _PLACE = "granted", "place"
_Oids = dict[str, dict[str, int]]
_WORDS: Final = (
    *(ALL, "CONNECT", "CREATE", "DELETE", "EXECUTE", "INSERT", "MAINTAIN", "REFERENCES"),
    *("SELECT", "TEMPORARY", "TRIGGER", "TRUNCATE", "UPDATE", "USAGE"),
)

_Schema = properties.Schema
_Attribute = attributes.Schema


class Grant(OnServer):
    """Privileges of one role on a database, a schema, or tables, sequences or functions of one.

    Every change is made in place: what is no longer wanted is revoked, what is new is granted, the
    rest is not touched. Privileges that the role had before are not this resource's, and are not
    revoked with it. Without `objects` all that are in the schema are meant; with `future` those,
    too, that `future_owner` makes later: they lose them again with the grant.
    """

    support_status = support.SupportStatus(version="0.1.0")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        SERVER: connection.server_property(),
        DATABASE: naming.name("The database; the one of `server` by default."),
        ROLE: naming.name(
            "Who gets the privileges: a role, or PUBLIC for everybody.", required=True
        ),
        KIND: _Schema(
            _Schema.STRING,
            "The kind of what they are for.",
            required=True,
            constraints=[constraints.AllowedValues(list(KINDS))],
            update_allowed=True,
        ),
        SCHEMA: naming.name("The schema, for everything but a database."),
        OBJECTS: _Schema(
            _Schema.LIST,
            "The names of tables or sequences, or functions and procedures with the types of what "
            "they are called with: `total(integer, app.money)`. All that are in the schema if it "
            "is not given.",
            schema=_Schema(_Schema.STRING),
            update_allowed=True,
        ),
        PRIVILEGES: _Schema(
            _Schema.LIST,
            "The privileges, or ALL.",
            required=True,
            schema=_Schema(_Schema.STRING, constraints=[constraints.AllowedValues(list(_WORDS))]),
            constraints=[constraints.Length(min=1)],
            update_allowed=True,
        ),
        OPTION: _Schema(
            _Schema.BOOLEAN,
            "Whether the role may pass them on.",
            default=False,
            update_allowed=True,
        ),
        FUTURE: _Schema(
            _Schema.BOOLEAN,
            "Whether tables, sequences or functions that are made in the schema later have them.",
            default=False,
            update_allowed=True,
        ),
        FUTURE_OWNER: naming.name(
            "Who makes what comes later; the role that zonda logs in as by default."
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        PRIVILEGES: _Attribute("The privileges that the role has.", type=_Attribute.LIST),
        OBJECTS: _Attribute("The objects that they are for.", type=_Attribute.LIST),
    }

    def validate(self) -> None:
        """Check the properties that belong together."""
        given, errors = self.properties, PropertyErrors(self)
        for key in (DATABASE, ROLE, SCHEMA, FUTURE_OWNER):
            errors.check(key, naming.check, given[key])
        if not errors.is_unknown(KIND):
            self._examine(given[KIND], errors)
        if given[FUTURE] and given[OBJECTS]:
            errors.add(FUTURE, "is for all objects of a schema: leave `objects` out")
        errors.raise_all()

    def _examine(self, kind: str, errors: PropertyErrors) -> None:
        given = self.properties
        if kind != privileges.DATABASE and not given[SCHEMA] and not errors.is_unknown(SCHEMA):
            errors.add(SCHEMA, f"a grant on a {kind} needs the schema")
        for key in (OBJECTS, FUTURE):
            if given[key] and kind not in MANY:
                errors.add(key, f"is for {', '.join(MANY)}, not for a {kind}")

    # -- life cycle -------------------------------------------------------------------------------

    def handle_create(self) -> None:
        """Grant what the role does not have yet."""
        with self.session(self.properties) as session:
            self._converge(session, self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Revoke and grant what differs."""
        wanted = self.make_properties(json_snippet)
        with self.session(wanted) as session:
            if self.data().get(_PLACE, "") not in ("", _place(session)):
                raise UpdateReplace(self.name)
            self._converge(session, wanted)

    def handle_delete(self) -> None:
        """Revoke what was granted here."""
        granted = self._granted()
        if not granted:
            return
        try:
            with self.session(self.properties) as session, session.transaction():
                granted |= standing.given_since(session, granted, self._before())
                privileges.revoke(session, privileges.live(session, granted))
        except Unreachable:
            if self._database_is_there():
                raise
        self._remember(())

    def handle_check(self) -> None:
        """Fail if a privilege, the role, or what it is for is missing."""
        check_live_state(self)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Count what the role has of it as granted here."""
        super().handle_adopt({**resource_data, "resource_id": _name(self.properties)})
        with self.session(self.properties) as session:
            self.data_set(_PLACE, _place(session))
            held = privileges.live(session, _items(session, self.properties))
            self._remember(held, _oids(session, self.properties))

    def get_live_state(self) -> Mapping[str, Any]:
        """The privileges that the role has on all of it, and whether it may pass them on."""
        wanted = self.properties
        with self.session(wanted) as session:
            _check_there(session, wanted)
            items = _items(session, wanted)
            there = privileges.live(session, items)
        if items and not there:
            raise NotFound("grant", _name(wanted))
        missing = {item.privilege for item in items if item not in there}
        words = [word for word in wanted[PRIVILEGES] if word != ALL and word not in missing]
        if ALL in wanted[PRIVILEGES]:
            has = sorted({item.privilege for item in items} - missing)
            words = wanted[PRIVILEGES] if not missing else has
        may = bool(there) and all(there.values())
        return {ROLE: wanted[ROLE], PRIVILEGES: words, OPTION: may if items else wanted[OPTION]}

    def _resolve_attribute(self, name: str) -> Any:
        if name == PRIVILEGES:
            return self.get_live_state()[PRIVILEGES]
        with self.session(self.properties) as session:
            items = _items(session, self.properties)
        return sorted({item.name for item in items if item.name})

    # -- the steps --------------------------------------------------------------------------------

    def _stored(self) -> dict[str, Any]:
        """The grants made here (``items``), the oids behind the names in it, what was before."""
        found: dict[str, Any] = {"items": [], "roles": {}, "schemas": {}, "before": []}
        return {**found, **json.loads(self.data().get(_GRANTED, "{}"))}

    def _granted(self) -> set[Item]:
        return {Item(*row) for row in self._stored()["items"]}

    def _before(self) -> standing.Before:
        return frozenset((oid, word) for oid, word in self._stored()["before"])

    def _remember(
        self,
        items: Collection[Item],
        oids: _Oids | None = None,
        before: standing.Before = standing.NOTHING,
    ) -> None:
        """Store items, the oids behind their names and what was before, all at once."""
        stored = self._stored()
        known = {
            key: {**stored[key], **(oids[key] if oids else {})} for key in ("roles", "schemas")
        }
        listed = [item.to_list() for item in sorted(items)]
        text = json.dumps({"items": listed, **known, "before": sorted(before)})
        if self.data().get(_GRANTED) != text:
            self.data_set(_GRANTED, text)

    def _converge(self, session: Session, wanted: properties.Properties) -> None:
        """Grant what is missing, revoke what was granted here and is no longer wanted.

        What will be granted is stored before it is, so that an attempt after a crash does not take
        it for what the role had before.
        """
        _check_there(session, wanted)
        target = _items(session, wanted)
        granted = self._renamed(session, wanted)
        granted |= standing.given_since(session, granted, self._before())
        before = standing.held_before(session, target, granted)
        there = privileges.live(session, target | granted)
        missing = target - there.keys()
        oids = _oids(session, wanted)
        self.data_set(_PLACE, _place(session))
        self._remember(granted | missing, oids, before | self._before())
        self.resource_id_set(_name(wanted))
        mine = granted | missing
        with session.transaction():
            privileges.revoke(session, (granted - target) & there.keys())
            privileges.grant(session, missing, wanted[OPTION])
            present = target & there.keys()
            if wanted[OPTION]:
                privileges.grant(session, {item for item in present if not there[item]}, True)
            else:
                surplus = {item for item in present & mine if there[item]}
                privileges.revoke(session, surplus, option_only=True)
        self._remember(mine & target, oids, before)

    def _renamed(self, session: Session, wanted: Mapping[str, Any]) -> set[Item]:
        """The grants made here, under the names that its role, schema and database have now."""
        before, now = self._stored(), _oids(session, wanted)
        roles, schemas = set(now["roles"].values()), set(now["schemas"].values())
        found = set()
        for item in self._granted():
            if before["roles"].get(item.role) in roles:
                item = replace(item, role=wanted[ROLE])
            if before["schemas"].get(privileges.schema_of(item)) in schemas:
                item = privileges.in_schema(item, wanted[SCHEMA])
            found.add(privileges.in_database(item, session.database))
        return found

    def _database_is_there(self) -> bool:
        server = {**self.properties[SERVER], connection.DBNAME: ""}
        oid = self.data().get(_PLACE, "/0").split("/")[1]
        with connect(server, "", "zonda") as session:
            query = "SELECT 1 FROM pg_database WHERE oid = %s::oid"
            return session.one(query, int(oid)) is not None


def _place(session: Session) -> str:
    return f"{session.cluster()}/{session.database_oid()}"


def _oids(session: Session, wanted: Mapping[str, Any]) -> _Oids:
    """The oids of role and schema, which others that take their names later do not have."""
    roles = session.rows("SELECT rolname, oid FROM pg_roles WHERE rolname = %s", wanted[ROLE])
    query = "SELECT nspname, oid FROM pg_namespace WHERE nspname = %s"
    return {"roles": dict(roles), "schemas": dict(session.rows(query, wanted[SCHEMA]))}


def _name(wanted: Mapping[str, Any]) -> str:
    """The physical id: for people, it is looked up nowhere."""
    inside = ".".join(part for part in (wanted[DATABASE], wanted[SCHEMA]) if part)
    objects = f" ({', '.join(wanted[OBJECTS])})" if wanted[OBJECTS] else ""
    return f"{wanted[ROLE]} on {wanted[KIND]} {inside}{objects}"


def _check_there(session: Session, wanted: Mapping[str, Any]) -> None:
    """Raise NotFound for the role, the schema or an object that is missing."""
    role, schema = wanted[ROLE], wanted[SCHEMA]
    if role != PUBLIC and not session.one("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        raise NotFound("role", role, hint="Make it with a Zonda::PostgreSQL::Role.")
    if wanted[KIND] == privileges.DATABASE:
        return
    if not session.one("SELECT 1 FROM pg_namespace WHERE nspname = %s", schema):
        raise NotFound("schema", schema, hint="Make it with a Zonda::PostgreSQL::Schema.")
    if wanted[OBJECTS]:
        there = privileges.spellings(session, wanted[KIND], schema)
        missing = [name for name in wanted[OBJECTS] if name not in there]
        if missing:
            raise NotFound(wanted[KIND], f"{schema}.{missing[0]}")


def _items(session: Session, wanted: Mapping[str, Any]) -> set[Item]:
    """Every single privilege that the template means, on what is there now."""
    kind, role = wanted[KIND], wanted[ROLE]
    known = privileges.every(session, kind)
    words = known if ALL in wanted[PRIVILEGES] else wanted[PRIVILEGES]
    _check_words(kind, words, known)
    if kind == privileges.DATABASE:
        places = [("", session.database)]
    elif kind == privileges.SCHEMA:
        places = [("", wanted[SCHEMA])]
    else:
        places = [(wanted[SCHEMA], name) for name in _objects(session, wanted)]
    items = {Item(kind, schema, name, role, word) for schema, name in places for word in words}
    if wanted[FUTURE]:
        row = session.one("SELECT current_user::text")
        owner = wanted[FUTURE_OWNER] or (row[0] if row else "")
        later = privileges.FUTURE + kind
        items |= {Item(later, wanted[SCHEMA], "", role, word, owner) for word in words}
    return items


def _objects(session: Session, wanted: Mapping[str, Any]) -> Collection[str]:
    """The names of what is meant in the schema. One that is not there is nobody's."""
    if not wanted[OBJECTS]:
        return privileges.objects(session, wanted[KIND], wanted[SCHEMA])
    known = privileges.spellings(session, wanted[KIND], wanted[SCHEMA])
    return {known.get(name, name) for name in wanted[OBJECTS]}


def _check_words(kind: str, words: Sequence[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise ResourceFailure(
                f"privileges: {word} is no privilege on a {kind}; there are {', '.join(known)}"
            )
