"""The life of a named object: made once, found again, changed in place, removed if it is ours.

What the types add is how their kind is looked for, made, changed and dropped. An object is known by
its mark (``marks``) or by its oid; the place (cluster, and database for what lives in one) tells
whether another connection leads to the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotFound,
    PropertyErrors,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    UpdateReplace,
    check_live_state,
    properties,
)

from . import connection, naming
from .marks import Comment, marked
from .session import Session, Unreachable, connect, literal

SERVER, DATABASE, NAME, OWNER = "server", "database", "name", "owner"
COMMENT, ADOPT = "comment", "adopt"
_OID, _PLACE, _ADOPTED = "oid", "place", "adopted"

#: The oids of a catalog's objects whose comment ends with a mark.
_MARKED: Final = """
    SELECT objoid FROM pg_shdescription
    WHERE classoid = %s::regclass AND description LIKE '%%[zonda %% ' || %s || ']'
    UNION SELECT objoid FROM pg_description
    WHERE classoid = %s::regclass AND description LIKE '%%[zonda %% ' || %s || ']'
"""

_Schema = properties.Schema


@dataclass(frozen=True, slots=True)
class Found:
    """An object as it is. ``values``: its properties that can be observed."""

    oid: int
    name: str
    comment: Comment
    values: Mapping[str, Any]


class OnServer(Resource):
    """The base of every type that works on a server."""

    start_policy = "idempotent"
    repairs_in_place = True
    reference_may_change = True  # a new name

    @contextlib.contextmanager
    def session(self, props: Mapping[str, Any], database: str = "") -> Iterator[Session]:
        """A session by the settings in ``props``."""
        application = f"zonda {self.stack.name}/{self.name}"
        with connect(props[SERVER], database or props.get(DATABASE) or "", application) as session:
            yield session

    def needs_replace_failed(self) -> bool:
        """False: an object that was begun is completed in place."""
        return self.resource_id is None


class Managed(OnServer):
    """A named object. The types define what raises NotImplementedError here."""

    #: Its name in messages and in COMMENT ON: ``DATABASE``.
    kind: ClassVar[str] = ""
    #: The table of PostgreSQL that lists all of them.
    catalog: ClassVar[str] = ""
    #: Properties whose values no message may quote.
    quiet: ClassVar[tuple[str, ...]] = ()

    # -- what a type defines ----------------------------------------------------------------------

    def find(self, session: Session, column: str, value: Any) -> Found | None:
        """The object by ``name`` or ``oid``."""
        raise NotImplementedError

    def make(self, session: Session, wanted: properties.Properties, comment: str) -> None:
        """Make it together with its comment: both, or neither."""
        raise NotImplementedError

    def change(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        """Make it what ``wanted`` says; its name and comment are right already."""
        raise NotImplementedError

    def rename(self, session: Session, found: Found, name: str) -> None:
        """Give it another name."""
        session.run(f"ALTER {self.kind} {{}} RENAME TO {{}}", found.name, name)

    def drop(self, session: Session, found: Found) -> None:
        """Remove it."""
        raise NotImplementedError

    def discard(self, session: Session) -> None:
        """Remove what an interrupted creation has left."""
        return None

    def examine(self, errors: PropertyErrors) -> None:
        """Note further errors of the properties."""
        return None

    # -- life cycle -------------------------------------------------------------------------------

    def validate(self) -> None:
        """Names are not longer than PostgreSQL's."""
        errors = PropertyErrors(self)
        for key in (NAME, OWNER, DATABASE):
            errors.check(key, naming.check, self.properties.get(key) or "")
        self.examine(errors)
        errors.raise_all()

    def handle_create(self) -> None:
        """Make it, unless somebody else's is there."""
        with self.session(self.properties) as session:
            self._make_or_take(session, self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Make it what the template says, whatever it has become."""
        wanted = self.make_properties(json_snippet)
        with self.session(wanted) as session:
            known = self.data().get(_PLACE)
            if known is not None and known != self._place(session):
                raise UpdateReplace(self.name)
            self._make_or_take(session, wanted)

    def handle_delete(self) -> None:
        """Drop it if it is ours."""
        try:
            with self.session(self.properties) as session:
                self.discard(session)
                found = self._ours(session)
                if found is not None and _ADOPTED not in self.data():
                    self.drop(session, found)
                elif found is not None:
                    self.context.progress(f"{found.name} stays: it was adopted")
        except Unreachable:
            # What was never reached holds nothing of ours; a database that is gone has taken with
            # it what was in it.
            if _PLACE in self.data() and (not self.in_database or self._home_is_there()):
                raise

    def handle_check(self) -> None:
        """Fail if it is gone or has changed."""
        check_live_state(self, self.quiet)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Take over the object of this name; from then on it is as if it had been made here."""
        super().handle_adopt({**resource_data, "resource_id": self.properties[NAME]})
        with self.session(self.properties) as session:
            found = self.find(session, NAME, self.properties[NAME])
            if found is None:
                raise NotFound(self.kind.lower(), self.properties[NAME])
            self._remember(session, found)
            self.write_comment(session, found.name, marked(found.comment.text, self))

    def get_live_state(self) -> Mapping[str, Any]:
        """The properties that can be observed."""
        with self.session(self.properties) as session:
            found = self._ours(session)
            if found is None:
                raise NotFound(self.kind.lower(), self.properties[NAME])
            return self.shown(session, found)

    def shown(self, session: Session, found: Found) -> dict[str, Any]:
        """Its properties as they are, in the shape in which the template gives them."""
        return {NAME: found.name, **found.values, COMMENT: found.comment.text}

    def _resolve_attribute(self, name: str) -> Any:
        with self.session(self.properties) as session:
            found = self._ours(session)
        if found is None:
            return None
        return {NAME: found.name, "oid": found.oid, **found.values}.get(name)

    # -- the steps --------------------------------------------------------------------------------

    @property
    def in_database(self) -> bool:
        """Whether it lives in one database, and not in the server as a whole."""
        return DATABASE in self.properties_schema

    def _place(self, session: Session) -> str:
        cluster = session.cluster()
        return f"{cluster}/{session.database_oid()}" if self.in_database else cluster

    def _make_or_take(self, session: Session, wanted: properties.Properties) -> None:
        name = wanted[NAME]
        naming.check(name)
        self._store(_PLACE, self._place(session))  # before anything is made: see handle_delete
        found = self._ours(session)
        if found is None:
            found = self.find(session, NAME, name)
            if found is None:
                self.make(session, wanted, marked(wanted[COMMENT], self))
                found = self._after(session, NAME, name)
            elif not wanted[ADOPT]:
                raise ResourceFailure(
                    f"The {self.kind.lower()} {name} is there already ({found.comment.maker()}): "
                    "drop it, give another name, or say `adopt: true` to use it as it is"
                )
            else:
                self.data_set(_ADOPTED, "true")
        self._remember(session, found)
        if found.name != name:
            self.rename(session, found, name)
            found = self._after(session, "oid", found.oid)
        self.resource_id_set(name)
        self._comment(session, found, wanted)
        self.change(session, found, wanted)

    def _after(self, session: Session, column: str, value: Any) -> Found:
        found = self.find(session, column, value)
        if found is None:
            raise ResourceFailure(f"The {self.kind.lower()} {value} has gone while it was made")
        return found

    def _ours(self, session: Session) -> Found | None:
        """The object of this resource, under whatever name.

        Anybody can copy a mark, and after a restore an oid says little: where the object of the
        known oid does not carry the mark, there must be no more than one that may be meant.
        """
        known = self.data().get(_OID)
        found = self.find(session, "oid", int(known)) if known is not None else None
        if found is not None and (found.comment.owner == self.uuid or _ADOPTED in self.data()):
            return found
        meant = self._marked(session)
        if found is not None and not found.comment.owner:
            meant.append(found)
        if len(meant) > 1:
            names = " and ".join(sorted(each.name for each in meant))
            raise ResourceFailure(
                f"PostgreSQL at {session.where}: the {self.kind.lower()}s {names} may both be the "
                f"one of this resource, since comments can be copied: take the end of the comment, "
                f"[zonda ...], away from the one that is not"
            )
        return meant[0] if meant else None

    def _marked(self, session: Session) -> list[Found]:
        """The object with the mark of this resource, or a copy of it."""
        rows = session.rows(_MARKED, self.catalog, self.uuid, self.catalog, self.uuid)
        found = [self.find(session, "oid", oid) for (oid,) in rows]
        return [each for each in found if each is not None]

    def _remember(self, session: Session, found: Found) -> None:
        self._store(_OID, str(found.oid))
        self._store(_PLACE, self._place(session))

    def _store(self, key: str, value: str) -> None:
        if self.data().get(key) != value:
            self.data_set(key, value)

    def _comment(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        given = wanted.convert(COMMENT)
        text = found.comment.text if given is None else given
        if _ADOPTED in self.data():
            if given is None or found.comment.text == text:
                return
            owner = found.comment
            comment = f"{text} [zonda {owner.stack}/{owner.resource} {owner.owner}]"
            comment = comment if owner.owner else text
        else:
            comment = marked(text, self)
            if (found.comment.owner, found.comment.text) == (self.uuid, text):
                return
        self.write_comment(session, found.name, comment)

    def write_comment(self, session: Session, name: str, comment: str) -> None:
        """Set the comment."""
        session.run(f"COMMENT ON {self.kind} {{}} IS {{}}", name, literal(comment))

    def _home_is_there(self) -> bool:
        """Whether the database that it lives in is still there; raises Unreachable."""
        server = {**self.properties[SERVER], connection.DBNAME: ""}
        name = self.properties[DATABASE] or self.properties[SERVER].get(connection.DBNAME)
        oid = self.data().get(_PLACE, "/0").split("/")[1]
        with connect(server, "", "zonda") as session:
            query = "SELECT 1 FROM pg_database WHERE oid = %s::oid OR datname = %s"
            return session.one(query, int(oid), name or "") is not None


def common(kind: str) -> dict[str, properties.Schema]:
    """The properties that every named object has."""
    return {
        SERVER: connection.server_property(),
        COMMENT: _Schema(
            _Schema.STRING,
            f"The comment of the {kind}. Behind it stands who made the {kind}. Left alone if it is "
            "not given.",
            update_allowed=True,
        ),
        ADOPT: _Schema(
            _Schema.BOOLEAN,
            f"Whether a {kind} that is there already is used: it is changed as the template says, "
            "and deletion does not drop it.",
            default=False,
            update_allowed=True,
        ),
    }
