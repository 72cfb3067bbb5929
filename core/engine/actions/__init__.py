"""Actions: the requests to the engine, as data that travels through table ``request``.

Called by the faces, ``plan`` and ``handlers``; imports nothing of the engine. All actions stand in
``table.ACTIONS``. ``stack`` is a name or an id. A command makes one action, so a kind is imported
when somebody names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Accepted as Accepted
from .base import Action as Action
from .base import Allowance as Allowance
from .base import Caller as Caller
from .table import find_action_class
from .wire import from_json as from_json
from .wire import parse_answer as parse_answer
from .wire import parse_caller as parse_caller
from .wire import to_json as to_json

if TYPE_CHECKING:  # what __getattr__ gives
    from .drift import *  # noqa: F403
    from .ownership import *  # noqa: F403
    from .resources import *  # noqa: F403
    from .snapshots import *  # noqa: F403
    from .stacks import *  # noqa: F403
    from .templates import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A kind of action by its name."""
    try:
        found = globals()[name] = find_action_class(name)
    except KeyError:
        raise AttributeError(f"There is no action {name}.") from None
    return found
