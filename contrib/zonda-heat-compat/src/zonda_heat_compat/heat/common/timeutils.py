"""Times and lengths of time."""

from __future__ import annotations

import datetime
import random
import re
import time

iso_duration_re = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$")


class Duration:
    """A time that is over ``timeout`` seconds from now."""

    def __init__(self, timeout: float = 0) -> None:
        self._endtime = time.monotonic() + timeout

    def expired(self) -> bool:
        return time.monotonic() > self._endtime

    def endtime(self) -> float:
        return self._endtime


def parse_isoduration(duration: str) -> int:
    match = iso_duration_re.match(duration)
    if match is None:
        raise ValueError(
            f"Only ISO 8601 duration format of the form PT#H#M#S is supported: {duration}"
        )
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds


def retry_backoff_delay(attempt: int, scale_factor: float = 1.0, jitter_max: float = 0.0) -> float:
    exponent = float(2**attempt) * scale_factor
    return exponent + random.random() * jitter_max


def isotime(at: datetime.datetime) -> str:
    if at.tzinfo is not None:
        at = at.astimezone(datetime.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def round_to_seconds(at: datetime.datetime) -> datetime.datetime:
    return at.replace(microsecond=0)
