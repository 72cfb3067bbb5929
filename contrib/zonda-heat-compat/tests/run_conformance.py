"""The conformance cases, with the classes of Heat's own plug-in files in place of zonda's.

``python run_conformance.py FOLDER PATH...``: FOLDER holds the package ``heat`` of the distribution
``openstack-heat``, PATH are files or folders of cases. Prints what ``tests/conformance/run.py``
prints. A program of its own, since it sets the clock of oslo.utils and of sleeping.
"""

from __future__ import annotations

import datetime
import functools
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

import run
from harness import play, world
from oslo_utils import timeutils
from zonda.core.plugins import files as dropins
from zonda.core.plugins.manager import gather_plugins, make_manager

from zonda_heat_compat import plugin as heat_compat

#: The files of Heat whose types zonda has, too.
FILES = ("delay.py", "none_resource.py", "random_string.py", "test_resource.py", "value.py")


@functools.cache
def replaced(folder: str) -> dict[str, Any]:
    """The types of Heat's files by name."""
    place = Path(folder) / "heat" / "engine" / "resources" / "openstack" / "heat"
    found: dict[str, Any] = {}
    for name in FILES:
        files, failures = dropins.load_file(place / name)
        assert not failures, failures
        brought = gather_plugins(make_manager(heat_compat, files=files, discover=False))
        assert not brought.failures, brought.failures
        found.update(brought.resource_types)
        found.setdefault("constraints", {}).update(brought.constraints)
    return found


def use(folder: str) -> None:
    """Have every case run with Heat's classes."""
    ours = world.plugins()
    types = dict(replaced(folder))
    ours.constraints.update(types.pop("constraints"))
    assert types.keys() <= ours.resource_types.keys()
    ours.resource_types.update(types)


class FakeTime(world.World):
    """A case whose clock is also the clock of Heat's plug-ins."""

    def __init__(self, mistral: Any) -> None:
        super().__init__(mistral)
        clock = self.clock

        def utcnow(with_timezone: bool = False) -> datetime.datetime:
            return datetime.datetime.fromtimestamp(clock.now(), datetime.UTC).replace(tzinfo=None)

        timeutils.utcnow = utcnow
        time.sleep = clock.advance


if __name__ == "__main__":
    use(sys.argv[1])
    play.World = FakeTime
    sys.exit(run.main(sys.argv[2:]))
