"""The bodies of creations, updates, previews and validations: what they bring, as a bundle.

Nothing of a body makes the server read its own disk: what templates and environments name has to
come along under ``files``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from zonda.core.template.files.http_fetch import Refused, RemotePolicy, fetch
from zonda.core.template.source.bundle import Bundle

from ...http.calls import Call
from ...http.errors import BadRequest
from ..values import parse_bool, parse_int, read_map, require_object

_LONGEST_TAG = 80
#: Seconds that a template may take to be fetched.
_PATIENCE = 10.0


def read_bundle(call: Call, body: Mapping[str, Any], *, needs_template: bool) -> Bundle:
    """The bundle of a body; raises BadRequest."""
    template = _read_template(call, body)
    if needs_template and not template:
        raise BadRequest("No template specified")
    files = _read_files(body)
    names = body.get("environment_files") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest("environment_files must be a list of names")
    missing = [name for name in names if name not in files]
    if missing:
        raise BadRequest(f"The environment file {missing[0]} is not among the files")
    environment = None if names else _format_text(body.get("environment"), "environment")
    return Bundle(
        template=template,
        environment=environment or None,
        environment_files=tuple((name, files[name]) for name in names),
        parameters=read_map(body, "parameters"),
        files=files,
    )


def _read_template(call: Call, body: Mapping[str, Any]) -> str:
    template = body.get("template")
    if template:
        return _format_text(template, "template")
    url = body.get("template_url")
    return _fetch_template(call, str(url)) if url else ""


def _fetch_template(call: Call, url: str) -> str:
    """The template at a URL, where the settings let the server fetch any."""
    settings = call.project.service.settings
    try:
        scheme = urlsplit(url).scheme
    except ValueError as error:
        raise BadRequest(f"Could not retrieve template: {error}") from error
    if scheme not in ("http", "https"):
        raise BadRequest(f"Could not retrieve template: Invalid URL scheme {scheme}")
    if settings.allow_remote_files == "no":
        raise BadRequest(
            "Could not retrieve template: this server fetches none; send it as 'template' instead"
        )
    is_private = settings.allow_remote_files == "any"
    policy = RemotePolicy(settings.max_template_bytes, _PATIENCE, is_private)
    try:
        return fetch(url, policy).content.decode("utf-8")
    except (Refused, UnicodeDecodeError) as error:
        raise BadRequest(f"Could not retrieve template: {error}") from error


def _format_text(value: Any, what: str) -> str:
    """A template or an environment as a text; an object is as good as its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise BadRequest(f"The {what} is neither an object nor a text")
    return json.dumps(value) if value else ""


def _read_files(body: Mapping[str, Any]) -> dict[str, str]:
    files = read_map(body, "files")
    return {
        str(name): text if isinstance(text, str) else json.dumps(text)
        for name, text in files.items()
    }


def read_body(call: Call) -> Mapping[str, Any]:
    """The body as an object."""
    return require_object(call.body)


def read_name(body: Mapping[str, Any]) -> str:
    """The name of a new stack; its letters are checked where the stack is made."""
    name = body.get("stack_name")
    if name is None or name == "":
        raise BadRequest("No stack name specified")
    if not isinstance(name, str):
        raise BadRequest("Invalid stack name: it must be a string", "StackValidationFailed")
    return name


def read_timeout(body: Mapping[str, Any]) -> int | None:
    """The minutes until the action is given up; None for 0 or nothing."""
    value = body.get("timeout_mins")
    return None if value is None else parse_int("timeout_mins", value) or None


def read_rollback(body: Mapping[str, Any]) -> bool | None:
    """Whether a failure is rolled back; None where the body does not say."""
    value = body.get("disable_rollback")
    return None if value is None else not parse_bool("disable_rollback", value)


def read_tags(body: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The tags; None where the body has none."""
    value = body.get("tags")
    if value is None:
        return None
    if isinstance(value, list):
        value = ",".join(map(str, value))
    if not isinstance(value, str):
        raise BadRequest("tags must be a text with commas", "ValueError")
    tags = tuple(tag.strip() for tag in value.split(",")) if value else ()
    for tag in tags:
        if not tag or len(tag) > _LONGEST_TAG:
            raise BadRequest(
                f'Invalid tag, "{tag}" is {"empty" if not tag else "longer than 80 characters"}',
                "ValueError",
            )
    return tags
