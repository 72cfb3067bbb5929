"""The disruptions by kind: each is done to one member, or to all, and undone again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from .members import Members


@dataclass
class Scene:
    """All that a disruption needs.

    ``hold``: seconds that a member is held up, at most. ``ends``: seconds that SIGTERM took.
    """

    members: Members
    source: Random
    hold: float
    ends: list[float] = field(default_factory=list)

    def wait(self) -> None:
        """Wait while a member is held up."""
        threading.Event().wait(self.source.uniform(self.hold / 2, self.hold))


def kill(scene: Scene) -> int:
    """``kill -9`` of one member, which is started again."""
    server = scene.source.choice(scene.members.servers)
    scene.members.end(server, signal.SIGKILL)
    scene.members.start(server)
    return 1


def stop(scene: Scene) -> int:
    """SIGSTOP of one member, and SIGCONT after a while."""
    server = scene.source.choice(scene.members.servers)
    scene.members.stop(server)
    scene.wait()
    scene.members.go_on(server)
    return 1


def roll(scene: Scene) -> int:
    """SIGTERM of one member after the other; each is back before the next one ends."""
    for server in scene.members.servers:
        scene.ends.append(scene.members.end(server, signal.SIGTERM))
        scene.members.start(server)
    return len(scene.members.servers)


#: kind -> what does it; how many members it has disrupted
KINDS: dict[str, Callable[[Scene], int]] = {"kill": kill, "stop": stop, "roll": roll}
#: Seconds that a stack may pause at most, where another member takes over.
BARS = {kind: 1.0 if kind == "roll" else 10.0 for kind in KINDS}
