"""Custom constraints for times, schedules and JSON, with Heat's sentences."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from zonda.hooks import BaseCustomConstraint, ResourceContext

#: A date, which may end at the year or the month, with or without separators; a time; a zone.
_ISO: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?"
    r"|(?P<month2>\d{2})(?P<day2>\d{2})?)?"
    r"(?:[ T](?P<hour>\d{2})(?::?(?P<minute>\d{2}))?(?::?(?P<second>\d{2})(?:[.,]\d+)?)?"
    r" ?(?P<zone>Z|(?P<sign>[+-])(?P<ahead>\d{2}):?(?P<ahead_minutes>\d{2})?)?)?"
)


def parse_time(text: str) -> datetime:
    """The moment that an ISO 8601 text names, in UTC where it names no zone; whole seconds.

    Raises ValueError.
    """
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"Unable to parse date string '{text}'")
    groups = match.groupdict().items()
    part = {name: int(value or 0) for name, value in groups if name not in ("zone", "sign")}
    return datetime(
        part["year"],
        part["month"] or part["month2"] or 1,
        part["day"] or part["day2"] or 1,
        part["hour"],
        part["minute"],
        part["second"],
        tzinfo=_parse_zone(match["sign"], part["ahead"], part["ahead_minutes"]),
    )


def _parse_zone(sign: str | None, hours: int, minutes: int) -> timezone:
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(-ahead if sign == "-" else ahead) if sign else UTC


class Iso8601(BaseCustomConstraint):
    """``iso_8601``: a date, or a date and a time."""

    examples = ("2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` names a moment."""
        try:
            parse_time(value)
        except (ValueError, TypeError):
            return False
        return True


class Expiration(BaseCustomConstraint):
    """``expiration``: a moment in the future."""

    examples = ("2099-01-01", "2098-01-01")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` names a moment that is still to come; an empty one will do."""
        if not value:
            return True
        try:
            moment = parse_time(str(value).strip())
            if context is not None and moment.timestamp() <= context.clock.now():
                raise ValueError("Expiration time is out of date.")
        except ValueError as error:
            self._error_message = f"Expiration {value} is invalid: {error}"
            return False
        return True


class CronExpression(BaseCustomConstraint):
    """``cron_expression``: a schedule in 5, 6 or 7 columns."""

    examples = ("0 3 * * *", "*/5 * * * *")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a schedule; an empty one will do."""
        from croniter import croniter  # 50 ms that templates without schedules need not spend

        if not value:
            return True
        try:
            croniter(str(value))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._error_message = f"Invalid CRON expression: {error}"
            return False
        return True


class Timezone(BaseCustomConstraint):
    """``timezone``: a name of the time zone database, in any case."""

    examples = ("Europe/Berlin", "UTC")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` names a zone; an empty one will do."""
        if not value or _is_zone(str(value)):
            return True
        self._error_message = f"Invalid timezone: '{value}'"
        return False


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return name.lower() in (known.lower() for known in available_timezones())
    return True


class JsonString(BaseCustomConstraint):
    """``json_string``: a text that is JSON."""

    examples = ("{}", '{"key": "value"}')

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is JSON."""
        try:
            json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            self._error_message = f"JSON string {value} is invalid: {error}"
            return False
        return True
