"""JSON that a user wrote: read within the bounds that hold for YAML as well.

Called wherever a text may be JSON: documents, values of parameters, files of the command line.
"""

from __future__ import annotations

import json
from typing import Any

from .diagnostics import TooLarge
from .yaml_parser import MAX_DEPTH, MAX_DIGITS

_CONTAINERS = (dict, list, tuple)


def read_json(text: str) -> Any:
    """Parse JSON; raises ValueError that says what is wrong, TooLarge beyond a bound."""
    deep = TooLarge(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # Python's own limit
        raise TooLarge(f"a number has more than {MAX_DIGITS} digits") from error
    except RecursionError as error:
        raise deep from error
    if text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep(data):
        raise deep
    return data


def is_too_deep(data: Any) -> bool:
    """Whether data is nested deeper than what walks through it by recursion can go."""
    level = [data] if isinstance(data, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        children = (item.values() if isinstance(item, dict) else item for item in level)
        level = [child for some in children for child in some if isinstance(child, _CONTAINERS)]
        if not level:
            return False
    return True
