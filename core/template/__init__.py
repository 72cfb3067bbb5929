"""From text to parsed trees with places: versions, sections, parameters, environments, conditions.

The one entrance is ``stack.load``; nothing here knows the engine, the store or a socket.
"""
