"""The values of columns in the tables of drift, and of ids of requests."""

from __future__ import annotations

#: Verdicts: on a resource, and on a stack.
IN_SYNC, DRIFTED, MISSING, UNKNOWN = "IN_SYNC", "DRIFTED", "MISSING", "UNKNOWN"
#: The verdict on a resource that was not checked since it was changed.
NOT_CHECKED = "NOT_CHECKED"
#: States of a check.
RUNNING, COMPLETE, FAILED, INTERRUPTED = "RUNNING", "COMPLETE", "FAILED", "INTERRUPTED"
#: Between a reason and what a repair would not do about it.
NOTE = "; "
#: The reason of a check.
SCHEDULE, COMMAND, REPAIR = "schedule", "command", "repair"
#: The beginning of the ids of requests that may be sent again.
KEYED = "key-"
