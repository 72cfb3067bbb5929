"""Checks that a runner's answer is one that the call allows.

Called by ``execution`` with every answer to ``start`` and ``poll``. What came is named by its type
alone, since it may hold secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import ResourceFailure
from ..text.sanitize import require_json
from .messages import Failed, Finished, Lost, Retry, Running, Started, Succeeded

#: It is not the workflow that failed, but whoever was to run it.
NOT_RUN: Final = "ZON305"
#: The answer types of each call.
_ANSWERS: Final = {
    "start": (Started, Finished, Retry),
    "poll": (Running, Succeeded, Failed, Lost),
}
#: The fields that are maps or texts, where they are not None.
_KINDS: Final = {
    **dict.fromkeys(("output", "token", "memory"), (Mapping, "a map")),
    **dict.fromkeys(("reason", "message", "execution_id"), (str, "a text")),
}
#: Those that may be None.
_OPTIONAL: Final = ((Succeeded, "output"), (Failed, "output"), (Running, "token"))


def check_answer(answer: Any, call: str, runner: str) -> None:
    """Raise ResourceFailure unless ``answer`` is one to ``call``; ``runner``: who, for people."""
    expected, came = _find_difference(answer, _ANSWERS[call])
    if expected:
        who = f"{runner[0].upper()}{runner[1:]}"
        raise ResourceFailure(
            f"{who} has answered {call} with {came}; expected: {expected}",
            hint="Correct the plug-in that brings the runner ('zonda_runners()' in plugin-api.md).",
            code=NOT_RUN,
        )


def _find_difference(answer: Any, classes: tuple[type, ...]) -> tuple[str, str]:
    """The expected and the actual type; two empty texts where nothing is wrong."""
    if not isinstance(answer, classes):
        return " or ".join(cls.__name__ for cls in classes), _describe_type(answer)
    if isinstance(answer, Finished):
        wrong = _find_difference(answer.result, (Succeeded, Failed))
        if wrong[0]:
            return wrong[0], f"Finished({wrong[1]})"
    for name, (kind, expected) in _KINDS.items():
        value = getattr(answer, name, None)
        if value is None and (not hasattr(answer, name) or (type(answer), name) in _OPTIONAL):
            continue
        if not isinstance(value, kind):
            return (
                f"{expected} as its {name}",
                f"{_describe_type(answer)}({name}={_describe_type(value)})",
            )
        try:
            plain = dict(value) if isinstance(value, Mapping) else value
            require_json(name, plain, strict=True)
        except ResourceFailure as error:
            return f"JSON as its {name}", f"{_describe_type(answer)}({error.message})"
    return "", ""


def _describe_type(value: Any) -> str:
    return "None" if value is None else type(value).__name__
