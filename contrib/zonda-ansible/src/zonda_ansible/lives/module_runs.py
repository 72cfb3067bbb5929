"""The life of what a module makes: every step is a run of the module.

The base of the types of ``types``. A step that was begun is found again by its token; after a crash
it is begun once more, which modules are made for; of those that are not the agent keeps a record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from zonda.hooks import ResourceDefinition, ResourceFailure, properties

from .. import hosts
from . import differences, runs
from .observations import LOOK, PATIENCE, ObservedModule, get_message

#: The number of times that a host is tried, and a process that was killed is begun.
_TRIES: Final = 3
_RESULT: Final = "result"
#: The version of the collection, beside what the module has returned.
_VERSION: Final = "zonda_version"
#: The words on what was there before the creation.
_OUTCOME: Final = "outcome"
#: The reason for which nothing could be made, as long as it is the only one that there was.
_REFUSAL: Final = "refusal"
_INTERRUPTED: Final = "it was interrupted"

Token = dict[str, Any]


class ModuleRuns(ObservedModule):
    """The steps of a life."""

    repairs_in_place = True

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
        wanted, written = self.properties["ansible_delete"], self._find_written()
        removal = self.life.plan_removal(given, wanted, written)
        if removal is None:
            return None
        question = self.ask(self.properties, removal.module, dict(removal.options))
        question["keeps_folder"] = wanted is None and written is None and self.life.keeps_folder
        return self._begin(question, keep=False)

    def describe_remains(self) -> str:
        """The things that stay when the resource is deleted."""
        if self.data().get(_REFUSAL):
            return ""
        given = self.list_given(self.properties)
        wanted = self.properties["ansible_delete"]
        return self.life.describe_remains(given, wanted, self._find_written())

    def describe_outcome(self) -> str:
        """The sentence on what the creation has found."""
        return self.data().get(_OUTCOME, "")

    def check_create_complete(self, token: Token | None) -> bool:
        """Whether the module has ended; raises ResourceFailure if it failed."""
        return token is None or self._settle(token)

    check_update_complete = check_create_complete
    check_delete_complete = check_create_complete

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Take over the thing that the options name."""
        super().handle_adopt({**resource_data, "resource_id": self.name_thing(self.properties)})

    def _resolve_attribute(self, name: str) -> Any:
        found = self._read_result()
        if found is None:
            return None
        found.pop(_VERSION, None)
        if name == "ansible_result":
            return found
        return found.get("changed" if name == "ansible_changed" else name)

    def _read_result(self) -> dict[str, Any] | None:
        """The result of the module's last run."""
        found: dict[str, Any] | None = json.loads(self.data().get(_RESULT, "null"))
        return found

    def _find_written(self) -> str | None:
        """The file that the module says it has written; '' for a folder, None if nothing."""
        given = self.list_given(self.properties)
        if os.path.isdir(str(given.get("src"))) and not given.get("remote_src"):
            return ""
        found = self._read_result()
        if found is None or "state" not in found:  # as where it did not write over a file
            return None
        return str(found.get("dest", "")) if found["state"] != "directory" else ""

    def _describe_other_version(self) -> str:
        """The part of a failure that tells of another version of the collection, or ''."""
        before = (self._read_result() or {}).get(_VERSION)
        now = self.index.get_version(self.life.module)
        if not before or before == now:
            return ""
        name = self.index.get_collection(self.life.module)
        return f" (it was last run by {name} {before}; now {now or 'another version'} is installed)"

    # -- the steps --------------------------------------------------------------------------------

    def _apply(self, wanted: properties.Properties) -> Token | None:
        is_new = self.resource_id is None
        # First, so that whatever a crash leaves is removed.
        self.resource_id_set(self.name_thing(wanted))
        self.data_delete(_OUTCOME)
        question = self.ask(wanted, self.life.module, None)
        # The diff tells the state before. An action would fetch whole files for it.
        question["diff"] = self._is_creating() and not self.interface["is_action"]
        return self._begin(question, keep=True, is_new=is_new)

    def _is_creating(self) -> bool:
        operation = self.context.operation
        return operation is not None and operation.action == "CREATE"

    def _begin(self, question: dict[str, Any], *, keep: bool, is_new: bool = False) -> Token | None:
        token = {"run": "", "question": question, "keep": keep, "is_new": is_new, "tries": 1}
        self._ask_again(token)
        return None if self._settle(token, PATIENCE) else token

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
        token["run"] = runs.begin(self.index, question, self.lock)

    def _settle(self, token: Token, seconds: float = LOOK) -> bool:
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
            text = f"{question['place']} cannot be reached: {get_message(found)}"
            self._repeat(token, text, safe=True)
            return False
        if _was_killed(found):
            self._repeat(token, _INTERRUPTED, safe=self._may_repeat(token))
            return False
        if found.get("failed"):
            if token.get("is_new") and token["tries"] == 1 and differences.was_there(found):
                self.resource_id_set(None)  # what was there before is not ours: it stays
            if self._is_refused_again(token, found):
                return True
            raise ResourceFailure(
                f"{question['module']} on {question['place']}: {get_message(found)}"
                f"{self._describe_other_version()}"
            )
        if token["keep"]:
            self.data_delete(_REFUSAL)
            kept = {**_clean(found), _VERSION: self.index.get_version(self.life.module)}
            self.data_set(_RESULT, json.dumps(kept), redact=True)
            if token["tries"] == 1:
                self._note_outcome(found)
        elif self.context.operation is not None and self.context.operation.action == "DELETE":
            runs.forget_lock(self.lock)
        return True

    def _is_refused_again(self, token: Token, found: Mapping[str, Any]) -> bool:
        """Whether a deletion fails for the reason for which the module never made anything.

        Such as a service that is not there, or a library that its module lacks.
        """
        said, kept = get_message(found), self.data().get(_REFUSAL)
        is_plain = token["tries"] == 1 and token["question"]["module"] == self.life.module
        if not token["keep"]:
            return is_plain and said == kept
        if token["is_new"] and is_plain and not found.get("changed"):
            self.data_set(_REFUSAL, said, redact=True)
        elif said != kept:  # it has come farther, and may have made something
            self.data_delete(_REFUSAL)
        return False

    def _note_outcome(self, found: Mapping[str, Any]) -> None:
        """Keep what the result of a creation tells of what was there before."""
        operation = self.context.operation
        is_first = operation is not None and operation.attempt == 1  # and not after a crash
        if not (is_first and self._is_creating()) or self.is_to_go() or self.life.makes_nothing:
            return
        if not found.get("changed"):
            self.data_set(_OUTCOME, "it was there already, as the template says: taken over")
        elif self.life.removes_file and differences.was_there(found):
            self.data_set(_OUTCOME, "it was there already and was changed: taken over")

    def _repeat(self, token: Token, reason: str, *, safe: bool) -> None:
        """Begin the run again, a few times; raises ResourceFailure with the reason after that."""
        self.data_delete(_REFUSAL)  # nobody knows what an earlier run has made
        if not safe or token["tries"] >= _TRIES:
            advice = "" if safe else ": look at what it has done, since it may not be run again"
            raise ResourceFailure(f"{reason}{advice}")
        token["tries"] += 1
        self.context.progress(reason)
        self._ask_again(token)


def _was_killed(found: Mapping[str, Any]) -> bool:
    """Whether the module's process was ended by SIGKILL, here or behind a shell or SSH."""
    return bool(found.get("failed")) and "module_stdout" in found and found.get("rc") in (-9, 137)


def _clean(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in found.items()
        if name not in ("diff", "failed", "zonda_found")
    }
