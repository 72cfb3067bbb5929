"""The life of what a module makes: every step is a run of the module.

The base of the types of ``types``. A step that was begun is found again by its token; after a crash
it is begun once more, which modules are made for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotReady,
    OpaqueState,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    properties,
)

from . import hosts, runs
from .index import Index
from .life_cycles import LifeCycle

#: Seconds for which a call waits for a module, and for which a later look does.
_PATIENCE: Final = 2.0
_LOOK: Final = 1.0
#: The number of times that a host is tried, and a process that was killed is begun.
_TRIES: Final = 3
_LONGEST: Final = 3000
_RESULT: Final = "result"
#: Seconds after its limit for which Ansible may end a module itself, before it is killed.
_GRACE: Final = 15

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
            self.context.progress(f"{self.resource_id} stays as it is")
            return None
        question = self._ask(self.properties, removal.module, dict(removal.options))
        return self._begin(question, keep=False)

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
            run = runs.begin(self.index, {**question, "check": True}, self._lock)
            kept["run"] = run
        try:
            found = runs.take_result(run, _PATIENCE)
        except runs.Lost:
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
        sent = wanted.get_sent_values(
            *(name for name in self.interface["options"] if wanted.get_user_value(name) is not None)
        )
        return dict(sent)

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
        return self._begin(self._ask(wanted, self.life.module, None), keep=True)

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
            "limit": limit + _GRACE,
            "place": hosts.name_place(wanted["ansible_on"]),
        }

    def _begin(self, question: dict[str, Any], *, keep: bool) -> Token | None:
        run = runs.begin(self.index, question, self._lock)
        token = {"run": run, "question": question, "keep": keep, "tries": 1}
        return None if self._settle(token, _PATIENCE) else token

    def _settle(self, token: Token, seconds: float = _LOOK) -> bool:
        question = token["question"]
        try:
            found = runs.take_result(token["run"], seconds)
        except runs.Late:
            raise ResourceFailure(
                f"{question['module']} on {question['place']} did not end in its time and was ended"
            ) from None
        except runs.Lost:
            self._repeat(token, "it was interrupted", safe=self.life.repeatable)
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
        elif self.context.operation is not None and self.context.operation.action == "DELETE":
            runs.forget_lock(self._lock)
        return True

    def _repeat(self, token: Token, reason: str, *, safe: bool) -> None:
        """Begin the run again, a few times; raises ResourceFailure with the reason after that."""
        if not safe or token["tries"] >= _TRIES:
            advice = "" if safe else ": look at what it has done, since it may not be run again"
            raise ResourceFailure(f"{reason}{advice}"[:_LONGEST])
        token["tries"] += 1
        self.context.progress(reason[:200])
        token["run"] = runs.begin(self.index, token["question"], self._lock)

    # -- drift ------------------------------------------------------------------------------------

    def _require_check_mode(self) -> None:
        if self.interface["check_mode"] == "none":
            raise ResourceFailure(
                f"{self.life.module} has no check mode, so nobody can tell without changing things"
            )

    def _judge(self, found: Mapping[str, Any]) -> OpaqueState:
        if found.get("skipped"):
            raise ResourceFailure(
                f"{self.life.module} cannot tell in check mode: {_get_message(found)}"
            )
        if found.get("failed") or found.get("unreachable"):
            raise ResourceFailure(f"{self.life.module}: {_get_message(found)}")
        sent = self.properties.get_sent_values()
        if not found.get("changed"):
            return OpaqueState(sent, in_sync=True)
        return OpaqueState(
            {**sent, self._find_repaired(sent): None},
            in_sync=False,
            reason=_describe(found) or "the module would change something",
        )

    def _find_repaired(self, sent: Mapping[str, Any]) -> str:
        """A property whose change leads to an update in place, which runs the module."""
        options = self.interface["options"]
        naming = {name for names in self.life.identity for name in names.split("|")}
        names = [name for name in sent if name in options and name not in naming]
        visible = [name for name in names if not options[name]["no_log"]]
        return next(iter((*visible, *names, "ansible_environment")))


def _get_message(found: Mapping[str, Any]) -> str:
    texts = [found.get("msg"), found.get("stderr"), found.get("module_stderr")]
    said = "; ".join(str(text).strip() for text in texts if text) or "it gives no reason"
    return said[-_LONGEST:]


def _clean(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("diff", "failed")}


def _describe(found: Mapping[str, Any]) -> str:
    """The differences in words, as far as the module's diff tells."""
    diffs = found.get("diff") or []
    lines = []
    for diff in diffs if isinstance(diffs, list) else [diffs]:
        before, after = (diff.get(key) for key in ("before", "after"))
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += [
                f"{name}: {before.get(name)} -> {after[name]}"
                for name in after
                if before.get(name) != after[name]
            ]
        elif diff.get("prepared"):
            lines.append(str(diff["prepared"]))
        elif before is not None or after is not None:
            lines.append(f"{diff.get('after_header') or 'it'} has another content")
    return "; ".join(lines)[:_LONGEST]
