"""Rules about lives with random properties, by hypothesis where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..context import ResourceContext
from ..schema import examples
from ..schema.constraints import AllowedPattern, AllowedValues, Length, Range
from ..schema.properties import Schema
from .suite import NotApplicable, Violated
from .trial import Trial, describe_error

_MISSING: Final = "hypothesis is not installed: pip install 'zonda[check]'"
_WIDEST: Final = 1_000_000


Run = Callable[[Callable[[Trial], None]], None]


def check_random_lives(run: Run, count: int) -> None:
    """Run ``count`` lives with random properties; ``run`` gives each a trial of its own."""
    if not count:
        raise NotApplicable("the back end wants no examples", "Backend.examples is 0")
    if importlib.util.find_spec("hypothesis") is None:
        raise NotApplicable(_MISSING)
    import hypothesis
    from hypothesis import strategies

    options = hypothesis.settings(
        max_examples=count,
        phases=[hypothesis.Phase.generate],  # lives may be slow: see _simplest
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    failed: list[dict[str, Any]] = []

    def lives(data: Any) -> None:
        def rule(trial: Trial) -> None:
            chosen = _draw_properties(trial, data, strategies)
            hypothesis.assume(trial.is_valid(chosen))
            try:
                _check_life(trial, chosen)
            except Violated:
                failed.append(chosen)
                raise

        run(rule)

    try:
        options(hypothesis.given(strategies.data())(lives))()
    except Violated as error:
        raise _simplify_fault(run, failed[-1], error) from error


def _draw_properties(trial: Trial, data: Any, strategies: Any) -> dict[str, Any]:
    context = trial.backend.context()
    fixed = {*trial.backend.properties(trial.type_name), *trial.cls.example}
    chosen = dict(trial.properties)
    for name, schema in trial.cls.properties_schema.items():
        strategy = _build_strategy(schema, context, strategies)
        if strategy is None or name in fixed or schema.hidden or not schema.implemented:
            continue
        if schema.required or data.draw(strategies.booleans()):
            chosen[name] = data.draw(strategy)
    return chosen


def _check_life(trial: Trial, chosen: Mapping[str, Any]) -> None:
    try:
        life = trial.make_created(chosen)
        life.delete()
    except Exception as error:  # the border: a plug-in's calls
        shown = {key: value for key, value in chosen.items() if key in trial.cls.properties_schema}
        raise Violated(
            f"with {_format_values(trial, shown)}: {describe_error(trial.cls, error)}"
        ) from error
    trial.expect_nothing_left("delete")


def _simplify_fault(run: Run, chosen: Mapping[str, Any], error: Violated) -> Violated:
    """The fault with as few random properties as possible."""
    for name in list(chosen):
        simpler, found = _try_without(run, chosen, name)
        if found is not None:
            chosen, error = simpler, found
    return error


def _try_without(
    run: Run, chosen: Mapping[str, Any], name: str
) -> tuple[Mapping[str, Any], Violated | None]:
    """Run one more life without a property; gives its properties and its fault."""
    simpler = {key: value for key, value in chosen.items() if key != name}

    def rule(trial: Trial) -> None:
        if name in trial.properties:
            simpler[name] = trial.properties[name]
        if simpler != chosen and trial.is_valid(simpler):
            _check_life(trial, simpler)

    try:
        run(rule)
    except Violated as found:
        return simpler, found
    return simpler, None


def _format_values(trial: Trial, values: Mapping[str, Any]) -> str:
    hidden = {key for key, schema in trial.cls.properties_schema.items() if schema.hidden}
    return str({key: "(hidden)" if key in hidden else value for key, value in values.items()})


def _build_strategy(schema: Schema, context: ResourceContext, st: Any) -> Any:
    """A hypothesis strategy for the values of a schema; None where only the author knows any."""
    made = _build_unfiltered_strategy(schema, context, st)
    if made is None:
        return None
    return made.filter(lambda value: examples.is_valid_value(schema, value, context))


def _build_unfiltered_strategy(schema: Schema, context: ResourceContext, st: Any) -> Any:
    for constraint in schema.constraints:
        if isinstance(constraint, AllowedValues):
            chosen = st.sampled_from(list(constraint.allowed))
            return st.lists(chosen) if schema.type == Schema.LIST else chosen
        if isinstance(constraint, AllowedPattern):
            return st.from_regex(constraint.pattern, fullmatch=True)
        if constraint.keyword in ("custom_constraint", "modulo"):
            known = list(examples.list_values(schema, context))
            return st.sampled_from(known) if known else None
    return _build_type_strategy(schema, context, st)


def _build_type_strategy(schema: Schema, context: ResourceContext, st: Any) -> Any:
    least, most = examples.find_limits(schema, Range)
    shortest, longest = examples.find_limits(schema, Length)
    sizes = {"min_size": int(shortest or 0), "max_size": None if longest is None else int(longest)}
    if schema.type in (Schema.INTEGER, Schema.NUMBER):
        low, high = least if least is not None else -_WIDEST, most if most is not None else _WIDEST
        whole = st.integers(int(low), int(high))
        if schema.type == Schema.INTEGER:
            return whole
        return st.one_of(whole, st.floats(low, high, allow_nan=False))
    if schema.type == Schema.STRING:
        return st.text(st.characters(codec="utf-8", exclude_characters="\0"), **sizes)
    if schema.type == Schema.BOOLEAN:
        return st.booleans()
    if schema.type == Schema.LIST and schema.items is not None:
        items = _build_strategy(schema.items, context, st)
        return None if items is None else st.lists(items, **{**sizes, "max_size": longest or 4})
    known = list(examples.list_values(schema, context))
    return st.sampled_from(known) if known else None
