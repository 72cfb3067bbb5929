"""``Zonda::Ansible::Host``: a machine that modules run on, and how it is reached.

Every other type takes it as the property ``ansible_on``: the attribute ``connection`` of a host, or
the same settings as a map. Without it modules run on the machine that zonda runs on.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotReady,
    OpaqueState,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    attributes,
    constraints,
    properties,
    support,
)

from . import facts, vault
from .index import load_index
from .lives import runs

ADDRESS, CONNECTION, PORT, USER, PASSWORD = "address", "connection", "port", "user", "password"
KEY_FILE, BECOME, BECOME_USER, BECOME_METHOD = (
    "private_key_file",
    "become",
    "become_user",
    "become_method",
)
BECOME_PASSWORD, PYTHON, VARIABLES, HIDDEN_VARIABLES = (
    "become_password",
    "python",
    "variables",
    "hidden_variables",
)
VAULT_PASSWORD: Final = "vault_password"
WAIT: Final = "wait"
FACTS, FACT_SUBSETS = "facts", "fact_subsets"
LOCAL: Final = "local"
#: Ansible's variable for each setting.
_NAMES: Final = {
    ADDRESS: "ansible_host",
    CONNECTION: "ansible_connection",
    PORT: "ansible_port",
    USER: "ansible_user",
    PASSWORD: "ansible_password",
    KEY_FILE: "ansible_private_key_file",
    BECOME: "ansible_become",
    BECOME_USER: "ansible_become_user",
    BECOME_METHOD: "ansible_become_method",
    BECOME_PASSWORD: "ansible_become_password",
    VAULT_PASSWORD: vault.PASSWORD,
    PYTHON: "ansible_python_interpreter",
}
#: The settings that may be encrypted.
_SECRETS: Final = (PASSWORD, BECOME_PASSWORD, HIDDEN_VARIABLES)
#: The settings that say which machine it is.
_MACHINE: Final = (ADDRESS, CONNECTION, PORT)
_TRIES: Final = 3
#: The facts of a machine that could not be asked, as JSON.
_UNKNOWN: Final = "null"

_Schema = properties.Schema
_Attribute = attributes.Schema


def _text(description: str, **more: Any) -> properties.Schema:
    return _Schema(_Schema.STRING, description, update_allowed=True, **more)


def make_settings() -> dict[str, properties.Schema]:
    """The settings of a host, as properties."""
    return {
        ADDRESS: _text("The name or address of the machine; for a container its name."),
        CONNECTION: _text(
            "Ansible's connection plug-in: `ssh`, `local`, `community.docker.docker`, ... Without "
            "it `ssh` where there is an address, and else `local`."
        ),
        PORT: _Schema(
            _Schema.INTEGER,
            "The port of its SSH server.",
            constraints=[constraints.Range(1, 65535)],
            update_allowed=True,
        ),
        USER: _text("The user that is logged in as."),
        PASSWORD: _text("Its password; never shown. A key is better.", hidden=True),
        KEY_FILE: _text("The file with the private key, on the machine that zonda runs on."),
        BECOME: _Schema(
            _Schema.BOOLEAN, "Whether modules run as another user.", update_allowed=True
        ),
        BECOME_USER: _text("That other user; root if it is not given."),
        BECOME_METHOD: _text("How it is become: `sudo`, `su`, `doas`, ..."),
        BECOME_PASSWORD: _text("What that asks for; never shown.", hidden=True),
        PYTHON: _text("The Python of the machine. Without it Ansible looks for one."),
        VARIABLES: _Schema(
            _Schema.MAP,
            "Other variables of Ansible, e.g. `ansible_ssh_common_args`.",
            default={},
            update_allowed=True,
        ),
        HIDDEN_VARIABLES: _Schema(
            _Schema.MAP,
            "Variables that are never shown.",
            default={},
            update_allowed=True,
            hidden=True,
        ),
        VAULT_PASSWORD: _text(
            "The password of what ansible-vault has encrypted: files that modules send, and texts "
            "that are given for hidden options, passwords and variables; never shown.",
            hidden=True,
        ),
    }


def make_variables(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Ansible's variables for the settings of a host; {} is the machine that zonda runs on."""
    given = {name: value for name, value in settings.items() if value not in (None, "")}
    if not given.get(PORT):
        given.pop(PORT, None)  # as a property that is not given reads
    given.setdefault(CONNECTION, "ssh" if ADDRESS in given else LOCAL)
    if given[CONNECTION] == LOCAL:
        given.setdefault(PYTHON, sys.executable)
    given |= {name: vault.mark_texts(given[name]) for name in _SECRETS if name in given}
    found = {_NAMES[name]: value for name, value in given.items() if name in _NAMES}
    return {**given.get(VARIABLES, {}), **given.get(HIDDEN_VARIABLES, {}), **found}


def name_place(settings: Mapping[str, Any]) -> str:
    """The machine in words, for messages."""
    address = settings.get(ADDRESS)
    if not address:
        return "this machine"
    port = settings.get(PORT)
    return f"{address}:{port}" if port else str(address)


def is_same_machine(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two settings lead to the same machine."""
    return list_machine(one) == list_machine(other)


def list_machine(settings: Mapping[str, Any]) -> list[Any]:
    """The settings that tell a machine from others; None for what is not given."""
    return [settings.get(name) or None for name in _MACHINE]


class Host(Resource):
    """A machine that is there already, and how Ansible reaches it.

    Nothing is made there and nothing is removed. Give the attribute `connection` to other types as
    `ansible_on`; it holds the passwords, too, and is never shown. Creation proves that modules can
    be run, and waits for a machine that is only being started.
    """

    support_status = support.SupportStatus(version="0.1.0")
    start_policy = "idempotent"
    repairs_in_place = True
    reference_may_change = True
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **make_settings(),
        WAIT: _Schema(
            _Schema.NUMBER,
            "Seconds for which a machine that cannot be reached is waited for.",
            default=0,
            constraints=[constraints.Range(0, 86400)],
            update_allowed=True,
        ),
        FACT_SUBSETS: _Schema(
            _Schema.LIST,
            "The facts to gather, as `gather_subset` of Ansible (`network`, `!hardware`); all if "
            "none are given.",
            schema=_Schema(_Schema.STRING, "A subset."),
            default=[],
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "connection": _Attribute(
            "All settings, for the property `ansible_on` of other types.",
            type=_Attribute.MAP,
            hidden=True,
        ),
        "address": _Attribute("The name or address.", type=_Attribute.STRING),
        "python": _Attribute("The Python that modules run with.", type=_Attribute.STRING),
        FACTS: _Attribute(
            "What Ansible finds out about the machine: `distribution`, `default_ipv4`, ... If the "
            "template reads it, each creation, update and check gathers it; else it is null.",
            type=_Attribute.MAP,
        ),
    }
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {
        "connection": (*_SECRETS, VAULT_PASSWORD)
    }

    def needs_replace_failed(self) -> bool:
        """There is nothing to replace."""
        return False

    def handle_create(self) -> None:
        """Prove that modules can be run there."""
        self._prove(self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Prove it with the new settings."""
        self._prove(self.make_properties(json_snippet))

    def handle_delete(self) -> None:
        """Nothing of it is ours."""
        return None

    def handle_check(self) -> None:
        """Fail if it cannot be reached; its facts are unknown then."""
        self.data_set(FACTS, _UNKNOWN)
        self._ping(self.properties)
        self._gather(self.properties)

    def get_live_state(self) -> Mapping[str, Any]:
        """In sync if modules can be run there; else nobody could look."""
        self._ping(self.properties)
        return OpaqueState(self.properties.get_sent_values(), in_sync=True)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """The same as to create it."""
        self._prove(self.properties)

    def _resolve_attribute(self, name: str) -> Any:
        settings = {key: self.properties[key] for key in make_settings() if self.properties[key]}
        python = settings.get(PYTHON) or self.data().get(PYTHON)
        if name == "connection":
            return {**settings, **({PYTHON: python} if python else {})}
        if name == FACTS:
            return self._read_facts()
        return python if name == PYTHON else settings.get(name, "")

    def _prove(self, wanted: Mapping[str, Any]) -> None:
        found = self._ping(wanted)
        python = (found.get("ansible_facts") or {}).get("discovered_interpreter_python")
        if python:
            self.data_set(PYTHON, python)
        self._gather(wanted)
        self.resource_id_set(name_place(wanted))

    def _gather(self, wanted: Mapping[str, Any]) -> None:
        """Gather facts and keep them, if the template reads them."""
        if self._are_facts_read():
            self.data_set(FACTS, json.dumps(self._ask_facts(wanted)))
        else:
            self.data_delete(FACTS)

    def _are_facts_read(self) -> bool:
        return not self.context.referenced_attributes().isdisjoint({FACTS, None})

    def _read_facts(self) -> dict[str, Any] | None:
        """The facts that are kept; those of now where a template is the first to read any."""
        kept = self.data().get(FACTS)
        if kept is None and self.resource_id is not None and self._are_facts_read():
            try:
                return self._ask_facts(self.properties)
            except (NotReady, ResourceFailure):
                return None
        found: dict[str, Any] | None = json.loads(kept or _UNKNOWN)
        return found

    def _ask_facts(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        options = facts.list_options(wanted[FACT_SUBSETS])
        return facts.read_facts(self._run(wanted, facts.MODULE, options))

    def _ping(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Prove that modules can be run there; the result tells a Python that was looked for."""
        python = make_variables(wanted).get(_NAMES[PYTHON])
        if python:  # running it is enough, and a third of the work of a module
            words = {"_raw_params": f"{shlex.quote(python)} -c pass"}
            found = self._ask(wanted, "ansible.builtin.raw", words)
            if not found.get("failed") and not found.get("unreachable"):
                return found
        return self._run(wanted, "ansible.builtin.ping", {})  # tells why it cannot be, too

    def _run(
        self, wanted: Mapping[str, Any], module: str, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The result of a module that changes nothing; raises NotReady and ResourceFailure."""
        found = self._ask(wanted, module, options)
        if found.get("failed") or found.get("unreachable"):
            text = f"{name_place(wanted)} cannot be used: {found.get('msg', '')}".strip()
            self._wait(wanted, text)
            raise ResourceFailure(text)
        return found

    def _ask(
        self, wanted: Mapping[str, Any], module: str, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The result of a module, also of one that failed; raises NotReady."""
        question = {
            "module": module,
            "options": options,
            "variables": make_variables(wanted),
            "keywords": {"timeout": 60},
            "check": False,
            "diff": False,
            "limit": 90,
        }
        run = runs.begin(load_index(), question, self.uuid or "host")
        try:
            found = runs.take_result(run, 100)
        except (runs.Unknown, runs.Lost, runs.Late):
            raise NotReady(1.0, "ansible-core was ended") from None
        assert found is not None, "the run has a limit"
        return found

    def _wait(self, wanted: Mapping[str, Any], text: str) -> None:
        operation = self.context.operation
        if operation is None or operation.action == "CHECK":
            return
        waited = self.context.clock.now() - operation.started_at
        if waited < wanted[WAIT] or operation.attempt < _TRIES:
            self.context.progress(text)
            raise NotReady(2.0, text)
