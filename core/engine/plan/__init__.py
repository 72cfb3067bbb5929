"""Plans: from an action to the desired state of a stack, and the transaction that accepts it.

Called by ``nested``, ``preview``, ``drift`` and ``handlers``; imports ``services`` and below.
"""
