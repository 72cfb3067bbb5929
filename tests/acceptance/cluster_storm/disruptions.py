"""The disruptions by kind: each is done to one member, or to all, and undone again."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from ..serve_storm.server import Server
from .members import Members
from .sites import Cluster, Embedded

#: SIGSTOP is sent again and again until it comes at the moment that is wanted, but not for ever;
#: between two of them the member goes on twice as long as it stood, and for so many seconds more.
_TRIES, _RUNS = 2000, 0.05


@dataclass
class Scene:
    """All that a disruption needs.

    ``hold``: seconds that a member is held up, at most. ``ends``: seconds that SIGTERM took.
    """

    members: Members
    source: Random
    hold: float
    site: Embedded | Cluster
    ends: list[float] = field(default_factory=list)

    @property
    def cluster(self) -> Cluster:
        """The site of a kind that needs one with PostgreSQL."""
        assert isinstance(self.site, Cluster)
        return self.site

    def wait(self) -> None:
        """Wait while a member is held up."""
        threading.Event().wait(self.source.uniform(self.hold / 2, self.hold))

    def choose(self) -> Server:
        """One of the members."""
        return self.source.choice(self.members.servers)


def kill(scene: Scene) -> int:
    """``kill -9`` of one member, which is started again."""
    server = scene.choose()
    scene.members.end(server, signal.SIGKILL)
    scene.members.start(server)
    return 1


def stop(scene: Scene) -> int:
    """SIGSTOP of one member outside of a transaction, and SIGCONT after a while."""
    return _stop(scene, in_transaction=False)


def stop_in_transaction(scene: Scene) -> int:
    """The same inside of a transaction."""
    return _stop(scene, in_transaction=True)


def _stop(scene: Scene, in_transaction: bool) -> int:
    server = scene.choose()
    for _ in range(_TRIES):
        begun = time.monotonic()
        scene.members.stop(server)
        site = scene.site
        if not isinstance(site, Cluster) or site.is_in_transaction(server) == in_transaction:
            break
        scene.members.go_on(server)
        stood = time.monotonic() - begun  # else it would get on with nothing on a slow machine
        threading.Event().wait(2 * stood + scene.source.uniform(0.0, _RUNS))
    else:
        raise AssertionError("no transaction at any SIGSTOP")
    scene.wait()
    scene.members.go_on(server)
    return 1


def silence(scene: Scene) -> int:
    """No word between one member and PostgreSQL, while runner and clients reach the member."""
    number = scene.source.randrange(len(scene.cluster.proxies))
    proxy, server = scene.cluster.proxies[number], scene.cluster.servers[number]
    scene.members.leave_out(server)
    proxy.fall_silent()
    scene.wait()
    proxy.speak()
    scene.members.let_in(server)
    return 1


def terminate(scene: Scene) -> int:
    """``pg_terminate_backend`` of some sessions of all members, each by chance."""
    scene.cluster.postgresql.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5"
    )
    return len(scene.members.servers)


def restart(scene: Scene) -> int:
    """PostgreSQL is stopped at once, and started again."""
    scene.cluster.postgresql.stop()
    scene.cluster.postgresql.start()
    return len(scene.members.servers)


def roll(scene: Scene) -> int:
    """SIGTERM of one member after the other; each is back before the next one ends."""
    for server in scene.members.servers:
        scene.ends.append(scene.members.end(server, signal.SIGTERM))
        scene.members.start(server)
    return len(scene.members.servers)


def upgrade(scene: Scene) -> int:
    """A rolling upgrade to the next release: the database first, then one member after the other.

    Now and then one of the release before starts on the new schema first.
    """
    members, cluster = scene.members, scene.cluster
    cluster.upgrade()
    restarted = [scene.choose()] if scene.source.random() < 0.5 else []
    for server in restarted:
        scene.ends.append(members.end(server, signal.SIGTERM))
        members.start(server)
    for server in members.servers:
        scene.ends.append(members.end(server, signal.SIGTERM))
        cluster.install(server)
        members.start(server)
    cluster.check_release()
    return len(members.servers) + len(restarted)


#: kind -> what does it; how many members it has disrupted
KINDS: dict[str, Callable[[Scene], int]] = {
    "kill": kill,
    "stop": stop,
    "roll": roll,
    "stop_in_transaction": stop_in_transaction,
    "silence": silence,
    "terminate": terminate,
    "restart": restart,
    "upgrade": upgrade,
}
#: The kinds that need no PostgreSQL.
EMBEDDED = ("kill", "stop", "roll")
#: Seconds that a stack may pause at most, where another member takes over.
BARS = {kind: 1.0 if kind in ("roll", "upgrade") else 10.0 for kind in KINDS}
