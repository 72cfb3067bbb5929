"""Loads the functions of the tables of actions and plans, by module and name.

Most actions have modules that no other needs. A process that carries out one of them imports those
of that one: the others would be a fifth of what a small command does. Called by ``acting`` and
``plans``; a test looks whether every place is there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load_function(place: str) -> Any:
    """Return the function of ``MODULE:NAME``, a module of the engine, imported if needed."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"..{module}", __package__), name)
