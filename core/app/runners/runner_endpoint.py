"""The endpoint that ``zonda runner check`` names, and the options of its requests.

Called by ``workflow_services.py``. An endpoint is a URL, a section ``[runners.NAME]`` of kind
``http``, or the bundled service.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.settings.secret_references import list_own_files
from zonda.core.settings.sections import add_networks, read_secret, resolve_secrets
from zonda.core.settings.table import DEFAULT_KIND, Settings
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.records import dataclass, field
from zonda.hooks.text.suggestions import format_suggestion
from zonda.hooks.text.urls import is_url

from .runner_service import HINT, list_records, parse_host_and_port


@dataclass(frozen=True, slots=True)
class EndpointCheckOptions:
    """The options of the check. Inputs are JSON texts, headers ``Name: value``."""

    endpoint: str
    workflow: str = ""
    delete_workflow: str = ""
    delete: bool = True
    inputs: str = "{}"
    failing_inputs: str = ""
    token: str = field(default="", repr=False)
    signing_keys: Sequence[str] = field(default=(), repr=False)
    callback_keys: Sequence[str] = field(default=(), repr=False)
    headers: Sequence[str] = field(default=(), repr=False)
    timeout: float = 60.0
    listen: str = ""
    callback_url: str = ""

    def section(self, settings: Settings) -> dict[str, Any]:
        """Build the settings of an ``http`` runner. Raises UsageError and NotFound."""
        found = add_networks(
            resolve_secrets(_find_section(self.endpoint, settings), settings), settings
        )
        if found.pop("kind", DEFAULT_KIND) != DEFAULT_KIND:
            raise UsageError(
                f"The runner {self.endpoint} is not of kind {DEFAULT_KIND}.",
                hint=f"The contract is that of kind {DEFAULT_KIND}: give one of those, or a URL.",
            )
        if found.get("actions"):
            raise UsageError(
                f"The runner {self.endpoint} sets requests of its own (actions).",
                hint="What is called that way does not speak the contract.",
            )
        found.pop("callback", None)
        if self.token:
            found["token"] = _resolve_secret(self.token, settings)
        if self.signing_keys:
            found["signing_keys"] = [_resolve_secret(key, settings) for key in self.signing_keys]
        if self.callback_keys:
            found["callback_key"] = [_resolve_secret(key, settings) for key in self.callback_keys]
        if self.headers:
            found["headers"] = {**found.get("headers", {}), **_parse_headers(self.headers)}
        return found

    def target(self) -> dict[str, Any]:
        """Build the arguments of ``probe.Target``. Raises UsageError."""
        if not self.workflow and not is_url(self.endpoint):
            raise UsageError(
                f"The runner {self.endpoint} has many workflows.", hint="Name one with --workflow."
            )
        failing = (
            _parse_object(self.failing_inputs, "--failing-input") if self.failing_inputs else None
        )
        return {
            "workflow": self.workflow or self.endpoint,
            "delete_workflow": self.delete_workflow,
            "inputs": _parse_object(self.inputs, "--input"),
            "failing_inputs": failing,
            "delete": self.delete,
            "timeout": self.timeout,
            "listener": parse_host_and_port(self.listen) if self.listen else None,
            "callback_url": self.callback_url.rstrip("/"),
        }


def _find_section(endpoint: str, settings: Settings) -> Mapping[str, Any]:
    if is_url(endpoint):
        return {"endpoint": endpoint}
    section = settings.runners.get(endpoint)
    if section is not None:
        return section
    served = {record.name: record for record in list_records(settings)}
    if endpoint in served:
        service = served[endpoint].service()
        if service is None:
            raise NotFound("workflow service", endpoint, hint=HINT)
        return {"endpoint": service.address, "token": service.token}
    known = [*settings.runners, *served]
    close = format_suggestion(endpoint, known)
    raise UsageError(
        f"{endpoint} is neither an http(s) URL nor a runner{close}.",
        hint=f"There are: {', '.join(known)}.",
    )


def _resolve_secret(given: str, settings: Settings) -> str:
    """Return a secret as it is, or the one that ``env:NAME`` or ``file:PATH`` names.

    Whoever runs the command says so, no template: ``secret_sources`` is not for that.
    """
    if given.startswith(("env:", "file:")):
        return read_secret(given, settings, list_own_files(settings))
    return given


def _parse_object(text: str, option: str) -> dict[str, Any]:
    try:
        found = read_json(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise UsageError(f"{option} must be a JSON object.", hint=f"{option} '{{\"size\": 1}}'")
    return found


def _parse_headers(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise UsageError("A --header is not of the form 'NAME: VALUE'.")
        found[name.strip()] = value.strip()
    return found
