"""The maker of an object: named at the end of its comment, which is written with it at once.

``the orders [zonda shop/database 018f...]``: the stack, the resource and the instance's id. So an
attempt after a crash knows what an earlier one made, and nobody takes what belongs to others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from zonda.hooks import Resource

_MARK: Final = re.compile(r"\s*\[zonda (?P<stack>.*)/(?P<resource>.*) (?P<id>[0-9a-f-]{36})\]\Z")


@dataclass(frozen=True, slots=True)
class Comment:
    """The parts of a comment: the text for people, and whose object it is."""

    text: str = ""
    stack: str = ""
    resource: str = ""
    owner: str = ""

    @classmethod
    def read(cls, comment: str | None) -> Comment:
        """A comment as the server gives it."""
        found = _MARK.search(comment or "")
        if found is None:
            return cls(comment or "")
        text = (comment or "")[: found.start()]
        return cls(text, found["stack"], found["resource"], found["id"])

    def maker(self) -> str:
        """The maker, in words."""
        if not self.owner:
            return "not made by zonda"
        return f"made by zonda for the resource {self.resource} of the stack {self.stack}"


def marked(text: str, resource: Resource) -> str:
    """The comment of an object that ``resource`` makes."""
    mark = f"[zonda {resource.stack.name}/{resource.name} {resource.uuid}]"
    return f"{text} {mark}" if text else mark
