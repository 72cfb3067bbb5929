"""Plan an update of independent resources: of none of them, then of all; nothing is done."""

from measure import STACK, count, create, engine, independent, measured, report

from zonda.core.app.app import App
from zonda.core.engine.actions import UpdateStack
from zonda.core.template.source.bundle import Bundle

number = count()


def plan(app: App, template: str) -> int:
    """Plan the update; how many resources would change."""
    found = app.stacks.plan(UpdateStack(STACK, Bundle(template)), keep=True)
    return len(found.document["resources"])


with engine() as app:
    create(app, independent(number))
    plan(app, independent(number))  # imports are not measured
    with measured() as unchanged:
        assert plan(app, independent(number)) == 0
    with measured() as changed:
        assert plan(app, independent(number, "two")) == number
report("plan-nothing", number, unchanged, bar=0.3)
report("plan-all", number, changed, bar=0.9)
