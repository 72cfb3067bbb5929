"""Check a stack for drift: first with everything new, then with nothing changed since.

Its resources do nothing outside; then the same with types that are asked (an empty look each).
"""

from measure import STACK, Cost, count, create, engine, independent, measured, report

from zonda.builtin_resources.basic.test_resource import TestResource
from zonda.core.app.app import App
from zonda.core.engine.actions import CheckDrift


def check(app: App) -> Cost:
    """One check of the whole stack, to its end; everything must be in sync."""
    with measured() as cost:
        running = app.engine.act(CheckDrift(STACK), drive=False)
        while (found := app.engine.wait_for_check(running.check_id, 60.0)).is_running:
            pass
    assert (found.status, found.verdict) == ("COMPLETE", "IN_SYNC"), found
    return cost


number = count(10_000)
with engine() as app:
    create(app, independent(number))
    first = check(app)
    again = min((check(app) for _ in range(3)), key=lambda cost: cost.cpu_s)
    TestResource.has_side_effects = True
    TestResource.get_live_state = lambda self: {"value": "one"}  # type: ignore[method-assign]
    asked = check(app)
report("drift-first", number, first, bar=0.05)
report("drift-again", number, again, bar=0.05)
report("drift-asked", number, asked, bar=0.5)
