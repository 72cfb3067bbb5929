"""Actions that have a URL and a method of their own, so that a REST API can be used as it is.

Read from ``[runners.NAME.actions.ACTION]``. Placeholders of a URL are filled with quoted values
that cannot leave their place in it. The answer of such an API is read as what it is (``plain``):
its status says how it went, its body is the output. Pure; knows nothing of sockets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from zonda.hooks import UsageError
from zonda.hooks.http import is_url, origin
from zonda.hooks.runners import StartRequest

#: The body that is sent: the contract's request, the inputs as they are, or nothing.
REQUEST, INPUTS, NOTHING = "request", "inputs", "none"
CONTRACT, PLAIN = "contract", "plain"
_WITHOUT_BODY = ("GET", "DELETE")
#: Methods that may be sent twice, by HTTP.
_IDEMPOTENT = ("GET", "PUT", "DELETE")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_INPUT = "inputs."

Path = tuple[str, ...]


class NotNamed(Exception):
    """A URL cannot be made, since a value is missing. The text says which."""


@dataclass(frozen=True, slots=True)
class Action:
    """The request of one action. ``url`` is absolute, with placeholders; empty: the default.

    ``gone``: answers that mean that there is nothing (any more). ``repeat``: whether a request of
    which nobody knows whether it has arrived may be sent again.
    """

    url: str = ""
    method: str = "POST"
    body: str = REQUEST
    plain: bool = False
    id_path: Path = ()
    output_path: Path = ()
    gone: frozenset[int] = field(default_factory=frozenset)
    repeat: bool = True

    @property
    def needs_id(self) -> bool:
        """Whether the URL names the thing by its physical id."""
        return "{resource_id}" in self.url

    def url_for(self, request: StartRequest) -> str:
        """The URL of a request. Raises NotNamed."""
        return _PLACEHOLDER.sub(lambda found: _find_value(found[1], request), self.url)


#: The request where the section says nothing.
DEFAULT_ACTION = Action()


def read_actions(values: Mapping[str, Any] | None, endpoint: str) -> dict[str, Action]:
    """The actions of a section. Raises UsageError that names the wrong entry."""
    given = {name: entry for name, entry in (values or {}).items() if entry is not None}
    return {name: _read_action(entry, f"actions.{name}", endpoint) for name, entry in given.items()}


def _read_action(entry: Mapping[str, Any], path: str, endpoint: str) -> Action:
    method = entry["method"]
    body = entry["body"] or (NOTHING if method in _WITHOUT_BODY else REQUEST)
    if method == "GET" and body != NOTHING:
        raise UsageError(f"The runner's setting {path} sends a body, which GET has not.")
    plain = (entry["answer"] or (CONTRACT if body == REQUEST else PLAIN)) == PLAIN
    if not plain and (entry["id_path"] is not None or entry["output_path"] is not None):
        raise UsageError(
            f"The runner's setting {path} has a path into an answer of the contract.",
            hint=f'Set answer = "{PLAIN}" for an API that does not know the contract.',
        )
    repeat = entry["repeat"]
    return Action(
        url=_resolve_url(entry["url"], endpoint, f"{path}.url"),
        method=method,
        body=body,
        plain=plain,
        id_path=_read_path(entry["id_path"]),
        output_path=_read_path(entry["output_path"]),
        gone=frozenset(entry["gone"]),
        repeat=not plain or method in _IDEMPOTENT if repeat is None else repeat,
    )


def _resolve_url(text: str, endpoint: str, entry: str) -> str:
    if not text:
        return ""
    for name in _PLACEHOLDER.findall(text):
        if name not in _VALUES and not name.startswith(_INPUT):
            raise UsageError(
                f"The runner's setting {entry} has the unknown placeholder {{{name[:60]}}}.",
                hint=f"Known are {', '.join(f'{{{one}}}' for one in _VALUES)}, {{inputs.NAME}}.",
            )
    if text.startswith("/") and not text.startswith("//"):
        text = f"{endpoint}{text}"
    rest = _PLACEHOLDER.sub("x", text)
    wrong = not is_url(text) or not origin(rest) or "{" in rest or "}" in rest
    if wrong or "{" in urlsplit(text).netloc or "@" in urlsplit(rest).netloc or "#" in rest:
        raise UsageError(
            f"The runner's setting {entry} is no URL.",
            hint="It is a path below the endpoint, such as /disks/{resource_id}, or an http(s) URL "
            "whose host is given.",
        )
    return text


def _read_path(value: str | Sequence[str] | None) -> Path:
    return tuple(value.split(".") if isinstance(value, str) else value or ())


# -- values -------------------------------------------------------------------------------------

_VALUES = {
    "resource_id": lambda request: request.resource.physical_id,
    "name": lambda request: request.resource.name,
    "uuid": lambda request: request.resource.id,
    "workflow": lambda request: request.workflow,
    "stack_name": lambda request: request.stack.name,
    "stack_id": lambda request: request.stack.id,
    "project": lambda request: request.stack.project,
}


def _find_value(name: str, request: StartRequest) -> str:
    if name.startswith(_INPUT):
        value: Any = request.inputs.get(name.removeprefix(_INPUT))
    else:
        value = _VALUES[name](request)
    if isinstance(value, bool):
        value = "true" if value else "false"
    if value is None or value == "" or not isinstance(value, str | int | float):
        raise NotNamed(f"the URL needs {{{name}}}, which has no value that fits there")
    text = str(value)
    # Quoted or not: some servers make a way up of it.
    if any(part and not part.strip(".") for part in re.split(r"[/\\]", text)):
        raise NotNamed(f"the URL needs {{{name}}}, whose value would lead elsewhere")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise NotNamed(f"the URL needs {{{name}}}, which is no text") from None


# -- answers ------------------------------------------------------------------------------------


def find_at_path(value: Any, path: Path) -> Any:
    """The value at ``path`` in a JSON value; None where it leads nowhere."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit():
            value = value[int(step)] if len(step) < 10 and int(step) < len(value) else None
        else:
            return None
    return value
