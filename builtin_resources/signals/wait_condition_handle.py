"""The handles of wait conditions, which receive signals.

``OS::Heat::WaitConditionHandle``, ``AWS::CloudFormation::WaitConditionHandle`` and
``OS::Heat::UpdateWaitConditionHandle``. A handle keeps each signal as one entry of its data; what
they mean together is worked out by who reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import (
    Resource,
    ResourceFailure,
    SupportStatus,
    UpdateReplace,
    attributes,
    constraints,
    properties,
)

from ..base import LocalResource
from ..schema import make_text_schema
from .received import list_entries, make_entry_key
from .urls import describe_signal, find_token, make_endpoint, make_signal_schema

SUCCESS, FAILURE = "SUCCESS", "FAILURE"
TRANSPORT, TOKEN_SIGNAL = "signal_transport", "TOKEN_SIGNAL"
TRANSPORTS = (
    "CFN_SIGNAL",
    "TEMP_URL_SIGNAL",
    "HEAT_SIGNAL",
    "NO_SIGNAL",
    "ZAQAR_SIGNAL",
    TOKEN_SIGNAL,
)
TOKEN, ENDPOINT, CURL_CLI, SIGNAL = "token", "endpoint", "curl_cli", "signal"
URL = "Url"


class Handle(LocalResource):
    """The base of handles. ``keys`` are the names in a signal: its status, reason, data and id."""

    keys: ClassVar[tuple[str, str, str, str]]
    #: Whether a signal must have all of them.
    is_strict: ClassVar[bool] = False

    def handle_create(self) -> None:
        """Set its own id, by which others find it."""
        self.resource_id_set(self.uuid)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Keep the signals, and set its own id."""
        super().handle_adopt({**resource_data, "resource_id": self.uuid})

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> None:
        """Keep a signal; raises ResourceFailure for one that says something else."""
        said = dict(details or {})
        status = said.get(self.keys[0], None if self.is_strict else SUCCESS)
        is_whole = not self.is_strict or len(said) == len(self.keys)
        if not is_whole or status not in (SUCCESS, FAILURE) or said.keys() - {*self.keys}:
            raise self._build_malformed_error()
        self.data_set(make_entry_key(self), json.dumps(said), redact=True)

    def _build_malformed_error(self) -> ResourceFailure:
        status, *others = self.keys
        needed = "All of them are needed" if self.is_strict else "What is left out has a default"
        error = ResourceFailure(
            "Metadata format invalid",
            hint=f"A signal says {status} ({SUCCESS} or {FAILURE}), {', '.join(others)}. {needed}.",
        )
        error.heat_type = "ValueError"
        return error

    def signals(self) -> dict[str, dict[str, Any]]:
        """``status``, ``reason`` and ``data`` of the signals by their ids, in their order.

        A later one with the same id takes the place of an earlier one.
        """
        status, reason, data, key = self.keys
        known: dict[str, dict[str, Any]] = {}
        entries = self.data()
        for entry in list_entries(entries):
            said, number = json.loads(entries[entry]), len(known) + 1
            known[str(said.get(key, number))] = {
                "status": said.get(status, SUCCESS),
                "reason": str(said.get(reason, f"Signal {number} received")),
                "data": said.get(data),
            }
        return known


class WaitConditionHandle(Handle):
    """The target of signals, for a wait condition to count them.

    With ``zonda serve``, ``curl_cli`` is a command for any machine, to which
    ``--data-binary '{"status": "SUCCESS"}'`` may be added; without it ``zonda stack resource
    signal`` sends one here. A signal may say ``status`` (SUCCESS or FAILURE), ``reason``, ``data``
    and ``id``; what is left out is SUCCESS, and the signal's number. The attributes are hidden,
    since whoever knows them may signal.
    """

    support_status = SupportStatus(version="2014.2")
    keys = ("status", "reason", "data", "id")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        TRANSPORT: make_text_schema(
            "How signals are sent: what the attributes say. TOKEN_SIGNAL, HEAT_SIGNAL: to Heat's "
            "API with a token. CFN_SIGNAL, TEMP_URL_SIGNAL, ZAQAR_SIGNAL: to a signal URL.",
            default=TOKEN_SIGNAL,
            constraints=[constraints.AllowedValues(list(TRANSPORTS))],
        )
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        TOKEN: make_signal_schema("The token for X-Auth-Token, with TOKEN_SIGNAL."),
        ENDPOINT: make_signal_schema("Where Heat's API takes signals, with TOKEN_SIGNAL."),
        CURL_CLI: attributes.Schema(
            "The command that sends a signal, with TOKEN_SIGNAL: curl, or zonda where no server "
            "runs.",
            type=attributes.Schema.STRING,
            cache_mode=attributes.Schema.CACHE_NONE,
            hidden=True,
        ),
        SIGNAL: attributes.Schema(
            "How a signal is sent, as JSON text: alarm_url, and token where the transport needs "
            "one; a command as a list where no server runs.",
            type=attributes.Schema.STRING,
            cache_mode=attributes.Schema.CACHE_NONE,
            hidden=True,
        ),
    }

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        transport = self.properties[TRANSPORT]
        url = self.context.signal_url()
        if url is None:
            return self._describe_command(name, transport)
        if name == SIGNAL:
            return json.dumps(describe_signal(self, url, transport))
        if transport != TOKEN_SIGNAL:
            return None
        endpoint = make_endpoint(self, url)
        token = find_token(url)
        curl = (
            f"curl -i -X POST -H 'X-Auth-Token: {token}' -H 'Content-Type: application/json' "
            f"-H 'Accept: application/json' {endpoint}"
        )
        return {TOKEN: token, ENDPOINT: endpoint, CURL_CLI: curl}[name]

    def _describe_command(self, name: str, transport: str) -> Any:
        """An attribute where no server runs: the command that signals on this machine."""
        command = ["zonda", "stack", "resource", "signal", self.stack.id, self.uuid]
        if name == SIGNAL:
            return json.dumps({TRANSPORT: transport, "command": command})
        if name == CURL_CLI and transport == TOKEN_SIGNAL:
            return " ".join(command)
        return None


class AwsWaitConditionHandle(Handle):
    """The target of signals, for a wait condition to count them.

    A signal says ``Status`` (SUCCESS or FAILURE), ``Reason``, ``Data`` and ``UniqueId``, all of
    them. With ``zonda serve`` the reference is the URL that takes it by PUT, else an id; it is
    hidden, since whoever knows it may signal.
    """

    support_status = SupportStatus(version="2014.1")
    keys = ("Status", "Reason", "Data", "UniqueId")
    is_strict = True
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        URL: make_signal_schema("The same as the reference: the URL that takes signals by PUT.")
    }
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {None: (URL,)}

    def get_reference_id(self) -> str:
        """The signal URL; the id where no server runs."""
        url = None if self.resource_id is None else self.context.signal_url()
        return url or super().get_reference_id()

    def _resolve_attribute(self, name: str) -> Any:
        return None if self.resource_id is None else self.context.signal_url()


class UpdateWaitConditionHandle(AwsWaitConditionHandle):
    """A handle that each update of the stack replaces, so that its wait conditions wait anew."""

    support_status = SupportStatus(version="2014.1")

    def always_update(self) -> bool:
        """Return True: every update replaces it."""
        return True

    def needs_update(self, after: Resource, changed: bool) -> bool:
        """Never in place."""
        raise UpdateReplace(self.name)
