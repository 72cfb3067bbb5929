"""The next releases of zonda, for a storm of upgrades: copies with one migration more each.

They add columns to the tables that are written to most: members of the release before, and of this
one, go on beside that. A release that would take one away again is refused as long as any is there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import zonda
from zonda.core.store.schema.version import HEAD

from ..serve_storm.server import PATIENCE

_MIGRATION = '''"""Made by the storm of upgrades."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
contracts = {contracts}


def upgrade() -> None:
    """{what}."""
    for table in ("stack", "resource", "event"):
        {change}
'''
_ADD = 'op.add_column(table, sa.Column("{name}", sa.Text(), nullable=False, server_default=""))'
_DROP = 'op.drop_column(table, "{name}")'


class Release:
    """The release that comes so many after this one, in a folder of its own.

    ``contracts``: its own migration takes away what the one before it has added.
    """

    def __init__(self, folder: Path, number: int, *, contracts: bool = False) -> None:
        self.version = f"{zonda.__version__}+{number}"
        self._folder = folder / f"release-{number}{'-contracts' * contracts}"
        package = self._folder / "zonda"
        shutil.copytree(zonda.__path__[0], package)
        for each in range(1, number):
            self._add_migration(each, contracts=False)
        self._add_migration(number, contracts=contracts)
        _replace(package / "__init__.py", r'(__version__ = ").*"', self.version)
        _replace(package / "core/store/schema/version.py", r'(HEAD = ").*"', _revision(number))

    def _add_migration(self, number: int, *, contracts: bool) -> None:
        change = (_DROP if contracts else _ADD).format(name=f"added_{number - contracts}")
        text = _MIGRATION.format(
            revision=_revision(number),
            before=_revision(number - 1),
            contracts=contracts,
            what="Take the columns away" if contracts else "Add the columns",
            change=change,
        )
        versions = self._folder / "zonda/core/store/file/migrations/versions"
        (versions / f"{_revision(number)}_storm.py").write_text(text)

    @property
    def path(self) -> str:
        """The ``PYTHONPATH`` of a process of this release."""
        return os.pathsep.join(filter(None, (str(self._folder), os.environ.get("PYTHONPATH"))))

    def upgrade(self, settings: Mapping[str, str]) -> tuple[int, str]:
        """Run ``zonda db upgrade`` of this release; its exit code, and what it says."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "zonda", "db", "upgrade"],
            capture_output=True,
            text=True,
            env={**os.environ, **settings, "PYTHONPATH": self.path},
            timeout=PATIENCE,
        )
        return done.returncode, done.stderr

    def remove(self) -> None:
        """Remove its files."""
        shutil.rmtree(self._folder)


def _revision(number: int) -> str:
    return f"{int(HEAD) + number:04d}"


def _replace(file: Path, pattern: str, value: str) -> None:
    text, count = re.subn(pattern, rf'\g<1>{value}"', file.read_text())
    assert count == 1, file
    file.write_text(text)
