"""Like ``chain.py``, with a type that acts outside: intents and tokens are stored in between."""

from measure import chain, count, create, engine, measured, report

from zonda.builtin_resources.basic.test_resource import TestResource

TestResource.has_side_effects = True
number = count()
with engine() as app, measured() as cost:
    create(app, chain(number))
report("chain-outside", number, cost, bar=0.9)
