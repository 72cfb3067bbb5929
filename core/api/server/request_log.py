"""Lines of the engine log about requests: who has changed what, and what has failed, with its id.

Reads leave no line unless they fail. Neither bodies nor queries nor tokens stand in any.
"""

from __future__ import annotations

import logging
import traceback
from typing import Any

from zonda.core.system.log_masks import mask_text
from zonda.hooks.records import dataclass
from zonda.hooks.text.sanitize import escape_surrogates

from ..http.calls import Answer

log = logging.getLogger("zonda.calls")

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Trace:
    """One request as far as it is known: its route and its caller are found on the way.

    ``trouble``: what the database cannot do, which a client does not get as a whole.
    """

    id: str
    method: str
    path: str
    operation: str = ""
    user: str = ""
    project: str = ""
    trouble: str = ""

    def write(self, answer: Answer, error: BaseException | None = None) -> None:
        """Write a line about a change, or about a failure of the server.

        ``error``: what nobody expected. Its text may hold anything, so that only its kind and the
        way to it are told.
        """
        is_failure = answer.status >= 500
        if (self.method in _READS and not is_failure) or not log.isEnabledFor(logging.INFO):
            return
        path = escape_surrogates(mask_text(self.path))
        fields: dict[str, Any] = {
            "request": self.id,
            "project": self.project,
            "user": self.user,
            "operation": self.operation,
            "method": self.method,
            "path": path,
            "status": answer.status,
        }
        if self.trouble:
            fields["reason"] = self.trouble
        if error is not None:
            fields["reason"] = type(error).__name__
            fields["traceback"] = "".join(traceback.format_tb(error.__traceback__))
        said = f"{self.method} {path}: {answer.status}"
        log.log(logging.ERROR if is_failure else logging.INFO, "%s", said, extra={"fields": fields})
