"""Delete a stack of independent resources."""

from measure import STACK, carry_out, count, create, engine, independent, measured, report

from zonda.core.engine.actions import DeleteStack

number = count()
with engine() as app:
    create(app, independent(number))
    with measured() as cost:
        carry_out(app, DeleteStack(STACK))
report("delete", number, cost, bar=0.4)
