"""Create a stack of independent resources."""

from measure import count, create, engine, independent, measured, report

number = count()
with engine() as app, measured() as cost:
    create(app, independent(number))
report("create", number, cost, bar=0.6)
