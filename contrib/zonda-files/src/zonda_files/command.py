"""``Zonda::Files::Command``: commands that make, change, check and remove something."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zonda.hooks import (
    PropertyErrors,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    UpdateReplace,
    properties,
    support,
)
from zonda.hooks.processes import Plan

from . import command_schema as schema
from .paths import directory_of_commands
from .runs import Ended, Lost, Run, inherited_environment

#: Entries of the resource's data: how the last create or update ended; the operation whose run was
#: taken note of; whether the last create, update or check has yet to succeed.
_RESULT, _ENDED, _UNSETTLED = "result", "ended", "unsettled"
_HIDDEN = "(hidden)"
_LONGEST_REASON = 2000
_LONGEST_VARIABLE = 32768

Token = dict[str, Any]


class Command(Resource):
    """Commands on the machine that zonda runs on, as a resource.

    Each command runs apart from zonda: if zonda is killed it goes on, and the next zonda waits for
    it instead of running it again. `ZONDA_OPERATION_ID` in its environment is new for every
    operation and stays through crashes and retries, so that it can serve as an idempotency key;
    `ZONDA_ACTION`, `ZONDA_STACK_ID`, `ZONDA_STACK_NAME`, `ZONDA_RESOURCE_NAME` and
    `ZONDA_RESOURCE_ID` (unique to this instance) are there, too, and `ZONDA_STDOUT`, what the last
    `create` or `update` wrote.
    """

    support_status = support.SupportStatus(version="0.1.0")
    start_policy = "idempotent"
    repairs_in_place = True
    properties_schema = schema.PROPERTIES
    attributes_schema = schema.ATTRIBUTES

    def validate(self) -> None:
        """The commands' form, the directory, the names of variables."""
        errors = PropertyErrors(self)
        for name in (schema.CREATE, schema.UPDATE, schema.DELETE, schema.CHECK):
            errors.check(name, _argv, self.properties[name], name)
        if self.properties[schema.CWD]:
            errors.check(schema.CWD, directory_of_commands, self.properties[schema.CWD])
        for name in (schema.ENVIRONMENT, schema.HIDDEN_ENVIRONMENT):
            errors.check(name, _texts, self.properties[name], name)
        errors.raise_all()

    def needs_replace_failed(self) -> bool:
        """A failed ``create`` is made anew; after anything else ``update`` is run, if there is."""
        return self.action not in ("UPDATE", "CHECK") or not self.properties[schema.UPDATE]

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Without an ``update`` another input makes another resource."""
        return bool(schema.INPUTS.intersection(changed)) and not after[schema.UPDATE]

    # -- life cycle -------------------------------------------------------------------------------

    def handle_create(self) -> Token | None:
        """Run ``create``."""
        self.resource_id_set(self.physical_resource_name())
        self.data_set(_UNSETTLED, "create")
        return self._begin(schema.CREATE, self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> Token | None:
        """Run ``update`` where an input has changed or something has failed before."""
        wanted = self.make_properties(json_snippet)
        if not schema.INPUTS.intersection(prop_diff) and _UNSETTLED not in self.data():
            return None
        if not wanted[schema.UPDATE]:
            raise UpdateReplace(self.name)
        self.data_set(_UNSETTLED, "update")
        return self._begin(schema.UPDATE, wanted)

    def handle_delete(self) -> Token | None:
        """Run ``delete``, unless nothing was ever run."""
        return None if self.resource_id is None else self._begin(schema.DELETE, self.properties)

    def handle_check(self) -> Token | None:
        """Run ``check``."""
        return self._begin(schema.CHECK, self.properties)

    def check_create_complete(self, token: Token | None) -> bool:
        """Whether ``create`` has ended; its output is kept."""
        return self._settle(token)

    def check_update_complete(self, token: Token | None) -> bool:
        """Whether ``update`` has ended; its output is kept."""
        return self._settle(token)

    def check_delete_complete(self, token: Token | None) -> bool:
        """Whether ``delete`` has ended."""
        return self._look(token) is not None

    def check_check_complete(self, token: Token | None) -> bool:
        """Whether ``check`` has ended; if it has failed the next update runs ``update``."""
        try:
            ended = self._look(token)
        except ResourceFailure:
            self.data_set(_UNSETTLED, "check")
            raise
        return ended is not None

    def handle_create_cancel(self, token: Token | None) -> None:
        """End the command."""
        self._cancel(token)

    handle_update_cancel = handle_delete_cancel = handle_check_cancel = handle_create_cancel

    def _resolve_attribute(self, name: str) -> Any:
        found = json.loads(self.data().get(_RESULT, "null"))
        if found is None or name == schema.EXIT_CODE:
            return found and found["exit_code"]
        if name == schema.HIDDEN_STDOUT:
            return found["stdout"]
        if name == schema.JSON:
            return _json(self._open(found["stdout"]))
        return self._open(found[name])

    # -- the steps --------------------------------------------------------------------------------

    def _begin(self, which: str, wanted: properties.Properties) -> Token | None:
        argv = _argv(wanted[which], which)
        if not argv:
            return None
        run = Run.of(self._operation_id)
        plan: Plan = {
            "argv": argv,
            "cwd": wanted[schema.CWD] or "/",
            "env": {**inherited_environment(), **self._variables(which, wanted)},
            "stdin": wanted[schema.HIDDEN_STDIN] or wanted[schema.STDIN],
            "timeout": wanted[schema.TIMEOUT],
            "limits": dict.fromkeys(("stdout", "stderr"), wanted[schema.LIMIT]),
            "hold_lock": True,
            "forget_cancelled": True,
        }
        if self.data().get(_ENDED) != run.folder.name:  # it has ended well: never once more
            run.begin(plan)
        token = {"folder": str(run.folder), "which": which, "codes": wanted[schema.CODES]}
        token["secrets"] = _secrets(wanted)
        may_repeat = which == schema.CHECK or wanted[schema.IDEMPOTENT]
        return {**token, "plan": plan} if may_repeat else token

    @property
    def _operation_id(self) -> str:
        operation = self.context.operation
        assert operation is not None, "handlers run in operations"
        return operation.id

    def _variables(self, which: str, wanted: properties.Properties) -> dict[str, str]:
        stack = self.context.stack
        last = json.loads(self.data().get(_RESULT, "{}")).get("stdout", "").strip()
        return {
            **_texts(wanted[schema.ENVIRONMENT], schema.ENVIRONMENT),
            **_texts(wanted[schema.HIDDEN_ENVIRONMENT], schema.HIDDEN_ENVIRONMENT),
            "ZONDA_OPERATION_ID": self._operation_id,
            "ZONDA_ACTION": which.upper(),
            "ZONDA_STACK_ID": stack.id,
            "ZONDA_STACK_NAME": stack.name,
            "ZONDA_RESOURCE_NAME": self.name,
            "ZONDA_RESOURCE_ID": self.resource_id or "",
            "ZONDA_STDOUT": last[:_LONGEST_VARIABLE].replace("\0", ""),
        }

    def _settle(self, token: Token | None) -> bool:
        ended = self._look(token, keep=True)
        if ended is None:
            return False
        self.data_delete(_UNSETTLED)
        return True

    def _look(self, token: Token | None, keep: bool = False) -> Ended | None:
        """The end of the run, None while it goes on; raises ResourceFailure if it failed."""
        if token is None:
            return Ended()
        run = Run(Path(token["folder"]))
        if self.data().get(_ENDED) == run.folder.name:
            return Ended()
        try:
            ended = run.look()
        except Lost:
            self._lost(token, run)
            return None
        if ended is not None:
            self._note(token, run, ended, keep)
        return ended

    def _note(self, token: Token, run: Run, ended: Ended, keep: bool) -> None:
        reason = _failure(token, ended)
        if reason:
            run.forget()
            raise ResourceFailure(reason)
        if keep:
            values = {
                "exit_code": ended.exit_code,
                "stdout": ended.stdout,
                "stderr": ended.stderr,
            }
            self.data_set(_RESULT, json.dumps(values), redact=True)
        if token["which"] != schema.CHECK:  # which changes nothing, and may be run again
            self.data_set(_ENDED, run.folder.name)
        run.forget()

    def _lost(self, token: Token, run: Run) -> None:
        if "plan" in token:
            run.forget()
            run.begin(token["plan"])
            return
        run.forget()
        raise ResourceFailure(
            f"The {token['which']} command was interrupted, and nobody knows how far it came: look "
            "at what it left; say `idempotent: true` if it may be run again"
        )

    def _cancel(self, token: Token | None) -> None:
        run = Run(Path(token["folder"])) if token else Run.of(self._operation_id)
        with contextlib.suppress(OSError):
            if run.is_running():
                run.cancel()
            else:
                run.forget()

    def _open(self, text: str) -> str:
        return _without(text, _secrets(self.properties))


def _argv(command: Any, name: str) -> list[str]:
    """The words of a command; none where there is none. Raises ResourceFailure."""
    if command is None or command == "":
        return []
    if isinstance(command, str) and "\0" not in command:
        return ["/bin/sh", "-c", command]
    is_list = isinstance(command, Sequence) and not isinstance(command, str) and len(command) > 0
    if is_list and all(isinstance(word, str | int) for word in command):
        words = [str(word) for word in command]
        if not any("\0" in word for word in words):
            return words
    raise ResourceFailure(
        f"{name} is a text for the shell or a list of a program and its arguments"
    )


def _texts(values: Mapping[str, Any], name: str) -> dict[str, str]:
    found = {}
    for key, value in values.items():
        text = "" if value is None else str(value)
        if not key or "=" in key or "\0" in key + text or isinstance(value, dict | list):
            raise ResourceFailure(f"{name}: {key!r} cannot be an environment variable")
        found[key] = text
    return found


def _secrets(props: Mapping[str, Any]) -> list[str]:
    """Values that no output may show, the longest first."""
    values = [*map(str, props[schema.HIDDEN_ENVIRONMENT].values()), props[schema.HIDDEN_STDIN]]
    texts = {text.strip() for value in values for text in (value, *value.splitlines())}
    return sorted((text for text in texts if len(text) > 3), key=len, reverse=True)


def _without(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text


def _failure(token: Token, ended: Ended) -> str:
    """Why the run counts as failed; empty where it does not."""
    what = f"The {token['which']} command"
    if ended.error:
        return f"{what} failed: it cannot be run: {ended.error}"
    said = _without((ended.stderr or ended.stdout).strip(), token["secrets"])[-_LONGEST_REASON:]
    tail = f": {said}" if said else ""
    if ended.ended_by:
        return f"{what} was ended because it ran longer than `timeout` allows{tail}"
    if ended.exit_code < 0:
        return f"{what} was ended by signal {-ended.exit_code}{tail}"
    if ended.exit_code not in token["codes"]:
        return f"{what} ended with exit code {ended.exit_code}{tail}"
    return ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
