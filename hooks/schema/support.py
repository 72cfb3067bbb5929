"""The support status of a type, a property or an attribute.

Types, properties and attributes carry a ``SupportStatus``; validation warns about deprecated
ones, and ``zonda resource type show`` prints it.
"""

from __future__ import annotations

from typing import Any, Final

from ..records import dataclass

SUPPORTED: Final = "SUPPORTED"
DEPRECATED: Final = "DEPRECATED"
UNSUPPORTED: Final = "UNSUPPORTED"
HIDDEN: Final = "HIDDEN"
UNKNOWN: Final = "UNKNOWN"

SUPPORT_STATUSES: Final = (UNKNOWN, SUPPORTED, DEPRECATED, UNSUPPORTED, HIDDEN)


@dataclass(eq=False, slots=True)
class SupportStatus:
    """The state of support of a type, a property or an attribute.

    ``previous_status`` tells the history, newest first by nesting. ``substitute_class`` names the
    class whose resources this one may become without a replacement. An unknown ``status`` gives
    the status UNKNOWN with a message that says so.
    """

    status: str = SUPPORTED
    message: str | None = None
    version: str | None = None
    previous_status: SupportStatus | None = None
    substitute_class: type[Any] | None = None

    def __post_init__(self) -> None:
        if self.status not in SUPPORT_STATUSES:
            self.message = f"Specified status is invalid, defaulting to {UNKNOWN}"
            self.status, self.version, self.previous_status = UNKNOWN, None, None

    def is_substituted(self, cls: type[Any]) -> bool:
        """Whether a resource of class ``cls`` may go on as one of this type."""
        return self.substitute_class is cls

    def to_dict(self) -> dict[str, Any]:
        """Plain data for display."""
        previous = self.previous_status.to_dict() if self.previous_status is not None else None
        return {
            "status": self.status,
            "message": self.message,
            "version": self.version,
            "previous_status": previous,
        }


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Stands in a hook's answer for something that cannot be used here, and says why.

    So a type whose client library is missing disables itself alone::

        return {"Acme::Disk": Disk if acme else Unavailable("it needs acme: pip install acme")}
    """

    reason: str


def is_valid_status(status: str) -> bool:
    """Whether ``status`` is one of the known words."""
    return status in SUPPORT_STATUSES


def Status(version: str, message: str | None = None) -> SupportStatus:
    """Supported since ``version``: the short form that Heat's plug-in guide uses."""
    return SupportStatus(version=version, message=message)
