"""Ownership of files: known by the inode, written down before the name appears.

A file is made under a temporary name; its inode is stored durably, and only then it gets its name.
So whatever is killed when, a later attempt knows what it made from what was there before. A
creation writes the inode beside the one that is in place, since either may be there after a crash.
The number of the device says nothing: many file systems have another one after the next start.
"""

from __future__ import annotations

import json
import os
from typing import Final

from zonda.hooks import Resource

_KEY: Final = "inodes"


class Ownership:
    """The inodes that one resource made."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    @property
    def known(self) -> list[str]:
        """The inodes of what was made, the newest last."""
        return list(json.loads(self._resource.data().get(_KEY, "[]")))

    def has(self, found: os.stat_result | None) -> bool:
        """Whether this resource made what was found."""
        return found is not None and _name(found) in self.known

    def note(self, made: os.stat_result, in_place: os.stat_result | None = None) -> None:
        """Store what was made, and what of ours it will take the place of; durable."""
        kept = [_name(in_place)] if in_place is not None and self.has(in_place) else []
        wanted = [*kept, _name(made)]
        if wanted != self.known:
            self._resource.data_set(_KEY, json.dumps(wanted))


def _name(found: os.stat_result) -> str:
    return str(found.st_ino)
