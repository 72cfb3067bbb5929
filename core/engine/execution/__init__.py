"""The operation of one resource as steps that yield effects, with the pool and the timers.

Called by ``runtime`` and ``drift``; imports ``nested`` and below.
"""
