"""Translation rules: how a plug-in turns an old or loose form of its properties into the new one.

A resource class declares rules in ``translation_rules``; ``Properties`` applies them to the
resolved data before anything is converted. A path names properties from the outside in; where it
meets a list, it goes on in every item.

    TranslationRule(props, TranslationRule.REPLACE, ["networks", "network"], value_name="net_id")
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from ..errors import TemplateError, ZondaError
from ..records import dataclass


@dataclass(eq=False, repr=False, slots=True)
class TranslationRule:
    """One rule. Raises ValueError if its parts do not make one.

    * ``ADD``: ``value`` (a list) is appended to a list property.
    * ``REPLACE``: the property gets ``value``, or what stands beside it under ``value_name``, or
      what stands at ``value_path``; the source is then taken away.
    * ``DELETE``: the property is taken away.
    * ``RESOLVE``: the value becomes ``getattr(client_plugin, finder)(value)``, with ``entity`` as
      first argument where it is given. ``custom_value_path`` leads to the value inside a map.

    ``properties`` is accepted because Heat's plug-ins pass it; the rule applies to whatever data
    it is given.
    """

    RULE_KEYS: ClassVar[tuple[str, ...]] = (
        ADD := "Add",
        REPLACE := "Replace",
        DELETE := "Delete",
        RESOLVE := "Resolve",
    )

    properties: Any
    rule: str
    translation_path: Sequence[str]
    value: Any = None
    value_name: str | None = None
    value_path: Sequence[str] | None = None
    client_plugin: Any = None
    finder: str | None = None
    entity: str | None = None
    custom_value_path: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.rule not in self.RULE_KEYS:
            raise ValueError(f"There is no rule {self.rule}; there are {', '.join(self.RULE_KEYS)}")
        if not self.translation_path:
            raise ValueError("A translation rule needs a path")
        sources = (self.value is not None, self.value_name is not None, bool(self.value_path))
        if sum(sources) > 1:
            raise ValueError("Only one of value, value_name and value_path can be given")
        if self.rule == self.ADD and not isinstance(self.value, list):
            raise ValueError("The value of an Add rule must be a list")
        if self.rule == self.RESOLVE and not (self.client_plugin and self.finder):
            raise ValueError("A Resolve rule needs client_plugin and finder")


Rule = TranslationRule


def translate(
    data: Mapping[str, Any], rules: Sequence[Rule], unknown: Collection[str] = ()
) -> tuple[dict[str, Any], frozenset[str]]:
    """``data`` after all ``rules``, in their order, and the properties without a known value.

    Values of the properties in ``unknown`` are there, but not known yet: nothing is resolved
    there, and where such a value moves to another property that one is unknown, too. ``data``
    itself is left alone. Raises TemplateError where a rule meets data that it cannot apply to.
    """
    unresolved = {name: Unresolved() for name in unknown if data.get(name, 0) is None}
    result: dict[str, Any] = deepcopy({**data, **unresolved})
    work = _Work(result)
    open_names = {*unknown}
    for rule in rules:
        if rule.rule == Rule.RESOLVE and rule.translation_path[0] in open_names:
            continue
        if _find_source(rule) in open_names.intersection(result):
            open_names.add(rule.translation_path[0])
        for holder in list(_list_holders(result, rule.translation_path[:-1])):
            _APPLY[rule.rule](rule, holder, rule.translation_path[-1], work)
    moved = {name for name, value in result.items() if isinstance(value, Unresolved)}
    return {**result, **dict.fromkeys(moved)}, frozenset(moved | (result.keys() & open_names))


def _find_source(rule: Rule) -> str:
    """The property whose value a rule moves to another one; '' where it moves none."""
    if rule.rule != Rule.REPLACE:
        return ""
    if rule.value_path:
        return str(rule.value_path[0])
    return rule.value_name or "" if len(rule.translation_path) == 1 else ""


class _Work:
    """The data at work, and the names under which moved values were given."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        #: By the map that a value stands in, and its name there.
        self._origins: dict[tuple[int, str], str] = {}

    def note_move(
        self, source: dict[str, Any], old: str, holder: dict[str, Any], name: str
    ) -> None:
        """Keep where the value of a property was given."""
        self._origins[id(holder), name] = self.find_origin(source, old)

    def find_origin(self, holder: dict[str, Any], name: str) -> str:
        """The name under which the value of a property was given."""
        return self._origins.get((id(holder), name), name)


class Unresolved:
    """A placeholder for a value that is given and not known yet."""


def _list_holders(data: Any, path: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The maps that ``path`` leads to, through lists."""
    if isinstance(data, list):
        for item in data:
            yield from _list_holders(item, path)
    elif isinstance(data, dict):
        if not path:
            yield data
        elif path[0] in data:
            yield from _list_holders(data[path[0]], path[1:])


def _add(rule: Rule, holder: dict[str, Any], name: str, work: _Work) -> None:
    present = holder.get(name)
    if isinstance(present, Unresolved):
        return
    if present is not None and not isinstance(present, list):
        raise _build_error("Only a list can be added to", rule)
    holder[name] = [*(present or []), *deepcopy(rule.value)]


def _replace(rule: Rule, holder: dict[str, Any], name: str, work: _Work) -> None:
    if rule.value_name is not None:
        _move(rule, holder, rule.value_name, holder, name, work)
    elif rule.value_path:
        for source in list(_list_holders(work.data, rule.value_path[:-1])):
            _move(rule, source, rule.value_path[-1], holder, name, work)
    else:
        holder[name] = deepcopy(rule.value)


def _move(
    rule: Rule, source: dict[str, Any], old: str, holder: dict[str, Any], name: str, work: _Work
) -> None:
    if source.get(old) is None:
        return
    if holder.get(name):
        first = work.find_origin(holder, name)
        raise _build_error(f"Cannot use {first} and {old} at the same time.", rule)
    work.note_move(source, old, holder, name)
    holder[name] = source.pop(old)


def _delete(rule: Rule, holder: dict[str, Any], name: str, work: _Work) -> None:
    holder.pop(name, None)


def _resolve(rule: Rule, holder: dict[str, Any], name: str, work: _Work) -> None:
    if not rule.custom_value_path:
        _resolve_name(rule, holder, name)
        return
    for inner in list(_list_holders(holder.get(name), rule.custom_value_path[:-1])):
        _resolve_name(rule, inner, rule.custom_value_path[-1])


def _resolve_name(rule: Rule, holder: dict[str, Any], name: str) -> None:
    value = holder.get(name)
    if isinstance(value, list):
        holder[name] = [_call_finder(rule, item) if item else item for item in value]
    elif value:
        holder[name] = _call_finder(rule, value)


def _call_finder(rule: Rule, value: Any) -> Any:
    finder = getattr(rule.client_plugin, rule.finder or "")
    try:
        return finder(value) if rule.entity is None else finder(rule.entity, value)
    except (ZondaError, ValueError, LookupError) as error:
        raise _build_error(str(error), rule) from error


def _build_error(message: str, rule: Rule) -> TemplateError:
    return TemplateError(message, path=rule.translation_path, label="Property error", code="ZON145")


_APPLY = {
    Rule.ADD: _add,
    Rule.REPLACE: _replace,
    Rule.DELETE: _delete,
    Rule.RESOLVE: _resolve,
}
