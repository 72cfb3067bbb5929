"""Heat's API, version 1: the handlers of its routes, and the forms of its answers.

``routes`` names every handler; ``errors`` turns the errors of zonda into those of Heat. Called by
``server``. Imports ``http``, ``service`` and what is below ``core/app``.
"""
