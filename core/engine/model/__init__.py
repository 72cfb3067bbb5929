"""The data types of the engine: states, effects, outcomes, the unit of work.

Imports nothing of the engine.
"""
