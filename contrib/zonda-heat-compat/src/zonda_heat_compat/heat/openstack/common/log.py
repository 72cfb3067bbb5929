"""The log of 2013-2015: Python's own."""

from __future__ import annotations

import logging
from typing import Any


class ContextAdapter(logging.LoggerAdapter):  # type: ignore[type-arg]
    """A logger with the words of that time."""

    def audit(self, text: Any, *given: Any, **named: Any) -> None:
        self.info(text, *given, **named)

    def deprecated(self, text: Any, *given: Any, **named: Any) -> None:
        self.warning(text, *given, **named)

    def warn(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        self.warning(msg, *args, **kwargs)


def getLogger(name: str = "unknown", version: str = "unknown") -> ContextAdapter:
    return ContextAdapter(logging.getLogger(name), {})


getLazyLogger = getLogger
