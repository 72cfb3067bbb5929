"""Mode, owner and group: how templates write them, set them and see them."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonda.hooks import ResourceFailure, constraints, properties

MODE, OWNER, GROUP = "mode", "owner", "group"

_Schema = properties.Schema


def schema(default_mode: str) -> dict[str, properties.Schema]:
    """The three properties."""
    return {
        MODE: _Schema(
            _Schema.STRING,
            'The permissions in octal, four digits in quotation marks, e.g. "0640".',
            default=default_mode,
            constraints=[
                constraints.AllowedPattern(
                    "[0-7]{4}",
                    description='The mode is four octal digits in quotation marks, e.g. "0640" '
                    "(YAML takes 0640 without them for the number 416).",
                )
            ],
            update_allowed=True,
        ),
        OWNER: _Schema(
            _Schema.STRING,
            "The user who owns it, by name or number. The user that zonda runs as by default.",
            update_allowed=True,
        ),
        GROUP: _Schema(
            _Schema.STRING,
            "The group it belongs to, by name or number. Left as the system sets it by default.",
            update_allowed=True,
        ),
    }


def check_quoted(given: object) -> None:
    """A mode that YAML has read as a number would mean another one."""
    if isinstance(given, int):
        raise ResourceFailure(f"write it in quotation marks; YAML has read a number ({given})")


@dataclass(frozen=True, slots=True)
class Permissions:
    """The wanted permissions; None for what is left alone."""

    mode: int
    user: int | None
    group: int | None

    @classmethod
    def of(cls, props: Mapping[str, Any]) -> Permissions:
        """Raises ResourceFailure for users and groups that are not there."""
        return cls(
            int(props[MODE], 8),
            _number(props[OWNER], "user", lambda name: pwd.getpwnam(name).pw_uid),
            _number(props[GROUP], "group", lambda name: grp.getgrnam(name).gr_gid),
        )

    def apply(self, descriptor: int) -> None:
        """Set them on an open file or directory; the owner first, which clears bits of the mode."""
        found = os.fstat(descriptor)
        user = -1 if self.user in (None, found.st_uid) else self.user
        group = -1 if self.group in (None, found.st_gid) else self.group
        if (user, group) != (-1, -1):
            os.fchown(descriptor, -1 if user is None else user, -1 if group is None else group)
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != self.mode:
            os.fchmod(descriptor, self.mode)


def _number(text: str, kind: str, find: Any) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return int(find(text))
    except KeyError:
        raise ResourceFailure(
            f"There is no {kind} {text} on this machine: make it, or give a number"
        ) from None


def observed(found: os.stat_result, props: Mapping[str, Any]) -> dict[str, str]:
    """The three as they are, owner and group by number where ``props`` give a number."""
    return {
        MODE: f"{stat.S_IMODE(found.st_mode):04o}",
        OWNER: user_name(found.st_uid, props[OWNER].isdigit()),
        GROUP: group_name(found.st_gid, props[GROUP].isdigit()),
    }


def user_name(number: int, numeric: bool = False) -> str:
    """The name of a user, or the number where there is none."""
    try:
        return str(number) if numeric else pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def group_name(number: int, numeric: bool = False) -> str:
    """The name of a group, or the number where there is none."""
    try:
        return str(number) if numeric else grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
