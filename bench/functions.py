"""Resolve function calls: mixed in one template, then each function by itself.

The outputs of a template hold the calls; loading is measured apart from resolving. ``plain_us`` is
what the same result costs in plain Python without any checks, on the machine of the first figures.
"""

import json

from measure import HEAD, Cost, best, count, measured

from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import StackDefinition, load
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.core.template.validation.resource import NullValues

PARAMETERS = """parameters:
  text: {type: string, default: "a,b,c,d"}
  list: {type: json, default: [a, b, c, d]}
  map: {type: json, default: {a: 1, b: 2, c: {d: [1, 2, 3]}}}
conditions:
  ready: {equals: [{get_param: text}, "a,b,c,d"]}
"""

#: name -> (the call, microseconds of plain Python where they were measured)
CALLS: dict[str, tuple[str, float | None]] = {
    "get_param": ("{get_param: [map, c, d, 1]}", None),
    "list_join": ("{list_join: ['-', [a, b, {get_param: text}]]}", 1.5),
    "str_replace": ("{str_replace: {template: $a is $b, params: {$a: x, $b: y}}}", 2.4),
    "str_split": ("{str_split: [',', {get_param: text}]}", 0.8),
    "map_merge": ("{map_merge: [{get_param: map}, {a: 5, e: 6}]}", 2.3),
    "list_concat": ("{list_concat: [{get_param: list}, [e, f]]}", None),
    "repeat": ("{repeat: {for_each: {'%x%': {get_param: list}}, template: n-%x%}}", None),
    "if": ("{if: [ready, {get_param: text}, no]}", 0.4),
    "yaql": ("{yaql: {expression: $.data.len(), data: {get_param: list}}}", 280.0),
}


def template(calls: list[str]) -> str:
    """A template with one output that holds all calls in groups of a hundred."""
    groups = [calls[at : at + 100] for at in range(0, len(calls), 100)]
    lines = [f"  o{at}: {{value: [{', '.join(group)}]}}" for at, group in enumerate(groups)]
    return f"{HEAD}{PARAMETERS}outputs:\n" + "\n".join(lines) + "\n"


def loaded(calls: list[str]) -> StackDefinition:
    """The definition of such a template."""
    limits = Limits(max_template_bytes=2**26)
    return load(
        Bundle(template(calls)),
        identity=Identity("id", "bench", "project"),
        plugins=Plugins(),
        functions=build_function_table,
        limits=limits,
        yaql=make_evaluator(limits),
    )


def loading(calls: list[str]) -> Cost:
    """What loading costs."""
    with measured() as cost:
        loaded(calls)
    return cost


def resolving(definition: StackDefinition) -> Cost:
    """What resolving every call costs."""
    with measured() as cost:
        scope = definition.scope(NullValues())
        for output in definition.outputs.values():
            output.resolve(scope)
    return cost


def report(bench: str, number: int, parse: Cost, resolve: Cost, plain: float | None) -> None:
    """Print one line."""
    line = {
        "bench": bench,
        "calls": number,
        "load_us_each": round(parse.cpu_s / number * 1e6, 2),
        "resolve_us_each": round(resolve.cpu_s / number * 1e6, 2),
        "rss_mb": round(resolve.rss_mb, 1),
    }
    print(json.dumps(line if plain is None else {**line, "plain_us": plain}))


def bench(name: str, calls: list[str], plain: float | None = None) -> None:
    """Measure some calls and report them."""
    definition = loaded(calls)
    resolving(definition)  # imports, and the parsed expressions of yaql
    parse = best(3, lambda: loading(calls))
    report(name, len(calls), parse, best(3, lambda: resolving(definition)), plain)


number = count(10_000)
mixed = [call for name, (call, _) in CALLS.items() if name != "yaql"]
for size in (number // 10, number):
    bench("functions-mixed", (mixed * (size // len(mixed) + 1))[:size])
for name, (call, plain) in CALLS.items():
    bench(f"function-{name}", [call] * (number // 10), plain)
