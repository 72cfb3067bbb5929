"""The engine: from an action to resources that stand, with the database as its checkpoint.

The life of an action:

1. ``actions``: what a user asks for, as data, on its way through table ``request``.
2. ``runtime``: one thread takes it from the inbox; ``handlers`` find what carries it out.
3. ``plan``: in the pool, the desired state of the stack is worked out from its template;
   ``plan.accept`` is the transaction that accepts it, ``progress`` counts what waits for what.
4. ``execution``: each resource's operation is a generator that yields ``Tx``, ``Call`` and
   ``Wait``. ``diff`` decides in the pool between keep, update and replace.
5. ``operations``: transactions that begin and end an operation. The intent is committed before
   anything outside is called.
6. ``plugins``: in the pool, an instance of the type is made and its handler called; ``nested`` is
   the operation whose physical side is a stack.
7. The end is committed; ``progress`` releases what waited for it; listeners hear of it.

``preview`` shows plans, ``drift`` observes and repairs, ``templates`` keeps stored templates with
their definitions, ``model`` is the data they all speak of, ``services`` what they share. No HTTP,
no YAML, no clock of its own.
"""
