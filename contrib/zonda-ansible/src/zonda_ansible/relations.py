"""Rules among the options of a module: which exclude, need or replace each other.

They are Ansible's own rules, by the values that a template gives. Pure; called by ``types`` when a
template is validated and before a module is run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

Option = Mapping[str, Any]


def find_faults(
    options: Mapping[str, Option],
    relations: Mapping[str, Any],
    given: Mapping[str, Any],
    unknown: Collection[str] = (),
    written: Callable[[str], str] = str,
) -> Iterator[tuple[str, str]]:
    """The faults of what is given: (option, text).

    ``unknown``: options that are given and whose values are not known yet. ``written``: the name by
    which an option is given.
    """
    there = {name for name, value in given.items() if value is not None} | {*unknown}
    for group in _list_groups(relations.get("mutually_exclusive"), options):
        both = [name for name in group if name in there]
        if len(both) > 1:
            told = _join([written(name) for name in both], "and")
            yield both[1], f"give one of {_join(group)}, not {told}"
    values = {**_list_defaults(options), **{key: given.get(key) for key in there}}
    there = {name for name, value in values.items() if value is not None} | {*unknown}
    for group in _list_groups(relations.get("required_one_of"), options):
        if there.isdisjoint(group):
            yield group[0], f"one of {_join(group)} must be given"
    for group in _list_groups(relations.get("required_together"), options):
        missing = [name for name in group if name not in there]
        if 0 < len(missing) < len(group):
            yield missing[0], f"{_join(group, 'and')} must be given together"
    yield from _find_missing_by(relations.get("required_by"), there, written)
    yield from _find_missing_if(relations.get("required_if"), values, there, unknown, written)


def _find_missing_by(
    rules: Any, there: Collection[str], written: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    for name, needed in (rules or {}).items():
        for each in [needed] if isinstance(needed, str) else needed or ():
            if name in there and each not in there:
                yield each, f"it must be given where {written(name)} is"


def _find_missing_if(
    rules: Any,
    values: Mapping[str, Any],
    there: Collection[str],
    unknown: Collection[str],
    written: Callable[[str], str],
) -> Iterator[tuple[str, str]]:
    for rule in rules or ():
        name, value, needed, *one = rule
        if name in unknown or name not in values or values[name] != value:
            continue
        missing = [each for each in needed if each not in there]
        if one and one[0] and len(missing) == len(needed):
            yield (
                missing[0],
                f"one of {_join(needed)} must be given where {written(name)} is {value}",
            )
        elif missing and not (one and one[0]):
            yield missing[0], f"it must be given where {written(name)} is {value}"


def _list_defaults(options: Mapping[str, Option]) -> dict[str, Any]:
    return {name: option["default"] for name, option in options.items()}


def _list_groups(rules: Any, options: Collection[str]) -> list[list[str]]:
    """Groups of options; one group may stand there without a list around it.

    Names that are no options, such as the free form of a command, are none of a template's.
    """
    groups = [rules] if rules and isinstance(rules[0], str) else rules or ()
    known = ([name for name in group if name in options] for group in groups)
    return [group for group in known if group]


def _join(names: Sequence[str], word: str = "or") -> str:
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
