"""Declared types (manifests) that travel with an action: a running engine may not know them.

Called by ``App.act``. Who sends an action has read the folders just now, so that a text that was
changed a minute ago counts, whoever is the engine. Without such files nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from zonda.core.engine.actions import Action
from zonda.core.engine.actions.base import Templated
from zonda.core.plugins.manager import Plugins
from zonda.core.template.types.declared_types import with_declared_types

from . import type_files


def add_declared_types(
    action: Action, folders: Iterable[Path], plugins: Callable[[], Plugins]
) -> Action:
    """Add to ``action`` the manifests of the types that its own template may use."""
    if not isinstance(action, Templated) or not action.bundle.template:
        return action
    if next(iter(type_files.list_yaml_files(folders)), None) is None:
        return action
    kept = with_declared_types(action.bundle, plugins().resource_types)
    return action if kept is action.bundle else action.with_bundle(kept)
