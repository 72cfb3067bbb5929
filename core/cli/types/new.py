"""``zonda type new`` and ``zonda type schema``: declared types (manifests)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from zonda.core.scaffold.workflow_type import TypeNames, write_type
from zonda.hooks.errors import NotFound

from ..arguments import argument, takes
from ..session import Session


@takes(
    argument("name", metavar="NAME", help="of the type, e.g. Acme::Disk"),
    argument(
        "--folder", metavar="FOLDER", help="where to put it; default: a new folder, e.g. acme-disk"
    ),
)
def new(session: Session, arguments: argparse.Namespace) -> None:
    """Write a manifest with workflows and a template; they work as they are."""
    names = TypeNames.of(arguments.name)
    folder = Path(arguments.folder or names.file)
    for path in write_type(names, folder):
        session.screen.out.write(f"{path}\n")
    session.screen.say(
        f"{names.type} is made by workflows. To go on:\n"
        f"  zonda plugin check {folder / names.file}.yaml\n"
        f"  zonda runner serve {folder / 'workflows.yaml'}     (in another terminal)\n"
        f"  zonda stack create first -t {folder / 'template.yaml'} -e {folder / 'environment.yaml'}"
    )


@takes(
    argument("key", metavar="KEY", nargs="?", default="zonda_type", help="default: zonda_type"),
)
def schema(session: Session, arguments: argparse.Namespace) -> None:
    """Print a JSON Schema on standard output."""
    readers = session.local.plugins.type_readers
    make = getattr(readers.get(arguments.key), "json_schema", None)
    if make is None:
        known = [key for key, reader in readers.items() if hasattr(reader, "json_schema")]
        raise NotFound("schema of types", arguments.key, hint=f"There are {', '.join(known)}.")
    session.screen.out.write(json.dumps(make(), indent=2) + "\n")
