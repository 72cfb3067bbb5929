"""Redact hidden values in faults.

Called wherever a fault leaves this room. A fault of a property that is marked hidden loses its
sentence's details; in every other sentence the texts of hidden parameters are masked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zonda.hooks.errors import TemplateError, UnknownReference
from zonda.hooks.text.redaction import MASK, redact_message, secret_texts

from .sections import RESOURCES

__all__ = ["MASK", "Redactor"]

_HARMLESS = ("Unknown Property ", "Property ")


class Redactor:
    """Redacts faults. ``marks`` gives the labels of a resource's properties by its name."""

    def __init__(self, hidden: Iterable[Any], marks: Callable[[str], Mapping[str, str]]) -> None:
        self._texts = secret_texts(hidden)
        self._marks = marks

    def __call__(self, fault: TemplateError) -> TemplateError:
        """Redact ``fault``, in place."""
        if not self._texts:
            return fault
        if self._is_of_hidden_property(fault):
            fault.message = fault.discreet or "the value is wrong (hidden, so no more is told)"
            fault.hint = ""  # what is spelt alike tells of the value, too
        fault.message = self.text(fault.message)
        fault.label, fault.heat_type = self.text(fault.label), self.text(fault.heat_type)
        fault.hint = self.text(fault.hint)
        fault.args = (fault.message,)
        return fault

    def text(self, text: str) -> str:
        """Redact every hidden text in ``text``."""
        return redact_message(text, self._texts)

    def _is_of_hidden_property(self, fault: TemplateError) -> bool:
        at = fault.at
        if len(at) < 4 or at[0] != RESOURCES or at[2] != "properties":
            return False
        # An unknown reference only tells the name that the template's author wrote.
        if fault.message.startswith(_HARMLESS) or fault.code == UnknownReference.code:
            return False
        return self._marks(str(at[1])).get(str(at[3])) == "hidden"
