"""``zonda plugin new``: write an initial plug-in package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zonda.core.scaffold import own_requirement
from zonda.core.scaffold.plugin_package import Names, write_package

from ..arguments import argument, takes
from ..session import Session


@takes(
    argument("name", metavar="NAME", help="of the distribution, e.g. acme-thing"),
    argument("--folder", metavar="FOLDER", help="where to put it; default: a new folder NAME here"),
)
def new(session: Session, arguments: argparse.Namespace) -> None:
    """Write the package; its own tests pass from the start."""
    names = Names.of(arguments.name)
    folder = Path(arguments.folder or arguments.name)
    for path in write_package(names, folder):
        session.screen.out.write(f"{path}\n")
    checkout = own_requirement.find_checkout_url()
    first = f"  (elsewhere first: pip install '{checkout}')\n" if checkout else ""
    session.screen.say(
        f"{names.distribution} brings {names.type}. To go on:\n{first}"
        f"  {sys.executable} -m pip install -e '{folder}[dev]'\n"
        f"  {sys.executable} -m pytest {folder}\n"
        f"  zonda plugin check {names.distribution}"
    )
