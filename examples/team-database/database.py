"""Make, change, lock, unlock and remove a team's SQLite database.

Run by the bundled runner service as ``python3 database.py ACTION`` with the request on stdin; the
answer goes to stdout. Every action may be run twice with the same request and changes nothing the
second time: the file's name is made from the id of the resource, and each change is one
transaction that ends in the wanted state, whatever was there before.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

LEVEL_1 = """
CREATE TABLE IF NOT EXISTS about (team TEXT NOT NULL, locked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS member (name TEXT PRIMARY KEY, joined TEXT NOT NULL);
"""
LEVEL_2 = """
CREATE TABLE IF NOT EXISTS project (
    name TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES member (name) ON DELETE CASCADE
);
"""


def location(request):
    """The file of this resource: the team's folder, the name, and the end of the resource's id."""
    inputs = request["inputs"]
    short = request["resource"]["id"].replace("-", "")[-8:]
    return Path(inputs["directory"]) / inputs["team"] / f"{inputs['name']}-{short}.sqlite3"


def connect(path):
    """A connection in which nothing is committed by itself."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def converge(connection, inputs):
    """Bring schema and members to what the inputs ask for, in one transaction."""
    wanted, level = inputs["members"], int(inputs["schema_level"])
    connection.execute("BEGIN IMMEDIATE")
    for statement in (LEVEL_1 + (LEVEL_2 if level >= 2 else "")).split(";"):
        connection.execute(statement)
    if level < 2:
        connection.execute("DROP TABLE IF EXISTS project")
    connection.execute(f"PRAGMA user_version = {level}")
    if not connection.execute("SELECT count(*) FROM about").fetchone()[0]:
        connection.execute("INSERT INTO about (team) VALUES (?)", (inputs["team"],))
    marks = ", ".join("?" * len(wanted))
    connection.execute(f"DELETE FROM member WHERE name NOT IN ({marks})", wanted)
    connection.executemany(
        "INSERT INTO member VALUES (?, date('now')) ON CONFLICT (name) DO NOTHING",
        [(name,) for name in wanted],
    )
    connection.execute("COMMIT")


def create_or_update(request):
    """The database as the inputs want it."""
    path = location(request)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(connect(path)) as connection:
        converge(connection, request["inputs"])
        members = connection.execute("SELECT count(*) FROM member").fetchone()[0]
    return {"resource_id": path.stem, "path": str(path), "members": members}


def lock(request, locked):
    """Note in the database whether it is in use."""
    with closing(connect(location(request))) as connection:
        connection.execute("UPDATE about SET locked = ?", (int(locked),))
    return {"locked": locked}


def delete(request):
    """Remove the file and, if nothing else is in it, the team's folder."""
    path = location(request)
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
    return {}


ACTIONS = {
    "create": create_or_update,
    "update": create_or_update,
    "suspend": lambda request: lock(request, True),
    "resume": lambda request: lock(request, False),
    "delete": delete,
}

if __name__ == "__main__":
    json.dump(ACTIONS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
