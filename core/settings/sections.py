"""Sections of the settings for their users: with secrets resolved and networks added.

A secret may be named instead of given, ``{env = "NAME"}`` or ``{file = "PATH"}``: it is read when a
runner or a sink is made, so that no command needs a secret that it does not use. Called by ``app``,
``resource_services``, ``event_sinks`` and ``runner_endpoint``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zonda.hooks.errors import UsageError

from .secret_references import resolve_reference
from .table import Settings

#: The author of the settings may name any secret there.
_ANY = "*"


def resolve_secrets(section: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Resolve the secrets that ``section`` names. Raises UsageError for a missing one."""
    return {name: _resolve_value(value, settings) for name, value in section.items()}


def add_networks(section: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Add to ``section`` the networks that its client may, or must not, call."""
    found = dict(section)
    for name, given in settings.networks.items():
        own = section.get(name, [])
        if given or own:
            found[name] = [*given, *(own if isinstance(own, list) else [own])]
    return found


def read_callback_keys(settings: Settings) -> dict[str, list[str]]:
    """Read the keys that may sign callbacks, by section. Raises UsageError for a missing one."""
    found = {}
    for name, section in settings.runners.items():
        keys = section.get("callback_key") if section.get("callback") else None
        if keys is not None:
            keys = _resolve_value(keys, settings)
            found[name] = [keys] if isinstance(keys, str) else list(keys)
    return found


def read_secret(reference: str, settings: Settings, own: Sequence[Path] = ()) -> str:
    """Read the secret that the operator named by ``env:NAME`` or ``file:PATH``.

    Raises UsageError for one that is not there, or empty: without it, what it protects would be
    open.
    """
    found = resolve_reference(reference, settings.home, _ANY, own)
    if not found:
        raise UsageError(
            f"The secret {reference} is empty.", hint="Write it there, or leave the entry out."
        )
    return found


def _resolve_value(value: Any, settings: Settings) -> Any:
    from zonda.hooks.settings import is_reference  # with it come schemas, which few need

    if is_reference(value):
        [(kind, name)] = value.items()
        return read_secret(f"{kind}:{name}", settings)
    if isinstance(value, Mapping):
        return {key: _resolve_value(each, settings) for key, each in value.items()}
    if isinstance(value, list):
        return [_resolve_value(each, settings) for each in value]
    return value
