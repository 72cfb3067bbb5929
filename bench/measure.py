"""What the benches share: an engine on a database of its own, a stopwatch, one JSON line.

CPU seconds are those of the whole process, all threads, without interpreter start and imports.
``bar`` is the budget for 1000 resources; ``of_bar`` tells how much of it was used (below 1 is
within). Each script takes the number of resources as its only argument.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zonda.core.app.app import App, build_app
from zonda.core.engine.actions import Action, CreateStack, UpdateStack
from zonda.core.settings.settings import load_settings
from zonda.core.store.write.database import Store
from zonda.core.store.write.transaction import Transaction
from zonda.core.template.source.bundle import Bundle

HEAD = "heat_template_version: 2018-08-31\n"
STACK = "bench"


def count(default: int = 1000) -> int:
    """The number of resources, from the command line."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else default


def independent(number: int, value: str = "one") -> str:
    """A template of ``number`` resources that know nothing of each other."""
    entry = f"{{type: OS::Heat::TestResource, properties: {{value: {value}}}}}"
    return f"{HEAD}resources:\n" + "".join(f"  r{n}: {entry}\n" for n in range(number))


def chain(number: int) -> str:
    """A template of ``number`` resources, each of which reads the one before."""
    lines = [HEAD + "resources:\n  r0: {type: OS::Heat::TestResource, properties: {value: one}}"]
    for n in range(1, number):
        value = f"{{get_attr: [r{n - 1}, output]}}"
        lines.append(f"  r{n}: {{type: OS::Heat::TestResource, properties: {{value: {value}}}}}")
    return "\n".join(lines) + "\n"


@dataclass
class Cost:
    """What something took. ``rss_mb`` is the largest the process ever was."""

    cpu_s: float = 0.0
    wall_s: float = 0.0
    rss_mb: float = 0.0
    commits: int = 0


_commits = 0


def _count_commits() -> None:
    original = Store.transaction

    @contextmanager
    def counted(self: Store) -> Iterator[Transaction]:
        global _commits
        with original(self) as transaction:
            yield transaction
        _commits += 1

    Store.transaction = counted  # type: ignore[method-assign]


_count_commits()


@contextmanager
def measured() -> Iterator[Cost]:
    """Measures the block; the fields are filled in at its end."""
    cost = Cost()
    commits, wall, cpu = _commits, time.perf_counter(), time.process_time()
    yield cost
    cost.cpu_s = time.process_time() - cpu
    cost.wall_s = time.perf_counter() - wall
    cost.commits = _commits - commits
    cost.rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def engine(*, warm: bool = True) -> Iterator[App]:
    """An application with an empty home; ``warm``: everything imported and started."""
    with tempfile.TemporaryDirectory() as home:
        app = build_app(load_settings({"home": home, "max_template_bytes": "16777216"}, {}))
        try:
            # One resource first: imports, prepared statements and threads are not measured.
            if warm:
                carry_out(app, CreateStack("warm", Bundle(independent(1))))
            yield app
        finally:
            app.close()


def carry_out(app: App, action: Action) -> None:
    """Do ``action`` and wait for its end; raises AssertionError where it failed."""
    running = app.engine.act(action, drive=True)
    while not (stack := running.client.look(running.stack_id, 60.0)).idle:
        pass
    assert stack.status == "COMPLETE", (stack.state, stack.status_reason)


def create(app: App, template: str) -> None:
    """Create the stack of the bench."""
    carry_out(app, CreateStack(STACK, Bundle(template)))


def update(app: App, template: str) -> None:
    """Update the stack of the bench."""
    carry_out(app, UpdateStack(STACK, Bundle(template)))


def report(bench: str, number: int, cost: Cost, bar: float, **more: Any) -> None:
    """Print the line. ``bar``: CPU seconds allowed for 1000 resources."""
    allowed = bar * number / 1000
    line = {
        "bench": bench,
        "resources": number,
        "cpu_s": round(cost.cpu_s, 4),
        "wall_s": round(cost.wall_s, 4),
        "cpu_ms_each": round(cost.cpu_s / number * 1000, 4),
        "commits_each": round(cost.commits / number, 4),
        "rss_mb": round(cost.rss_mb, 1),
        "bar_cpu_s": round(allowed, 4),
        "of_bar": round(cost.cpu_s / allowed, 2),
        **more,
    }
    print(json.dumps(line))


def best(times: int, work: Callable[[], Cost]) -> Cost:
    """The cheapest of several runs, since other processes only ever add to it."""
    return min((work() for _ in range(times)), key=lambda cost: cost.cpu_s)
