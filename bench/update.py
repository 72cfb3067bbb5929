"""Update a stack of independent resources: with no change, then with every resource changed."""

from measure import count, create, engine, independent, measured, report, update

number = count()
with engine() as app:
    create(app, independent(number))
    with measured() as unchanged:
        update(app, independent(number))
    with measured() as changed:
        update(app, independent(number, "two"))
report("update-nothing", number, unchanged, bar=0.3)
report("update-all", number, changed, bar=0.9)
