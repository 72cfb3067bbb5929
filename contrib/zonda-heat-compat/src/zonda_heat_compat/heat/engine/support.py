"""Since when something exists: zonda's own classes."""

from zonda.hooks.schema.support import (
    DEPRECATED,
    HIDDEN,
    SUPPORT_STATUSES,
    SUPPORTED,
    UNKNOWN,
    UNSUPPORTED,
    Status,
    SupportStatus,
    is_valid_status,
)

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
