"""Questions to a cloud while a template is only looked at: no answer is no fault of the template.

Used by the properties, the constraints and the adapter. What a service says of a value (404, 400)
is an answer; that it cannot be reached, or refuses who asks, is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from zonda.hooks import TemplateError, TranslationRule, constraints, describe_exception

from .cloud import NoAnswer
from .outages import look_only

#: The code of what is not checked.
NOT_CHECKED: Final = "ZON616"
#: The packages of the clients of OpenStack, and of what they call.
_LIBRARIES: Final = ("keystoneauth1", "openstack", "oslo_", "requests", "urllib3")
#: The statuses that are answers about the value.
_ANSWERS: Final = (400, 404, 406, 409, 410, 411, 412, 413, 415, 422)
#: The errors without a status that are answers, too: several things have the name.
_AMBIGUOUS: Final = ("NoUniqueMatch", "DuplicateResource")


def gives_no_answer(error: BaseException) -> bool:
    """Whether an exception of a client only says that the cloud cannot be asked."""
    if isinstance(error, NoAnswer | OSError):
        return True
    top = type(error).__module__.partition(".")[0]
    if not (top.startswith(_LIBRARIES) or top.endswith("client")):
        return False
    if is_ambiguous(error):
        return False
    statuses = (getattr(error, name, None) for name in ("http_status", "status_code", "code"))
    return next((each for each in statuses if isinstance(each, int)), 0) not in _ANSWERS


def is_ambiguous(error: BaseException) -> bool:
    """Whether an exception of a client says that several things have the name."""
    return type(error).__name__.endswith(_AMBIGUOUS)


def is_only_looking(context: Any) -> bool:
    """Whether nothing is carried out: a template is validated or planned."""
    return getattr(getattr(context, "lent", context), "operation", None) is None


def format_reason(error: BaseException) -> str:
    """Why a cloud gave no answer, on one line."""
    said = error.message if isinstance(error, NoAnswer) else describe_exception(error)
    # The library below a client adds words about sockets.
    return " ".join(re.split(r": HTTPS?ConnectionPool\(", str(said))[0].split())


@contextmanager
def not_checked(what: str, context: Any) -> Iterator[None]:
    """Turn 'no answer' inside the block into NotChecked, while a template is only looked at."""
    try:
        with look_only(is_only_looking(context)):
            yield
    except constraints.NotChecked:
        raise
    except Exception as error:
        if not (is_only_looking(context) and gives_no_answer(error)):
            raise
        raise constraints.NotChecked(f"{what} is not checked: {format_reason(error)}") from error


class Finders:
    """The finders of translation rules, asked while a template is only looked at.

    ``unanswered``: the faults, as warnings, of properties whose names stayed names.
    """

    def __init__(self) -> None:
        self.unanswered: dict[tuple[str, ...], TemplateError] = {}

    def wrap(self, rules: Sequence[Any]) -> list[Any]:
        """The rules, whose finders give back the name where the cloud gives no answer."""
        for rule in rules:
            if rule.rule == TranslationRule.RESOLVE:
                self._wrap(rule)
        return [*rules]

    def _wrap(self, rule: Any) -> None:
        plugin, finder = rule.client_plugin, rule.finder
        path = (*rule.translation_path, *(rule.custom_value_path or ()))

        def ask(*given: Any) -> Any:
            try:
                with look_only():
                    return getattr(plugin, finder)(*given)
            except Exception as error:
                if not gives_no_answer(error):
                    raise
                text = f"The value is not checked: {format_reason(error)}"
                self.unanswered[path] = TemplateError(text, path=path, code=NOT_CHECKED)
                return given[-1]

        rule.client_plugin, rule.finder = _Asked(ask), "find"

    def list_unchecked(self, declared: Mapping[str, Any]) -> list[TemplateError]:
        """The faults of properties that no constraint has told of already."""
        return [
            fault for path, fault in self.unanswered.items() if not _has_constraint(declared, path)
        ]


class _Asked:
    """Stands for the client plug-in of a rule."""

    def __init__(self, find: Callable[..., Any]) -> None:
        self.find = find


def _has_constraint(declared: Mapping[str, Any] | None, path: Sequence[str]) -> bool:
    """Whether a custom constraint stands at a property, or at the items of its list."""
    schema = (declared or {}).get(path[0]) if path else None
    while schema is not None:
        rules = getattr(schema, "constraints", ())
        if any(isinstance(each, constraints.CustomConstraint) for each in rules):
            return True
        inside, path = schema.schema, path[1:]
        while inside is not None and not isinstance(inside, Mapping):
            schema, inside = inside, inside.schema
            if any(isinstance(each, constraints.CustomConstraint) for each in schema.constraints):
                return True
        schema = inside.get(path[0]) if inside and path else None
    return False
