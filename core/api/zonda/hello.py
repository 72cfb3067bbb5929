"""``hello``: who the caller is here, and what both sides know."""

from __future__ import annotations

import zonda
from zonda.core.wire.classes import VERSION

from ..http.calls import Answer, Call


def greet(call: Call) -> Answer:
    """The version of the protocol and of zonda, the caller and its project."""
    caller = call.caller
    body = {
        "protocol": VERSION,
        "zonda": zonda.__version__,
        "user": caller.user,
        "project": caller.project_id,
        "is_bound": caller.is_bound,
        "roles": sorted(caller.roles),
    }
    return Answer(200, body)
