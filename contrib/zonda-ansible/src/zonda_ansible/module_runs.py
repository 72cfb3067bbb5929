"""The life of what a module makes: every step is a run of the module.

The base of the types of ``types``. A step that was begun is found again by its token; after a crash
it is begun once more, which modules are made for; of those that are not the agent keeps a record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotFound,
    NotReady,
    OpaqueState,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    compare_live_state,
    properties,
)

from . import differences, hosts, runs
from .index import Index
from .life_cycles import LifeCycle

#: Seconds for which a call waits for a module, and for which a later look does.
_PATIENCE: Final = 2.0
_LOOK: Final = 1.0
#: The number of times that a host is tried, and a process that was killed is begun.
_TRIES: Final = 3
_LONGEST: Final = 3000
_RESULT: Final = "result"
#: What was there before the creation, in words.
_OUTCOME: Final = "outcome"
#: Seconds after its limit for which Ansible may end a module itself, before it is killed.
_GRACE: Final = 15

_INTERRUPTED: Final = "it was interrupted"

Token = dict[str, Any]


class ModuleRuns(Resource):
    """The steps of a life."""

    repairs_in_place = True
    index: ClassVar[Index]
    interface: ClassVar[Mapping[str, Any]]
    life: ClassVar[LifeCycle]

    # -- life cycle -------------------------------------------------------------------------------

    def needs_replace_failed(self) -> bool:
        """False: what was begun is completed in place."""
        return self.resource_id is None

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether it becomes another thing, or one on another machine."""
        if not hosts.is_same_machine(before["ansible_on"], after["ansible_on"]):
            return True
        old = self.life.list_identity(self.list_given(before))
        new = self.life.list_identity(self.list_given(after))
        return any(
            one != other and one is not None and other is not None
            for one, other in zip(old, new, strict=True)
        )

    def handle_create(self) -> Token | None:
        """Run the module."""
        return self._apply(self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> Token | None:
        """Run the module with what the template says now."""
        return self._apply(self.make_properties(json_snippet))

    def handle_delete(self) -> Token | None:
        """Run what removes the thing, where anything does."""
        if self.resource_id is None:
            return None
        given = self.list_given(self.properties)
        removal = self.life.plan_removal(given, self.properties["ansible_delete"])
        if removal is None:
            return None
        question = self._ask(self.properties, removal.module, dict(removal.options))
        return self._begin(question, keep=False)

    def describe_remains(self) -> str:
        """What stays when the resource is deleted."""
        given = self.list_given(self.properties)
        return self.life.describe_remains(given, self.properties["ansible_delete"])

    def describe_outcome(self) -> str:
        """What the creation has found."""
        return self.data().get(_OUTCOME, "")

    def check_create_complete(self, token: Token | None) -> bool:
        """Whether the module has ended; raises ResourceFailure if it failed."""
        return token is None or self._settle(token)

    check_update_complete = check_create_complete
    check_delete_complete = check_create_complete

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Take over the thing that the options name."""
        super().handle_adopt({**resource_data, "resource_id": self._name(self.properties)})

    def get_live_state(self) -> Mapping[str, Any]:
        """Whether the module would change anything, by its check mode."""
        self._require_check_mode()
        kept = self.context.observation
        run = str(kept.get("run", ""))
        if not runs.is_known(run):
            question = self._ask(self.properties, self.life.module, None)
            run = runs.begin(self.index, {**question, "check": True, "diff": True}, self._lock)
            kept["run"] = run
        try:
            found = runs.take_result(run, _PATIENCE)
        except (runs.Unknown, runs.Lost):
            raise ResourceFailure("the process that looked was ended") from None
        except runs.Late:
            raise ResourceFailure("the module did not end in its time") from None
        if found is None:
            raise NotReady(_LOOK)
        return self._judge(found)

    def _resolve_attribute(self, name: str) -> Any:
        found = json.loads(self.data().get(_RESULT, "null"))
        if name == "ansible_result" or found is None:
            return found
        return found.get("changed" if name == "ansible_changed" else name)

    # -- the steps --------------------------------------------------------------------------------

    def list_given(self, wanted: properties.Properties) -> dict[str, Any]:
        """The options that the template gives, by their own names."""
        options = self.interface["options"]
        names = [name for name in options if wanted.get_user_value(name) is not None]
        return dict(wanted.get_sent_values(*names)) if names else {}

    @property
    def _lock(self) -> str:
        return self.uuid or "unnamed"

    def _name(self, wanted: properties.Properties) -> str:
        values = [each for each in self.life.list_identity(self.list_given(wanted)) if each]
        texts = [each if isinstance(each, str) else json.dumps(each) for each in values]
        place = wanted["ansible_on"].get(hosts.ADDRESS)
        return f"{f'{place}:' if place else ''}{' '.join(texts) or self.name}"[:255]

    def _apply(self, wanted: properties.Properties) -> Token | None:
        # First, so that whatever a crash leaves is removed.
        self.resource_id_set(self._name(wanted))
        self.data_delete(_OUTCOME)
        question = self._ask(wanted, self.life.module, None)
        # What was there before is told by the diff. An action would fetch whole files for it.
        question["diff"] = self._is_creating() and not self.interface["is_action"]
        return self._begin(question, keep=True)

    def _is_creating(self) -> bool:
        operation = self.context.operation
        return operation is not None and operation.action == "CREATE"

    def _ask(
        self, wanted: properties.Properties, module: str, options: dict[str, Any] | None
    ) -> dict[str, Any]:
        limit = wanted["ansible_timeout"]
        operation = self.context.operation
        if not limit and operation is not None:
            limit = max(1, operation.deadline - self.context.clock.now())
        limit = int(limit or 3600)
        keywords: dict[str, Any] = {"timeout": limit}
        if wanted["ansible_environment"]:
            keywords["environment"] = dict(wanted["ansible_environment"])
        return {
            "module": module,
            "options": self.list_given(wanted) if options is None else options,
            "variables": hosts.make_variables(wanted["ansible_on"]),
            "keywords": keywords,
            "check": False,
            "diff": False,
            "limit": limit + _GRACE,
            "place": hosts.name_place(wanted["ansible_on"]),
        }

    def _begin(self, question: dict[str, Any], *, keep: bool) -> Token | None:
        token = {"run": "", "question": question, "keep": keep, "tries": 1}
        self._ask_again(token)
        return None if self._settle(token, _PATIENCE) else token

    def _follow_up(self, token: Token) -> None:
        """Go on after the process that ran the module, or waited for it, is gone."""
        if self._may_repeat(token) or token.get("asked"):
            self._repeat(token, _INTERRUPTED, safe=self._may_repeat(token))
        else:
            token["asked"] = True  # its record tells what became of it
            self._ask_again(token)

    def _may_repeat(self, token: Token) -> bool:
        return self.life.repeatable or token["question"]["module"] != self.life.module

    def _ask_again(self, token: Token) -> None:
        """Begin the run of a token; where an earlier process has begun it, follow that one."""
        question, operation = token["question"], self.context.operation
        if not self._may_repeat(token) and operation is not None:
            question = {**question, "once": f"{operation.id}-{token['tries']}"}
        token["run"] = runs.begin(self.index, question, self._lock)

    def _settle(self, token: Token, seconds: float = _LOOK) -> bool:
        question = token["question"]
        try:
            found = runs.take_result(token["run"], seconds)
        except runs.Late:
            raise ResourceFailure(
                f"{question['module']} on {question['place']} did not end in its time and was ended"
            ) from None
        except runs.Unknown:
            self._ask_again(token)
            return False
        except runs.Lost:
            self._follow_up(token)
            return False
        except runs.Begun:
            self._repeat(token, _INTERRUPTED, safe=False)
            return False
        if found is None:
            return False
        if found.get("unreachable"):
            text = f"{question['place']} cannot be reached: {_get_message(found)}"
            self._repeat(token, text, safe=True)
            return False
        if found.get("failed"):
            raise ResourceFailure(
                f"{question['module']} on {question['place']}: {_get_message(found)}"
            )
        if token["keep"]:
            self.data_set(_RESULT, json.dumps(_clean(found)), redact=True)
            if token["tries"] == 1:
                self._note_outcome(found)
        elif self.context.operation is not None and self.context.operation.action == "DELETE":
            runs.forget_lock(self._lock)
        return True

    def _note_outcome(self, found: Mapping[str, Any]) -> None:
        """Keep what the result of a creation tells of what was there before."""
        operation = self.context.operation
        is_first = operation is not None and operation.attempt == 1  # and not after a crash
        if not (is_first and self._is_creating()) or self._is_to_go() or self.life.makes_nothing:
            return
        if not found.get("changed"):
            self.data_set(_OUTCOME, "it was there already, as the template says: taken over")
        elif self.life.removes_file and differences.was_there(found):
            self.data_set(_OUTCOME, "it was there already and was changed: taken over")

    def _repeat(self, token: Token, reason: str, *, safe: bool) -> None:
        """Begin the run again, a few times; raises ResourceFailure with the reason after that."""
        if not safe or token["tries"] >= _TRIES:
            advice = "" if safe else ": look at what it has done, since it may not be run again"
            raise ResourceFailure(f"{reason}{advice}"[:_LONGEST])
        token["tries"] += 1
        self.context.progress(reason[:200])
        self._ask_again(token)

    # -- drift ------------------------------------------------------------------------------------

    def _require_check_mode(self) -> None:
        if self.interface["check_mode"] == "none":
            raise ResourceFailure(
                f"{self.life.module} has no check mode, so nobody can tell without changing things"
            )

    def _judge(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        if found.get("skipped"):
            raise ResourceFailure(
                f"{self.life.module} cannot tell in check mode: {_get_message(found)}"
            )
        if found.get("failed") or found.get("unreachable"):
            raise ResourceFailure(f"{self.life.module}: {_get_message(found)}")
        sent = self.properties.get_sent_values()
        if not found.get("changed"):
            return OpaqueState(sent, in_sync=True)
        if self.life.removes_file and differences.was_absent(found) and not self._is_to_go():
            raise NotFound(str(self.resource_id), "thing")
        live = self._find_live(found, sent)
        if live is not None:
            return live
        return OpaqueState(
            {**sent, self._find_repaired(sent): None},
            in_sync=False,
            reason=differences.describe(found)[:_LONGEST] or "the module would change something",
        )

    def _is_to_go(self) -> bool:
        """Whether the template says that the thing is to be gone."""
        return self.life.is_gone(self.list_given(self.properties))

    def _find_live(
        self, found: Mapping[str, Any], sent: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The properties as they are; None where the module does not tell which ones differ."""
        options = self.interface["options"]
        naming = self._list_naming()
        names = {
            name: {name, *option["aliases"]} - {"content"}
            for name, option in options.items()
            if name not in naming
        }
        differing = differences.find_live(found, sent, names)
        if differing is None:
            return None
        live = {**sent, **differing}
        compared = compare_live_state(self.properties, live)
        return live if set(compared.differing) == differing.keys() else None

    def _list_naming(self) -> set[str]:
        return {name for names in self.life.identity for name in names.split("|")}

    def _find_repaired(self, sent: Mapping[str, Any]) -> str:
        """A property whose change leads to an update in place, which runs the module."""
        options = self.interface["options"]
        naming = self._list_naming()
        names = [name for name in sent if name in options and name not in naming]
        visible = [name for name in names if not options[name]["no_log"]]
        return next(iter((*visible, *names, "ansible_environment")))


def _get_message(found: Mapping[str, Any]) -> str:
    texts = [found.get("msg"), found.get("stderr"), found.get("module_stderr")]
    said = "; ".join(str(text).strip() for text in texts if text) or "it gives no reason"
    return said[-_LONGEST:]


def _clean(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in found.items()
        if name not in ("diff", "failed", "zonda_found")
    }
