"""The durable heart: plan, steps, transitions, recovery.

An action is planned in one transaction (``planning``); steps are generators (``steps``) that
yield ``Tx``, ``Call`` and ``Wait`` (``effects``); transitions are functions over rows
(``transitions``). Three drivers run them: ``engine`` (threads), ``inline`` (one thread, fake
clock), and the simulator of the tests. No SQL text, no HTTP, no YAML, no clock of its own.
"""
