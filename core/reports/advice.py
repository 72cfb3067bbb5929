"""Advice about a failure, by the class and the code of the error, never by its text.

Each answer is one sentence, with the command where there is one. ``{stack}`` and ``{resource}`` are
filled in. Called by ``failures``.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.core.engine.model.outcomes import (
    BROKEN,
    CANCELLED,
    HANGING,
    INTERRUPTED,
    STACK_TIMED_OUT,
    TIMED_OUT,
)
from zonda.core.store.read.views import FailedView, StackView

_AGAIN = "Then 'zonda stack update {stack} -t TEMPLATE' tries again."
_REPLACED = "An update replaces the resource, and then removes what this has left."
#: The hint after a failed creation or update.
_OF_UPDATES = (_AGAIN, _REPLACED)

#: By the class of the error, for what zonda itself ends or refuses.
BY_KIND = {
    TIMED_OUT: (
        "It took longer than it may. See whether what it waits for goes on by itself, or give"
        " it more time: 'zonda: timeouts:' in the environment, or --timeout.",
    ),
    STACK_TIMED_OUT: (
        "The whole action took longer than it may: give it more with --timeout, and look for what"
        " was slow in 'zonda stack event list {stack}'.",
    ),
    CANCELLED: ("Somebody cancelled it, so nothing is wrong with the resource itself.", _AGAIN),
    INTERRUPTED: (
        "The engine ended while the plug-in was at work, so nobody knows whether it acted. Look"
        " outside.",
        _REPLACED,
    ),
    HANGING: (
        "Calls of plug-ins that never come back hold the engine's threads: restart it, and see"
        " what the plug-ins wait for without a limit.",
        _AGAIN,
    ),
    BROKEN: ("This is a fault in zonda or in a plug-in: run it again with --debug and report it.",),
    "Immutable": (
        "This property cannot change once the resource is there: give it its old value back, or"
        " give the resource another name, so that a new one is made.",
    ),
    "Restricted": (
        "The environment forbids this ('restricted_actions' of {resource}): take that out if it is"
        " meant.",
    ),
    "Protected": (
        "It is protected on purpose. If this is meant, take the protection away: 'zonda: protect:'"
        " in the environment, or 'zonda stack unprotect {stack}'.",
    ),
    "NotInPlan": (
        "The plan that was applied does not hold this: look at a new one with 'zonda stack plan'.",
    ),
    "External": (
        "A resource cannot begin or cease to be managed elsewhere ('external_id'): rename it.",
    ),
    "InvalidState": ("The resource is not in a state for that: 'zonda stack resource show'.",),
}
_PLUGIN = ("Install or repair the plug-in: 'zonda plugin list' tells what is there.", _AGAIN)
#: By the code of the error.
BY_CODE = {
    "ZON122": _PLUGIN,  # the type was known when the resource was made
    "ZON301": ("The plug-in knows that no other attempt can go well: change the template.", _AGAIN),
    "ZON303": (
        "The workflow itself has failed: read its log, and correct its input or the workflow.",
        _AGAIN,
    ),
    "ZON304": (
        "The runner forgot the run, so how it ended is unknown: look at what it has made before it"
        " is run again.",
        _AGAIN,
    ),
    "ZON305": (
        "Look at the runner, not at the template: is it running ('zonda runner serve'), and are the"
        " settings default_runner and runners right?",
        _AGAIN,
    ),
    "ZON400": _PLUGIN,
}
_TEMPLATE = ("Correct the template at the place above.", _AGAIN)
_OUTSIDE = ("Something outside of zonda refused: mend that, or change the properties.", _AGAIN)
_UNEXPECTED = (
    "The plug-in of {type} raised this ({kind}), and zonda knows no more of it: correct the"
    " properties, or report it to the plug-in's author.",
    _AGAIN,
)
#: Operations and actions that an update does over.
_OPS_OF_UPDATES = ("CREATE", "UPDATE")
_ACTIONS_OF_UPDATES = ("CREATE", "ADOPT", "UPDATE")
_DELETE = "'zonda stack delete {stack}' goes on where it was, once the reason is mended."
_ABANDON = "'zonda stack abandon {stack}' forgets the stack instead, and leaves all it made alone."
_RETRY = "'zonda stack retry {stack}' tries again, once the reason is mended."
_RETRY_OR_UPDATE = (
    "Then 'zonda stack retry {stack}' tries again, or 'zonda stack update {stack} -t TEMPLATE' with"
    " another template."
)
_CHECKED = (
    "The check says that it is not as it should be: the next 'zonda stack update {stack}' replaces"
    " it, or repairs it where its type does that.",
    "If it is well after all: 'zonda stack resource mark unhealthy --reset {stack} {resource}'.",
)


def advice(stack: StackView, failure: FailedView, name: str = "") -> list[str]:
    """List the advice about one failure of a stack as it is now.

    Of a nested resource: of the stack at the top; ``name`` has the way down then.
    """
    words = {
        "stack": stack.name,
        "resource": name or failure.resource_name,
        "type": failure.resource_type,
        "kind": failure.kind,
    }
    return [text.format(**words) for text in _choose_advice(stack, failure)]


def _choose_advice(stack: StackView, failure: FailedView) -> Iterator[str]:
    found = BY_KIND.get(failure.kind) or BY_CODE.get(failure.code) or _choose_by_code_range(failure)
    yield from (text for text in found if text not in _OF_UPDATES)
    if failure.op == "DELETE":
        yield from _advise_on_delete(stack)
    elif _REPLACED in found and failure.op in _OPS_OF_UPDATES:
        yield _REPLACED
    elif _AGAIN in found or _REPLACED in found:
        wrong = found is _TEMPLATE or failure.code == "ZON301"
        yield from _advise_on_retry(stack, failure.op, template_is_wrong=wrong)
    if failure.code.startswith("ZON"):
        yield f"'zonda explain {failure.code}' tells more about this kind of error."


def _advise_on_delete(stack: StackView) -> Iterator[str]:
    """Advise how to repeat a deletion; a stack must not be deleted for one failed resource."""
    if stack.action == "DELETE":
        yield _DELETE
        yield _ABANDON
    elif stack.status == "FAILED":
        yield _RETRY


def _advise_on_retry(stack: StackView, op: str, *, template_is_wrong: bool) -> Iterator[str]:
    """Name the command that repeats the action, of those that the stack accepts now."""
    if stack.deleted_at is not None:
        return
    if stack.status == "FAILED" and stack.action not in _ACTIONS_OF_UPDATES:
        yield _RETRY
    elif stack.status == "FAILED" and not template_is_wrong:
        yield _RETRY_OR_UPDATE
    elif op in _OPS_OF_UPDATES:
        yield _AGAIN


def _choose_by_code_range(failure: FailedView) -> tuple[str, ...]:
    if failure.op == "CHECK" and not failure.code.startswith("ZON1"):
        return _CHECKED
    if failure.code.startswith("ZON1"):
        return _TEMPLATE
    if failure.code.startswith("ZON"):
        return _OUTSIDE
    return _UNEXPECTED
