"""Create a stack in which each resource reads the one before."""

from measure import chain, count, create, engine, measured, report

number = count()
with engine() as app, measured() as cost:
    create(app, chain(number))
report("chain", number, cost, bar=1.3)
