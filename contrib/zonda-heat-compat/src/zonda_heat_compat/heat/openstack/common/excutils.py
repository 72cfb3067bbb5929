"""Raising again what was caught, of 2013."""

from __future__ import annotations

import sys
from types import TracebackType


class save_and_reraise_exception:
    """After the block the exception that was being handled is raised again."""

    def __init__(self, reraise: bool = True) -> None:
        self.reraise = reraise

    def __enter__(self) -> save_and_reraise_exception:
        self.value = sys.exc_info()[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None and self.reraise and self.value is not None:
            raise self.value
