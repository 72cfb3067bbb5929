"""Removes hidden values from texts for people: reasons, events, progress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zonda.hooks.text.redaction import redact_message, secret_texts
from zonda.hooks.text.sanitize import safe_str, truncate_middle

from ..model.definition import Definition


def describe_output_error(error: BaseException, definition: Definition) -> str:
    """The reason why an output has no value, without the hidden parameters of its template."""
    values, hidden = definition.parameters.values, definition.parameters.hidden
    text = scrub(safe_str(error) or type(error).__name__, map(values.get, hidden))
    return truncate_middle(text)


def scrub(text: str, secrets: Iterable[Any]) -> str:
    """``text`` without any of the values inside ``secrets``, in whatever notation they stand.

    Hosts and ports of addresses stay: see ``hooks/text/addresses``.
    """
    return redact_message(text, secret_texts(secrets))
