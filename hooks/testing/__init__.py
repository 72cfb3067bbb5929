"""Fakes for tests of plug-ins: no engine, no database, no waiting.

::

    from zonda.hooks.testing import FakeContext, Lifecycle

    def test_a_disk_grows_in_place() -> None:
        disk = Lifecycle(Disk, {"size": 1}, context=FakeContext(clients={"disks": FakeDisks()}))
        disk.create()
        assert disk.update({"size": 2}) == "updated"
        assert disk.attribute("size") == 2
        disk.delete()

``Lifecycle`` drives one resource, ``FakeContext`` is what the engine lends it, ``FakeClock`` its
time and ``FakeRunner`` a workflow runner that answers by a script. ``NestedLifecycle`` drives a
type whose physical side is a nested stack, ``FakeChild`` is that stack. Whole templates are run by
the pytest fixture ``zonda_stack``, which zonda itself brings.
"""

from __future__ import annotations

from .fakes import FakeClock, FakeContext, FakeOperation, FakeRunner, Saved
from .lifecycle import Lifecycle, Outcome
from .nested import FakeChild, FakeMember, NestedLifecycle

__all__ = [
    "FakeChild",
    "FakeClock",
    "FakeContext",
    "FakeMember",
    "FakeOperation",
    "FakeRunner",
    "Lifecycle",
    "NestedLifecycle",
    "Outcome",
    "Saved",
]
