"""Types that are texts, taken along with an action: an engine that runs for days may not know them.

Called by ``App.act``. Who sends an action has read the folders just now, so that a text that was
changed a minute ago counts, whoever is the engine. Without such files nothing is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

from zonda.hooks.manager import Plugins

from . import type_files
from .engine.actions import Action, AdoptStack, CreateStack, UpdateStack
from .template.type_texts import kept_with


def with_types(action: Action, folders: Iterable[Path], plugins: Callable[[], Plugins]) -> Action:
    """``action`` with the texts of the types that its own template may use."""
    if not isinstance(action, CreateStack | UpdateStack | AdoptStack):
        return action
    bundle = action.bundle
    if not bundle.template:
        return action
    if next(iter(type_files.files(folders)), None) is None:
        return action
    kept = kept_with(bundle, plugins().resource_types)
    return action if kept is bundle else dataclasses.replace(action, bundle=kept)
