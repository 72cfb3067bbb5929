"""The application of a server elsewhere: commands ask it as they would ask this machine's.

``remote_app`` is the application, its nouns stand beside it; ``connection`` is the HTTP client.
Called by ``core/cli`` where the setting ``url`` is set. Imports neither server nor engine.
"""
