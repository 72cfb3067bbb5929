"""The data that the whole engine speaks of: states, effects, outcomes, the unit of work.

Imports nothing of the engine.
"""
