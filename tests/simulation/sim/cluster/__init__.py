"""Several processes on one database, each with the engine, the store and the membership that it has
in earnest; one thread moves them all, in an order that a seed decides.
"""
