"""The storm: load, disruptions, and the count at the end."""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..serve_storm.server import PATIENCE
from ..serve_storm.streams import Listener
from ..storm.ledger import Endpoint
from .clients import ClusterWriter, ask
from .counting import Facts, StoredEvent, count_repeats, find_faults
from .disruptions import BARS, KINDS, Scene
from .journal import Journal
from .members import Members
from .receiver import Receiver
from .sites import Cluster, Embedded

WRITERS, STREAMS = 3, 4
#: Runs under way for each member, about.
LOAD = 8
#: Seconds for which a run may stay unheard of before the next disruption is held back.
BEHIND = 1.0
#: Seconds for which a member of a cluster is held up at most; half of it is less than a lease.
LONGER_THAN_A_LEASE = 10.0
EVENTS = "SELECT seq, id, stack_id, resource_id, generation, action, status FROM event ORDER BY seq"


class ClusterStorm:
    """``kills`` disruptions of one kind; ``run`` gives the facts, ``report`` what to print.

    ``members``: how many share a PostgreSQL; 0 is one server with SQLite.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kind: str,
        kills: int,
        seed: int,
        longest: float = 3.0,
        members: int = 0,
        streams: int = STREAMS,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._kind = kind
        self._kills = kills
        self._source = random.Random(seed)
        self._say = say
        self._news = threading.Condition()
        self.journal = Journal(random.Random(seed + 1), longest=longest)
        self.journal.watches_doubles = True  # each update is to another number
        self._endpoint, self._receiver = Endpoint(self.journal), Receiver()
        settings = self._make_settings()
        self._site: Embedded | Cluster = (
            Cluster(folder, settings, members, is_cut=kind == "silence")
            if members
            else Embedded(folder, settings)
        )
        self._members = Members(self._site.servers, random.Random(seed + 2))
        hold = LONGER_THAN_A_LEASE if members else longest
        self._scene = Scene(self._members, self._source, hold, self._site)
        self._listeners = [Listener(self._members, self._news) for _ in range(streams)]
        self._writers = [
            ClusterWriter(
                self._members,
                number,
                random.Random(f"{seed}.{number}"),
                self._news,
                self.journal,
                LOAD * len(self._members.servers),
            )
            for number in range(WRITERS)
        ]
        self._disruptions = 0
        self._seconds = 0.0

    def run(self) -> Facts:
        """Run it to its end."""
        begun = time.monotonic()
        servers = (self._endpoint, self._receiver)
        for each in servers:
            threading.Thread(target=each.serve_forever, daemon=True).start()
        try:
            for server in self._members.servers:
                self._members.start(server)
            for client in (*self._listeners, *self._writers):
                client.start()
            for number in range(self._kills):
                self._disrupt_once(number)
            return self._collect()
        finally:
            self._members.finish()
            self._members.kill()
            for each in servers:
                each.shutdown()
                each.server_close()
            self._site.close()
            self._seconds = time.monotonic() - begun

    def _make_settings(self) -> str:
        return (
            'default_runner = "storm"\n'
            f'[runners.storm]\nkind = "http"\nendpoint = {json.dumps(self._endpoint.url)}\n'
            f'[sinks.storm]\nkind = "webhook"\nurl = {json.dumps(self._receiver.url)}\n'
        )

    def _disrupt_once(self, number: int) -> None:
        """Disrupt after some more requests, once no stack is behind."""
        journal = self.journal
        wanted = journal.requests + self._source.randint(5, 80)
        with journal.moved:
            is_due = journal.moved.wait_for(
                lambda: journal.requests >= wanted and not journal.is_behind(BEHIND), PATIENCE
            )
            unheard = [run for run in journal.runs.values() if run.answer is None]
        assert is_due, f"nothing goes on: {journal.requests} of {wanted} requests, {unheard}"
        self._disruptions += KINDS[self._kind](self._scene)
        self._say(f"{number + 1}: {self._kind} after {len(journal.runs)} runs")

    # -- the count ------------------------------------------------------------------------------

    def _collect(self) -> Facts:
        for writer in self._writers:
            writer.join()
        self._say("the writers have ended")
        states = self._wait_for_rest()
        stored = self._read_events()
        self._wait_for_clients(stored)
        return Facts(
            wishes=[wish for writer in self._writers for wish in writer.wishes],
            states={name: state for (name, _), state in states.items()},
            ids={
                row["physical_resource_id"]: name
                for name, id in states
                for row in ask(self._members, f"stacks/{name}/{id}/resources")["resources"]
            },
            live=dict(self.journal.live),
            made_twice=list(self.journal.faults),
            events=stored,
            streams=[list(listener.seen) for listener in self._listeners],
            sink=list(self._receiver.got),
            disruptions=self._disruptions,
            refused=[
                *(text for writer in self._writers for text in writer.surprises),
                *(f"stream: {code}" for each in self._listeners for code in each.refusals),
                *(f"stream: {each.gaps} gaps" for each in self._listeners if each.gaps),
            ],
        )

    def _wait_for_rest(self) -> dict[tuple[str, str], str]:
        """The states of all stacks by name and id, once none is in progress."""
        limit, pause = time.monotonic() + PATIENCE, threading.Event()
        while True:
            rows = ask(self._members, "stacks")["stacks"]
            if not any(row["stack_status"].endswith("_IN_PROGRESS") for row in rows):
                return {(row["stack_name"], row["id"]): row["stack_status"] for row in rows}
            if time.monotonic() > limit:
                raise AssertionError(f"still in progress: {rows[:3]}")
            pause.wait(0.2)

    def _read_events(self) -> list[StoredEvent]:
        """All events, from the tables themselves."""
        rows = self._site.read(EVENTS)
        return [StoredEvent(*row[:5], f"{row[5]}_{row[6]}") for row in rows]

    def _wait_for_clients(self, stored: list[StoredEvent]) -> None:
        """Wait until streams and sink have had the last event, as long as anybody would."""
        last, receiver = stored[-1], self._receiver
        with self._news:
            self._news.wait_for(lambda: all(e.last >= last.seq for e in self._listeners), PATIENCE)
        with receiver.news:
            receiver.news.wait_for(lambda: last.id in receiver.got[-10:], PATIENCE)

    def report(self, facts: Facts) -> dict[str, Any]:
        """What is printed."""
        pauses = sorted(self.journal.pauses)
        seconds = [pause for pause, _ in pauses]
        bar = BARS[self._kind]
        return {
            "kind": self._kind,
            "kills": self._kills,
            "members": len(self._members.servers),
            "acknowledged": sum(writer.acknowledged for writer in self._writers),
            "stacks": len(facts.wishes),
            "keys": len(self.journal.runs),
            "sent_again": self.journal.repeated,
            "events": len(facts.events),
            "streams": len(facts.streams),
            "connections": sum(listener.connections for listener in self._listeners),
            "sink_repeats": count_repeats(facts.sink),
            "slowest_end": round(max(self._scene.ends, default=0.0), 2),
            "longest_pause": round(seconds[-1], 2),
            "longest_waits": [f"{pause:.2f} s for {what}" for pause, what in pauses[:-4:-1]],
            "median_pause": round(statistics.median(seconds), 2),
            "pauses_over_bar": sum(pause > bar for pause in seconds),
            "bar": bar,
            "seconds": round(self._seconds),
            "faults": find_faults(facts),
        }
