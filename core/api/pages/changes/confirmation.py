"""Confirmations by the name of a stack, and the errors that a form shows again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import UsageError, ZondaError

from ...http.errors import find_status
from ..access.forms import Form


def has_deletions(document: Mapping[str, Any]) -> bool:
    """Whether a plan deletes resources."""
    return bool(document["summary"].get("delete"))


def check_name(form: Form, name: str) -> None:
    """Raise UsageError unless the form has the name of the stack whose resources are deleted."""
    if form.get("name").strip() != name:
        raise UsageError(f"Type {name}, the name of the stack, to confirm that.")


def check_fault(error: ZondaError) -> int:
    """The status of an error that a form can show; raises it if it is a fault of the server."""
    status = find_status(error)
    if status == 500:
        raise error
    return status
