"""The look at what a module has made, by its check mode.

The base of ``module_runs``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from zonda.hooks import (
    NotFound,
    NotReady,
    OpaqueState,
    Resource,
    ResourceFailure,
    compare_live_state,
    properties,
)

from .. import hosts, vault
from ..index import Index
from . import differences, runs
from .life_cycles import LifeCycle

#: Seconds for which a call waits for a module, and for which a later look does.
PATIENCE: Final = 2.0
LOOK: Final = 1.0
#: Seconds after its limit for which Ansible may end a module itself, before it is killed.
_GRACE: Final = 15


class ObservedModule(Resource):
    """The questions to a module, and what its answers tell of what is there."""

    index: ClassVar[Index]
    interface: ClassVar[Mapping[str, Any]]
    life: ClassVar[LifeCycle]

    # -- questions --------------------------------------------------------------------------------

    def list_given(self, wanted: properties.Properties) -> dict[str, Any]:
        """The options that the template gives, by their own names."""
        options = self.interface["options"]
        names = [name for name in options if wanted.get_user_value(name) is not None]
        return dict(wanted.get_sent_values(*names)) if names else {}

    @property
    def lock(self) -> str:
        """The name under which one run at a time works on the thing."""
        return self.uuid or "unnamed"

    def name_thing(self, wanted: properties.Properties) -> str:
        """The physical id: what names the thing on its machine, as far as it may be shown."""
        options, hidden = self.interface["options"], self.context.hidden_properties()
        given = {
            name: value
            for name, value in self.list_given(wanted).items()
            if hidden.isdisjoint({name, *options[name]["aliases"]})
        }
        values = [each for each in self.life.list_identity(given) if each]
        return (" ".join(map(_name_value, values)) or self.name)[:255]

    def ask(
        self, wanted: properties.Properties, module: str, options: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The question that runs a module; without ``options`` with those that are wanted."""
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
            "options": vault.mark_options(
                self.list_given(wanted) if options is None else options, self.interface["options"]
            ),
            "variables": hosts.make_variables(wanted["ansible_on"]),
            "keywords": keywords,
            "check": False,
            "diff": False,
            "limit": limit + _GRACE,
            "place": hosts.name_place(wanted["ansible_on"]),
        }

    # -- drift ------------------------------------------------------------------------------------

    def get_live_state(self) -> Mapping[str, Any]:
        """Whether the module would change anything, by its check mode."""
        self._require_check_mode()
        kept = self.context.observation
        run = str(kept.get("run", ""))
        if not runs.is_known(run):
            options = {**self.life.look, **self.list_given(self.properties)}
            question = self.ask(self.properties, self.life.module, options)
            run = runs.begin(self.index, {**question, "check": True, "diff": True}, self.lock)
            kept["run"] = run
        try:
            found = runs.take_result(run, PATIENCE)
        except (runs.Unknown, runs.Lost):
            raise ResourceFailure("the process that looked was ended") from None
        except runs.Late:
            raise ResourceFailure("the module did not end in its time") from None
        if found is None:
            raise NotReady(LOOK)
        return self._judge(found)

    def _require_check_mode(self) -> None:
        if self.interface["check_mode"] == "none":
            raise ResourceFailure(
                f"{self.life.module} has no check mode, so nobody can tell without changing things"
            )

    def _judge(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        if found.get("skipped"):
            raise ResourceFailure(
                f"{self.life.module} cannot tell in check mode: {get_message(found)}"
            )
        if found.get("failed") or found.get("unreachable"):
            raise ResourceFailure(f"{self.life.module}: {get_message(found)}")
        sent = self.properties.get_sent_values()
        if not found.get("changed"):
            return OpaqueState(sent, in_sync=True)
        if self.life.removes_file and differences.was_absent(found) and not self.is_to_go():
            raise NotFound(str(self.resource_id), "thing")
        live = self._find_live(found, sent)
        if live is not None:
            return live
        return OpaqueState(
            {**sent, self._find_repaired(sent): None},
            in_sync=False,
            reason=differences.describe(found) or "the module would change something",
        )

    def is_to_go(self) -> bool:
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


def _name_value(value: Any) -> str:
    """A value as a part of a name: a text, or that of a list which holds no more (a package)."""
    alone = value[0] if isinstance(value, list) and len(value) == 1 else value
    return alone if isinstance(alone, str) else json.dumps(value)


def get_message(found: Mapping[str, Any]) -> str:
    """The reason that a module gives for its failure."""
    said: list[str] = []
    for name in ("msg", "stderr", "module_stderr"):
        text = str(found.get(name) or "").replace("\r", "").strip()
        if text and not any(text in each for each in said):
            said.append(text)
    return "; ".join(said) or "it gives no reason"
