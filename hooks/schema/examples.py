"""Values that a schema allows: for examples in the generated reference and for ``conformance``.

Without chance: the same schema gives the same values, the plainest first. Texts for a pattern come
from hypothesis where it is installed (``zonda[check]``), else from a class's ``example`` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

from ..context import ResourceContext
from ..errors import TemplateError
from .constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from .properties import Schema
from .values import Reading, convert

_WORDS: Final = ("example", "another", "x", "a-1", "10", "one_more_example", "")


def is_valid_value(schema: Schema, value: Any, context: ResourceContext | None = None) -> bool:
    """Whether ``value`` is of the schema's type and keeps its constraints."""
    faults: list[TemplateError] = []
    convert(schema, value, (), Reading(context, faults, checks=True))
    return not faults


def list_values(schema: Schema, context: ResourceContext | None = None) -> Iterator[Any]:
    """Different values that the schema allows, the default first; none where none is known."""
    seen: list[Any] = []
    for value in _list_candidates(schema, context):
        if value not in seen and value is not None and is_valid_value(schema, value, context):
            seen.append(value)
            yield value


def build_properties(
    schemata: Mapping[str, Schema],
    given: Mapping[str, Any],
    context: ResourceContext | None = None,
    *,
    optional: bool = False,
) -> dict[str, Any]:
    """Properties that make a resource: ``given``, and values for the other required ones.

    ``optional``: every property that is implemented and not deprecated gets a value. A property
    for which no value is known is left out.
    """
    found: dict[str, Any] = {}
    stood_for = {schemata[name].alias_of for name in given.keys() & schemata.keys()}
    for name, schema in schemata.items():
        if name in given:
            found[name] = given[name]
        elif name in stood_for:
            continue
        elif (schema.required and schema.default is None) or (optional and _is_usable(schema)):
            found.update((name, value) for value in islice(list_values(schema, context), 1))
    return found


def _is_usable(schema: Schema) -> bool:
    return schema.implemented and schema.support_status.status == "SUPPORTED"


def _list_candidates(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    yield schema.default_value()
    for constraint in schema.constraints:
        yield from _list_constrained(schema, constraint, context)
    yield from _OF_TYPE[schema.type](schema, context)


def _list_constrained(
    schema: Schema, constraint: Constraint, context: ResourceContext | None
) -> Iterator[Any]:
    if isinstance(constraint, AllowedValues):
        is_list = schema.type == Schema.LIST
        yield from ([each] if is_list else each for each in constraint.allowed)
    elif isinstance(constraint, AllowedPattern):
        yield from _adjust_lengths(schema, _list_matching_texts(constraint.pattern))
    elif isinstance(constraint, CustomConstraint) and context is not None:
        yield from getattr(context.constraint(constraint.name), "examples", ())


@lru_cache(maxsize=256)
def _list_matching_texts(pattern: str) -> Sequence[str]:
    """A few texts that ``pattern`` matches, the shortest first."""
    if find_spec("hypothesis") is None:
        return ()
    import hypothesis
    from hypothesis import strategies

    texts: set[str] = set()
    letters = strategies.characters(exclude_categories=["Cc", "Cs"])

    @hypothesis.settings(
        max_examples=12,
        phases=[hypothesis.Phase.generate],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.from_regex(pattern, fullmatch=True, alphabet=letters))
    def collect(text: str) -> None:
        texts.add(text)

    with suppress(hypothesis.errors.HypothesisException):  # a pattern that no such text matches
        collect()
    return sorted(texts, key=lambda text: (len(text), text))


def find_limits(schema: Schema, kind: type[Range]) -> tuple[Any, Any]:
    """The highest minimum and the lowest maximum of constraints of one kind."""
    found = [each for each in schema.constraints if type(each) is kind]
    least = [each.min for each in found if isinstance(each, Range) and each.min is not None]
    most = [each.max for each in found if isinstance(each, Range) and each.max is not None]
    return max(least, default=None), min(most, default=None)


def _list_numbers(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    least, most = find_limits(schema, Range)
    start = 1 if least is None else least
    if most is not None and start > most:
        start = most if least is None else least
    start = math.ceil(start)
    for constraint in schema.constraints:
        if isinstance(constraint, Modulo):
            step = abs(constraint.step)
            first = start + (constraint.offset - start) % constraint.step
            yield from (first + step * each for each in (-2, -1, 0, 1, 2))
    yield from (start + each for each in (0, 1, 2, 3, -1, 10))
    if schema.type == Schema.NUMBER:
        yield from (limit for limit in (least, most) if limit is not None)
        yield start + 0.5


def _list_strings(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    yield from _adjust_lengths(schema, _WORDS)


def _adjust_lengths(schema: Schema, words: Iterable[str]) -> Iterator[str]:
    """``words``, and each again in a length that is allowed."""
    least, most = find_limits(schema, Length)
    for word in words:
        yield word
        if least is not None and len(word) < least:
            yield (word or "x") * math.ceil(least / len(word or "x"))
            yield (word or "x").ljust(int(least), "x")
        if most is not None:
            yield word[: int(most)]


def _list_lists(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    least, _ = find_limits(schema, Length)
    items = list(islice(list_values(schema.items, context), 3)) if schema.items else ["one", "two"]
    least = max(1, int(least or 0))
    for shift in range(len(items)):
        chosen = items[shift:] + items[:shift]
        yield (chosen * least)[:least]
    yield (items * (least + 1))[: least + 1]
    yield []


def _list_maps(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    if schema.fields:
        yield build_properties(schema.fields, {}, context)
        yield build_properties(schema.fields, {}, context, optional=True)
        for name, field in schema.fields.items():
            base = build_properties(schema.fields, {}, context)
            yield from ({**base, name: each} for each in islice(list_values(field, context), 3))
        return
    least, _ = find_limits(schema, Length)
    count = max(1, int(least or 0))
    yield {f"key{number}": "value" for number in range(1, count + 1)}
    yield {f"key{number}": "other" for number in range(1, count + 1)}
    yield {}


def _list_booleans(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    yield from (True, False)


def _list_any_values(schema: Schema, context: ResourceContext | None) -> Iterator[Any]:
    yield from ("example", 1, {"key": "value"}, ["one"], True)


_OF_TYPE: Final[dict[str, Callable[[Schema, ResourceContext | None], Iterator[Any]]]] = {
    Schema.INTEGER: _list_numbers,
    Schema.NUMBER: _list_numbers,
    Schema.STRING: _list_strings,
    Schema.BOOLEAN: _list_booleans,
    Schema.MAP: _list_maps,
    Schema.LIST: _list_lists,
    Schema.ANY: _list_any_values,
}
