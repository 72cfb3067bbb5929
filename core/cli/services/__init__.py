"""Commands of long-running services and sinks, and the demo.

Imports ``options``, ``console`` and ``progress``.
"""
