"""Since when something exists: zonda's own classes."""

from zonda.hooks import Status, SupportStatus, support

__all__ = [
    "DEPRECATED",
    "HIDDEN",
    "SUPPORTED",
    "SUPPORT_STATUSES",
    "UNKNOWN",
    "UNSUPPORTED",
    "Status",
    "SupportStatus",
    "is_valid_status",
]

DEPRECATED = support.DEPRECATED
HIDDEN = support.HIDDEN
SUPPORTED = support.SUPPORTED
SUPPORT_STATUSES = support.SUPPORT_STATUSES
UNKNOWN = support.UNKNOWN
UNSUPPORTED = support.UNSUPPORTED
is_valid_status = support.is_valid_status
