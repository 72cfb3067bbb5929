"""The plan file: the facts that must be the same at its application, and their comparison.

A plan file has the document for people, and one sealed field: the action with its bundle, and
facts about every instance. Who carries it out works the plan out anew and compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.core.engine import actions
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import Conflict, StoreError, UsageError, ZondaError

from ..templates.definitions import Definitions
from ..templates.fingerprints import definition_to_dict
from .document import VERSION, build_document
from .entries import Entry
from .preview import Preview, Resource

SEALED = "sealed"
#: Codes: what it was made for has changed; this cannot be carried out at all.
OUT_OF_DATE = "ZON210"
NO_PLAN = "ZON211"


def format_plan(plan: Preview, sealer: Sealer, definitions: Definitions) -> str:
    """The text of a plan file."""
    shown = build_document(plan)
    sealed = sealer.seal(
        {
            "action": actions.to_json(plan.action),
            "shown": _compute_hash(shown, sealer),
            "stack": _list_stack_facts(plan),
            "resources": _list_resource_facts(plan, sealer, definitions),
        }
    )
    text = json.dumps({**shown, SEALED: sealed}, indent=2, ensure_ascii=False, default=str)
    if not _is_encodable(text):  # half of a surrogate pair
        text = json.dumps({**shown, SEALED: sealed}, indent=2, default=str)
    return text + "\n"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Promise:
    """The content of a plan file. Raises UsageError for an invalid or changed text."""

    def __init__(self, text: str, sealer: Sealer) -> None:
        shown = _parse(text)
        sealed = shown.pop(SEALED)
        try:
            self._facts = sealer.open(sealed)
        except StoreError as error:
            raise UsageError(
                "The plan was made for another database: it is sealed with another key.",
                hint="Make a plan here, with 'zonda stack plan -o'.",
                code=NO_PLAN,
            ) from error
        if self._facts["shown"] != _compute_hash(shown, sealer):
            raise UsageError(
                "The plan file was changed after it was made.",
                hint="Make the plan anew.",
                code=NO_PLAN,
            )
        self.action = actions.from_json(self._facts["action"])
        #: The project that it was made in.
        self.project = str(shown["stack"]["project"])
        #: The id that the stack has, or will have.
        self.stack_id = str(self._facts["stack"]["id"])

    def check(self, plan: Preview, sealer: Sealer, definitions: Definitions) -> None:
        """Raise Conflict, naming every difference, unless ``plan`` is what was promised."""
        found = [
            *_describe_differences("stack", self._facts["stack"], _list_stack_facts(plan)),
            *_describe_resources(
                self._facts["resources"], _list_resource_facts(plan, sealer, definitions)
            ),
        ]
        if found:
            raise build_stale_error(plan.stack.name, found)
        if plan.fails or plan.refusal:
            causes = [
                plan.refusal,
                *(f"{name}: {_get_reason(each)}" for name, each in plan.fails.items()),
            ]
            said = "; ".join(filter(None, causes))
            raise Conflict(
                f"The plan is known to fail ({said}).",
                hint="Change the template, or use 'zonda stack update' to see it fail.",
                code=OUT_OF_DATE,
            )


def _get_reason(entry: Any) -> str:
    return str(entry.refusal or entry.verdict.surely.reason)


def build_stale_error(name: str, found: list[str]) -> Conflict:
    """The error for a plan that is out of date."""
    shown = "; ".join(found[:20]) + (f"; and {len(found) - 20} more" if len(found) > 20 else "")
    return build_impossible_error(f"{shown}.", f" for {name}")


def build_impossible_error(why: str, of: str = "") -> Conflict:
    """The error for a plan whose action is no longer possible."""
    return Conflict(
        f"The plan{of} is out of date: {why}",
        hint="Nothing was done. Make a new plan with 'zonda stack plan'.",
        code=OUT_OF_DATE,
    )


def _parse(text: str) -> dict[str, Any]:
    try:
        found = read_json(text)
    except ValueError as error:
        raise UsageError(f"This is no plan: it is no JSON ({error}).", code=NO_PLAN) from error
    if not isinstance(found, dict) or "zonda_plan" not in found or SEALED not in found:
        raise UsageError(
            "This is no plan that can be carried out.",
            hint="'zonda stack plan -o FILE' writes one; what -f json shows lacks the sealed part.",
            code=NO_PLAN,
        )
    if found["zonda_plan"] != VERSION:
        raise UsageError(
            f"The plan has version {found['zonda_plan']}, and this zonda carries out {VERSION}.",
            hint="Make the plan anew.",
            code=NO_PLAN,
        )
    return found


def _compute_hash(shown: Mapping[str, Any], sealer: Sealer) -> str:
    # through JSON, as it is read again
    return sealer.hmac(
        format_canonical(json.loads(json.dumps(shown, default=str))).encode(
            "utf-8", "surrogatepass"
        )
    )


#: Behind the name of what is replaced, on the way to what is inside of that.
_OLD = " (the old one)"

# -- facts ----------------------------------------------------------------------------------------


def _list_stack_facts(plan: Preview) -> dict[str, Any]:
    stack = plan.stack
    facts = {"id": stack.id, "generation": stack.generation, "action": _get_action(plan)}
    if stack.generation:
        facts["state"] = f"{stack.action}_{stack.status} ({stack.phase})"
        facts["nested"] = {
            row.id: [row.name, row.generation, f"{row.action}_{row.status} ({row.phase})"]
            for row in plan.nested.values()
        }
    return facts


def _get_action(plan: Preview) -> str | None:
    return None if plan.proposal is None else plan.proposal.action


def _list_resource_facts(plan: Preview, sealer: Sealer, definitions: Definitions) -> dict[str, Any]:
    return dict(_Facts(sealer, definitions).of(plan.definition, plan.resources, ""))


class _Facts:
    """The facts about resources, by name; of nested ones by path."""

    def __init__(self, sealer: Sealer, definitions: Definitions) -> None:
        self._sealer = sealer
        self._definitions = definitions
        self._identities: dict[Any, str] = {}

    def of(
        self, definition: Any, resources: Iterable[Resource], above: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """``definition``: the planned one of the stack; None for a stack to be deleted."""
        seen: set[str] = set()
        for each in resources:
            key = above + each.entry.name
            while key in seen:  # several instances of one name
                key += " (another instance)"
            seen.add(key)
            yield key, self._build_facts(definition, each)
            for index, nested in enumerate(each.nested):
                inside = nested.inside
                old = _OLD if index else ""
                yield from self.of(inside.definition, nested.resources, f"{key}{old}/")

    def _build_facts(self, definition: Any, each: Resource) -> dict[str, Any]:
        entry, row, verdict = each.entry, each.entry.row, each.entry.verdict
        facts: dict[str, Any] = {"plan": f"{entry.action} {entry.may}".strip()}
        if row is not None:
            facts["instance"] = row.id
            facts["state"] = f"{row.action}_{row.status}" + (f" ({row.op} runs)" if row.op else "")
            facts["work"] = [row.fence, row.resolved_hash, row.physical_id, row.deletion_policy]
        if verdict is not None and verdict.wanted is not None:
            # the values: what was read of other resources may be another one now
            facts["values"] = self._sealer.hmac(
                format_canonical(definition_to_dict(verdict.wanted)).encode()
            )
        cls = self._find_class(definition, entry)
        if cls not in self._identities:
            self._identities[cls] = self._definitions.identity(cls, entry.type)
        facts["class"] = self._identities[cls]
        return facts

    def _find_class(self, definition: Any, entry: Entry) -> Any:
        """The class of the resource; None where no plug-in brings it."""
        if entry.verdict is not None:
            definition = entry.verdict.template
        node = None if definition is None else definition.resources.get(entry.name)
        if node is not None:
            return node.cls
        try:
            return None if entry.row is None else self._definitions.class_of(entry.row)
        except ZondaError:
            return None


# -- differences ----------------------------------------------------------------------------------

_MOST_NAMES = 5
_WORDS = {
    "id": "it is another stack of that name",
    "generation": "the stack has had another action since (generation {0} then, {1} now)",
    "action": "the action would be another one ({0} then, {1} now)",
    "state": "{what} was {0} and is {1}",
    "nested": "something nested in the stack has had another action since ({changed})",
    "instance": "{what} is another instance now",
    "work": "something was done to {what}",
    "class": "{what}: another plug-in ({0} then, {1} now)",
    "plan": "{what}: {0} was planned, it would be {1}",
    "values": "{what}: what it reads has other values",
}


def _describe_differences(
    what: str, then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    for key, said in _WORDS.items():
        old, new = then.get(key), now.get(key)
        if old != new:
            changed = _name_changed(old, new) if key == "nested" else ""
            yield said.format(_format_value(old), _format_value(new), what=what, changed=changed)
            return  # the rest follows from it


def _name_changed(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str:
    """The nested stacks that have changed."""
    old, new = then or {}, now or {}
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    names = [(new.get(key) or old[key])[0] for key in differing]
    return ", ".join(names[:_MOST_NAMES]) + (" ..." if len(names) > _MOST_NAMES else "")


def _format_value(value: Any) -> str:
    return "nothing" if value is None else str(value)


def _describe_resources(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """One difference for each resource; nested ones follow from their owner's."""
    told: set[str] = set()
    for name in dict.fromkeys((*then, *now)):
        if not told.isdisjoint(_list_owners(name)):
            continue
        if name not in now and "/" in name:  # only what happens inside is in a plan
            found = [f"{name}: {then[name]['plan']} was planned, nothing would be done to it"]
        elif name not in now:
            found = [f"{name} is not there any more"]
        elif name not in then and "/" in name:
            found = [f"{name}: nothing was planned, it would be {now[name]['plan']}"]
        elif name not in then:
            found = [f"{name} was not there"]
        else:
            found = list(_describe_differences(name, then[name], now[name]))
        if found:
            told.add(name)
            yield found[0]


def _list_owners(name: str) -> Iterator[str]:
    """The names of the owners above ``name``."""
    for end, letter in enumerate(name):
        if letter == "/":
            yield name[:end].removesuffix(_OLD)
