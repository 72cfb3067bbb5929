"""Texts that ansible-vault has encrypted: marked here, and decrypted where modules are run.

Only texts that are hidden anyway are: the others are shown in plans and differences. Pure; called
by ``hosts`` and the lives of modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: The key of an encrypted text in JSON, as Ansible has it.
MARK: Final = "__ansible_vault"
#: The variable by which the password travels.
PASSWORD: Final = "zonda_vault_password"
_HEADER: Final = "$ANSIBLE_VAULT;"


def mark_texts(value: Any) -> Any:
    """A hidden value with its encrypted texts marked."""
    if isinstance(value, Mapping):
        return {name: mark_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [mark_texts(each) for each in value]
    return {MARK: value} if isinstance(value, str) and value.startswith(_HEADER) else value


def mark_options(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a module with the encrypted texts marked that are hidden."""
    return {name: _mark_option(each, options.get(name) or {}) for name, each in given.items()}


def _mark_option(value: Any, option: Mapping[str, Any]) -> Any:
    if option.get("no_log"):
        return mark_texts(value)
    inside = option.get("options")
    if inside and isinstance(value, list):
        return [_mark_option(each, option) for each in value]
    return mark_options(value, inside) if inside and isinstance(value, Mapping) else value
