"""Times of 2013: naive ones in UTC."""

from __future__ import annotations

import datetime
import time
from typing import Any

PERFECT_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"
_FORMAT = "%Y-%m-%dT%H:%M:%S"


def utcnow() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)


def utcnow_ts() -> int:
    return int(time.time())


def isotime(at: datetime.datetime | None = None, subsecond: bool = False) -> str:
    moment = at or utcnow()
    return moment.strftime(PERFECT_TIME_FORMAT if subsecond else _FORMAT) + "Z"


def strtime(at: datetime.datetime | None = None, fmt: str = PERFECT_TIME_FORMAT) -> str:
    return (at or utcnow()).strftime(fmt)


def parse_strtime(timestr: str, fmt: str = PERFECT_TIME_FORMAT) -> datetime.datetime:
    return datetime.datetime.strptime(timestr, fmt)


def parse_isotime(timestr: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(timestr)


def normalize_time(timestamp: datetime.datetime) -> datetime.datetime:
    offset = timestamp.utcoffset()
    return timestamp if offset is None else timestamp.replace(tzinfo=None) - offset


def delta_seconds(before: datetime.datetime, after: datetime.datetime) -> float:
    return (after - before).total_seconds()


def is_older_than(before: Any, seconds: float) -> bool:
    moment = parse_strtime(before) if isinstance(before, str) else before
    return utcnow() - normalize_time(moment) > datetime.timedelta(seconds=seconds)


def is_newer_than(after: Any, seconds: float) -> bool:
    moment = parse_strtime(after) if isinstance(after, str) else after
    return normalize_time(moment) - utcnow() > datetime.timedelta(seconds=seconds)


def iso8601_from_timestamp(timestamp: float) -> str:
    return isotime(datetime.datetime.fromtimestamp(timestamp, datetime.UTC).replace(tzinfo=None))
