"""Poll resources that never get ready: CPU for each poll while nothing else happens.

The engine's own back-off decides how often a resource is asked.
"""

import json
from typing import Any

from measure import HEAD, STACK, count, engine, measured

from zonda.builtin_resources.basic.test_resource import TestResource
from zonda.core.engine.actions import CreateStack
from zonda.core.template.source.bundle import Bundle

SECONDS = 20.0
BAR_US = 50.0

polls = 0
asked: set[str] = set()


def never(resource: TestResource, token: Any) -> bool:
    """Not complete yet."""
    global polls
    polls += 1
    asked.add(resource.name)
    return False


TestResource.check_create_complete = never  # type: ignore[method-assign]
number = count()
entry = "{type: OS::Heat::TestResource, properties: {value: one, wait_secs: 3600}}"
template = f"{HEAD}resources:\n" + "".join(f"  r{n}: {entry}\n" for n in range(number))
with engine(warm=False) as app:
    running = app.engine.act(CreateStack(STACK, Bundle(template)))
    while len(asked) < number:
        running.client.look(running.stack_id, 0.5)
    polls = 0
    with measured() as cost:
        running.client.look(running.stack_id, SECONDS)
line = {
    "bench": "polls",
    "resources": number,
    "polls": polls,
    "polls_per_s": round(polls / cost.wall_s, 1),
    "cpu_s": round(cost.cpu_s, 4),
    "cpu_us_each": round(cost.cpu_s / polls * 1e6, 1),
    "commits": cost.commits,
    "rss_mb": round(cost.rss_mb, 1),
    "bar_us": BAR_US,
    "of_bar": round(cost.cpu_s / polls * 1e6 / BAR_US, 2),
}
print(json.dumps(line))
