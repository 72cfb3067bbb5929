"""Documents that somebody hostile may hand over, and the commands that read them, from a number.

Called by ``hostile`` and ``test_hostile``. A document is written as text, piece by piece: what
makes it hostile (aliases, numbers of thousands of digits, tags) gets lost in a dump.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class Chance(random.Random):
    """Chance with a temper. ``calm``: how often a value is one that anybody might write."""

    calm = 0.0


VERSION = "heat_template_version: 2021-04-16\n"
#: Types whose making neither waits for anybody nor for the clock.
QUICK = (
    "OS::Heat::Value",
    "OS::Heat::RandomString",
    "OS::Heat::None",
    "OS::Heat::TestResource",
    "OS::Heat::SoftwareConfig",
    "OS::Heat::StructuredConfig",
    "OS::Heat::MultipartMime",
    "OS::Heat::CloudConfig",
    "OS::Heat::ResourceGroup",
    "OS::Heat::ResourceChain",
    "OS::Heat::AutoScalingGroup",
    "OS::Heat::Stack",
    "OS::Heat::UpdateWaitConditionHandle",
    "Zonda::ForEach",
)
#: Types that are only planned.
SLOW = (
    "OS::Heat::Delay",
    "OS::Heat::WaitCondition",
    "OS::Heat::WaitConditionHandle",
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::InstanceGroup",
    "OS::Heat::ScalingPolicy",
    "OS::Mistral::ExternalResource",
    "OS::Mistral::Workflow",
    "OS::Mistral::CronTrigger",
    "Zonda::Workflow::ExternalResource",
    "OS::Heat::SoftwareComponent",
    "OS::Heat::DeployedServer",
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::AutoScaling::LaunchConfiguration",
    "AWS::AutoScaling::ScalingPolicy",
)
_PROPERTIES = """
value type length count resource_def resources concurrent resource_properties index_var min_wait
max_jitter jitter_multiplier_secs actions input max_size min_size desired_capacity resource template
parameters timeout config options inputs outputs parts for_each character_classes sequence salt
removal_policies action_wait_secs fail client_name wait_secs context attr_wait_secs cloud_config
rolling_updates cooldown adjustment_type scaling_adjustment handle server definition tags
value_change update_replace
"""
PROPERTIES = _PROPERTIES.split()
KINDS = ("string", "number", "json", "boolean", "comma_delimited_list")


@dataclass
class Input:
    """Files by name, and commands. ``given``: files that are something else (a pipe, a link)."""

    kind: str
    files: dict[str, bytes]
    commands: list[list[str]]
    links: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Put the files into a folder."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, target in self.links.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(target)
        (folder / "commands.json").write_text(json.dumps(self.commands))


# -- values -----------------------------------------------------------------------------------


def digits(chance: Chance) -> int:
    """How many digits a number has."""
    readable = (1, 2, 10, 19, 20, 39, 100, 309, 400, 4000, 4300)
    return chance.choice((4301, 9000, 60_000) if chance.random() < 0.05 else readable)


def number(chance: Chance) -> str:
    """A number as YAML 1.1 knows them, most of them too large for something."""
    many = digits(chance)
    kind = chance.randrange(13)
    if kind == 0:
        return "0x" + "f" * many
    if kind == 1:
        return "1" + ":59" * (many // 3 + 1)
    if kind == 2:
        return "0b" + "1" * many
    if kind == 3:
        return "0" + "7" * many
    if kind == 4:
        return "1" + ":59" * (many // 3 + 1) + ".5"
    if kind == 5:
        return "1" + "_000" * (many // 3 + 1)
    if kind == 6:
        return "1." + "5" * many + "e+" + "9" * chance.randint(1, 5)
    if kind == 7:
        return chance.choice((".inf", "-.inf", ".nan", "1.0e+999", "-1.0e-999", "-0.0", "1e400"))
    if kind == 8:
        return chance.choice(
            ("true", "null", "~", "2001-01-01", "0.5", "-1", "0", "1", "2", "65536")
        )
    return chance.choice(("", "-", "+")) + "9" * many


def text(chance: Chance) -> str:
    """A text, quoted; some are names, numbers, JSON, commas or long."""
    kind = chance.randrange(14)
    if kind == 0:
        return json.dumps(number(chance))
    if kind == 1:
        return json.dumps("[" * chance.choice((3, 50, 1000, 30_000)))
    if kind == 2:
        return json.dumps(json.dumps({"a": [1, {"type": "child.yaml"}], "b": "c,d.yaml"}))
    if kind == 3:
        return json.dumps('{"a": ' + "9" * digits(chance) + "}")
    if kind == 4:
        return json.dumps(
            chance.choice(("a", ",", "x,y", "a.yaml,")) * chance.choice((3, 999, 9999))
        )
    if kind == 5:
        return chance.choice(
            ('"\\0"', '"\\ud800"', '"\\u2028"', '"\\U0001f600"', "!!binary aGk=", "''")
        )
    if kind == 6:
        return json.dumps(chance.choice(("child.yaml", "type.yaml", "OS::stack_name", "%index%")))
    return json.dumps(chance.choice(("a", "b", "p", "q", "r0", "r1", "v0", "v1", "value", "x%i%y")))


def aliases(chance: Chance) -> str:
    """One value in which anchors stand for each other, some of them very often."""
    width, depth = chance.choice((1, 2, 3, 10)), chance.choice((1, 2, 4, 6, 12, 30, 190))
    leaf = chance.choice(
        ("[l, l, l, l]", "{l: l}", json.dumps("l" * 999), "{get_param: p}", "{get_file: f}", "9")
    )
    name = f"n{chance.randrange(10**6)}x"  # no anchor may stand twice in a document
    pieces = [f"&{name}0 {leaf}"]
    for level in range(1, depth):
        used = [f"*{name}{level - 1}"] * width
        kind = chance.randrange(8)
        body = f"[{', '.join(used)}]"
        if kind == 0:
            body = "{" + ", ".join(f"k{n}: {one}" for n, one in enumerate(used)) + "}"
        elif kind == 1:
            body = f"{{list_join: ['', {body}]}}"
        elif kind == 2:
            body = f"{{type: {used[0]}, properties: {{resources: {body}}}}}"
        elif kind == 3 and leaf == "{l: l}" and level == 1:
            body = f"{{<<: {body}, m: 1}}"
        elif kind == 4 and chance.random() < 0.1:
            body = f"[*{name}{level}, {body}]"
        pieces.append(f"&{name}{level} {body}")
    return f"[{', '.join(pieces)}]" if chance.random() < 0.7 else f"{{a: [{', '.join(pieces)}]}}"


def odd(chance: Chance) -> str:
    """A value of a kind that hardly anybody writes."""
    return chance.choice(
        (
            "!!set {a, b}",
            "!!omap [a: 1, b: 2]",
            "!!pairs [a: 1, a: 2]",
            "!!binary gIGC",
            "!!timestamp 2001-12-14",
            "!!str 5",
            "!!int '7'",
            "!!float '.inf'",
            "!!python/object/apply:os.system [id]",
            "{1: a}",
            "{~: a}",
            "{true: a, 1: b, 1.0: c}",
            "{.nan: a, .nan: b}",
            "{2001-01-01: a}",
            "{'': a}",
            "{=: a}",
            "{<<: [{a: 1}, {b: 2}]}",
            "[[], {}, [[]], '']",
            "{0x" + "f" * 5000 + ": a}",
        )
    )


def nested(chance: Chance) -> str:
    """One thing inside itself."""
    depth = chance.choice((20, 150, 190, 199, 250))
    opening, closing = chance.choice(
        (("[", "]"), ("{a: ", "}"), ("{not: ", "}"), ("{'a': [", "]}"))
    )
    return opening * depth + "1" + closing * depth


def expression(chance: Chance, depth: int = 2) -> str:
    """A yaql expression that likes to multiply."""
    many = chance.choice((2, 10, 60, 150, 199, 1000, 100_000))
    inside = "$" if depth <= 0 else expression(chance, depth - 1)
    source = chance.choice(("$.data", f"range({many})", "[1, 2, 3]", f"'a' * {many}", "$.data.a"))
    forms = (
        f"range({many}).aggregate([$1, $1], {inside})",
        f"range({many}).aggregate(dict(a => $1, b => $1), {inside})",
        f"range({many}).aggregate($1 + $1, {inside})",
        f"range({many}).aggregate($1 * $1, 7)",
        f"range({many}).aggregate(str($1) + str($1), {inside})",
        f"range({many}).accumulate([$1, $1, $2], {inside})",
        f"range({many}).aggregate($1.append($1), {inside})",
        f"range({many}).aggregate($1.set(a, $1), dict(b => {inside}))",
        f"range({many}).aggregate(list($1, $1).toList(), {inside})",
        f"range({many}).aggregate([$1, $1] = [$1, $1], [{inside}])",
        f"range({many}).select(range({many}).sum()).sum()",
        f"range({many}).select(range({many}).select(range({many}).select($ * 2).sum()).sum())",
        f"let(x => {inside}) -> range({many}).select([$x, $x, $x])",
        f"let(x => {inside}) -> [$x, $x].select([$, $x, $]).select([$, $x, $])",
        f"def(f, f($) + f($)) -> f({many})",
        f"def(f, [f($), f($)]) -> f({inside})",
        f"def(f, switch($ < 1 => [1], true => [f($ - 1), f($ - 1)])) -> f({min(many, 60)})",
        f"generate({inside}, true, [$, $])",
        f"generateMany(1, [$ * 2, $ * 2 + 1]).limit({many})",
        f"{source}.orderBy($).distinct()",
        f"{source}.groupBy($, [$, $])",
        f"{source}.join({source}, true, [$1, $2])",
        f"{source}.toDict($, {inside})",
        f"{source}.zip({source}, {source})",
        f"'%s' * {many}",
        f"('a' * {many}).replace('a', 'b' * {many})",
        f"'{{0}}{{0}}{{0}}'.format({inside})",
        f"'a,'.split(',').join('b' * {many})",
        f"regex('(a|aa)+$').matches('a' * {many})",
        f"regex('a*').replace('a' * {many}, 'b' * {many})",
        f"pow(9, {many})",
        f"shiftBitsLeft(1, {many})",
        f"int('9' * {many})",
        f"float('9' * {many}) * 2",
        f"hex(pow(2, {many}))",
        f"str({inside}) + str({inside})",
        f"[{inside}].flatten().len()",
        f"{source}.mergeWith({source})",
        f"dict(a => dict(a => {inside})).mergeWith(dict(a => dict(b => {inside})))",
        f"[{inside}] * {many}",
        f"{source}.enumerate().toList()",
        f"{source}.slice(1).selectMany([$, $]).toList()",
        f"{source}.permutations()",
        f"datetime('9999-01-01') + timespan(days => {many})",
        "$.data.repeat().limit(10)",
        "cycle($.data)",
        f"sequence().take({many})",
        "random()",
        f"{inside}",
        "$.data.(",
        "'",
        "1" * 200,
        "((" * many + "1" + "))" * many,
    )
    return chance.choice(forms)


def call(chance: Chance, depth: int) -> str:
    """A call of a function, mostly well formed."""
    one, two = value(chance, depth - 1), value(chance, depth - 1)
    many = chance.choice((2, 5, 30, 1000))
    rows = "[" + ", ".join(f"i{n}" for n in range(many)) + "]"
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{{yaql: {{expression: {json.dumps(expression(chance))}, data: {one}}}}}",
        lambda: f"{{yaql: {{expression: {json.dumps(expression(chance))}, data: {two}}}}}",
        lambda: f"{{get_param: [p, {one}]}}",
        lambda: "{get_param: p}",
        lambda: "{get_param: q}",
        lambda: f"{{get_attr: [r0, {chance.choice(('value', 'output', one))}]}}",
        lambda: f"{{get_attr: [r0, value, {one}]}}",
        lambda: "{get_resource: r0}",
        lambda: f"{{list_join: [',', {rows}, {one}]}}",
        lambda: f"{{list_concat: [{one}, {two}, {rows}]}}",
        lambda: f"{{list_concat_unique: [{one}, {one}]}}",
        lambda: f"{{map_merge: [{one}, {{a: {two}}}]}}",
        lambda: f"{{map_replace: [{one}, {{keys: {two}, values: {two}}}]}}",
        lambda: f"{{repeat: {{template: x%i%%j%, for_each: {{'%i%': {rows}, '%j%': {rows}}}}}}}",
        lambda: f"{{repeat: {{template: {one}, for_each: {{'%i%': {rows}, '%j%': {two}}}}}}}",
        lambda: f"{{str_replace: {{template: {json.dumps('aa' * many)}, params: {{a: {one}}}}}}}",
        lambda: f"{{str_replace_strict: {{template: {one}, params: {{a: {two}}}}}}}",
        lambda: f"{{str_split: [{chance.choice(('a', 'l', one))}, {two}, {number(chance)}]}}",
        lambda: f"{{str_split: ['', {two}]}}",
        lambda: f"{{digest: [{chance.choice(('md5', 'shake_128', 'sha512'))}, {one}]}}",
        lambda: f"{{make_url: {{host: {one}, port: {number(chance)}, query: {two}}}}}",
        lambda: f"{{contains: [{one}, {two}]}}",
        lambda: f"{{filter: [{one}, {two}]}}",
        lambda: f"{{equals: [{one}, {two}]}}",
        lambda: f"{{if: [c, {one}, {two}]}}",
        lambda: f"{{get_file: {chance.choice(FILES)}}}",
        lambda: f"{{resource_facade: {chance.choice(('metadata', 'deletion_policy', one))}}}",
    )
    return chance.choice(forms)()


CALM = ("a", "text", "5", "[a, b]", "{a: 1}", "{get_param: p}", "{get_param: q}", "null", "true")


def value(chance: Chance, depth: int = 3) -> str:
    """Any value, in flow style."""
    if chance.random() < chance.calm:
        return chance.choice(CALM)
    kind = chance.random()
    if depth <= 0 or kind < 0.2:
        return chance.choice((number, text, text))(chance)
    if kind < 0.5:
        return call(chance, depth)
    if kind < 0.58:
        return aliases(chance)
    if kind < 0.66:
        return odd(chance)
    if kind < 0.68:
        return nested(chance)
    size = chance.choice((0, 1, 2, 3))
    if kind < 0.85:
        return "[" + ", ".join(value(chance, depth - 1) for _ in range(size)) + "]"
    keys = chance.sample(("a", "b", "type", "properties", "resources", "value", "1"), size)
    return "{" + ", ".join(f"{key}: {value(chance, depth - 1)}" for key in keys) + "}"


# -- documents --------------------------------------------------------------------------------

FILES = (
    "/proc/self/environ",
    "/dev/zero",
    "/dev/stdin",
    "../home/zonda.key",
    "file:///proc/self/mem",
    "link",
    "pipe",
    "plain.txt",
    "binary",
    "folder",
    "child.yaml",
    "nothing",
    "''",
    "'http://127.0.0.1:1/x'",
    "[a]",
)


def parameters(chance: Chance) -> str:
    """A section of parameters; p and q are always there."""
    lines = ["parameters:"]
    for name in ("p", "q", "r", "s")[: chance.randint(2, 4)]:
        kind = chance.choice(KINDS)
        plain = {"string": "t", "number": "1", "json": "{a: [1]}", "boolean": "true"}.get(
            kind, "'a,b'"
        )
        default = value(chance, 2) if chance.random() > max(0.6, chance.calm) else plain
        entry = [f"type: {kind}", f"default: {default}"]
        if chance.random() < 0.3 * (1 - chance.calm):
            rule, said = chance.choice(
                (
                    ("range", f"{{min: {number(chance)}, max: {number(chance)}}}"),
                    ("length", f"{{min: {number(chance)}, max: {number(chance)}}}"),
                    ("modulo", f"{{step: {number(chance)}, offset: {number(chance)}}}"),
                    ("allowed_values", value(chance, 1)),
                    ("allowed_pattern", chance.choice(("'(a|aa)+$'", text(chance)))),
                    (
                        "custom_constraint",
                        chance.choice(("cron_expression", "iso_8601", "net_cidr")),
                    ),
                )
            )
            entry.append(f"constraints: [{{{rule}: {said}}}]")
        if chance.random() < 0.2 * (1 - chance.calm):
            entry.append(f"{chance.choice(('hidden', 'immutable', 'tags'))}: {value(chance, 1)}")
        lines.append(f"  {name}: {{{', '.join(entry)}}}")
    return "\n".join(lines) + "\n"


def resource(chance: Chance, types: Sequence[str]) -> str:
    """One resource, in flow style."""
    type_ = chance.choice(types)
    known = chance.sample(PROPERTIES, chance.randint(0, 3))
    usual = {
        "OS::Heat::Value": "value",
        "OS::Heat::RandomString": "length",
        "OS::Heat::TestResource": "value",
        "OS::Heat::ResourceGroup": "count",
        "OS::Heat::Delay": "min_wait",
        "Zonda::ForEach": "for_each",
        "OS::Heat::Stack": "template",
    }.get(type_)
    given = {key: value(chance, 3) for key in known if chance.random() > max(0.8, chance.calm)}
    if usual:
        given[usual] = value(chance, 4)
        if usual in ("count", "length"):
            given[usual] = number(chance) if chance.random() > chance.calm else "2"
    if type_ == "OS::Heat::Value" and chance.random() < 0.9:
        given = {"value": value(chance, 4)}
    if type_ in ("OS::Heat::ResourceGroup", "OS::Heat::AutoScalingGroup", "Zonda::ForEach"):
        below = resource(chance, ("OS::Heat::Value", "child.yaml", "OS::Heat::RandomString"))
        for key in ("resource_def", "resource"):
            given[key] = below if chance.random() < 0.8 else value(chance, 2)
        if chance.random() < 0.7:
            given["count"] = chance.choice(("0", "1", "2", "3", "'2'", "2.0"))
        key = "resource_def" if type_ != "OS::Heat::AutoScalingGroup" else "resource"
        if chance.random() < chance.calm:
            sizes = {
                "OS::Heat::ResourceGroup": {"count": "2"},
                "Zonda::ForEach": {"for_each": "[a, b]"},
                "OS::Heat::AutoScalingGroup": {"min_size": "1", "max_size": "2"},
            }
            given = {key: given[key], **sizes[type_]}
    if type_ == "OS::Heat::ResourceChain":
        given["resources"] = chance.choice(
            ("[child.yaml]", "['OS::Heat::Value']", "[child.yaml, x]")
        )
    if type_ == "OS::Heat::Stack":
        given["template"] = "{get_file: child.yaml}"
    entry = [f"type: {json.dumps(type_)}"]
    if given:
        entry.append("properties: {" + ", ".join(f"{k}: {v}" for k, v in given.items()) + "}")
    for key in ("metadata", "update_policy", "depends_on", "deletion_policy", "condition", "foo"):
        if chance.random() < 0.06 * (1 - chance.calm):
            entry.append(f"{key}: {value(chance, 2)}")
    return "{" + ", ".join(entry) + "}"


def doubling(chance: Chance) -> str:
    """Resources of which each holds the one before several times."""
    function = chance.choice(
        (
            "{{list_join: ['', [{0}, {0}, {0}]]}}",
            "{{list_concat: [[{0}], [{0}], [{0}]]}}",
            "{{map_merge: [{{a: {0}}}, {{b: {0}}}, {{c: {0}}}]}}",
            "{{str_replace: {{template: xxxxx, params: {{x: {0}}}}}}}",
            "{{yaql: {{expression: '[$.data, $.data]', data: {0}}}}}",
            "{{yaql: {{expression: 'dict(a => $.data, b => $.data)', data: {0}}}}}",
            "{{yaql: {{expression: 'range(9).aggregate([$1, $1], $.data)', data: {0}}}}}",
            "{{repeat: {{template: {{a: '%i%', b: {0}}}, for_each: {{'%i%': [a, b, c]}}}}}}",
            "{{make_url: {{host: a, query: {{a: {0}, b: {0}}}}}}}",
            "[{0}, {0}, {0}]",
            "{{a: {0}, b: {0}}}",
        )
    )
    lines = [
        f"  v0: {{type: 'OS::Heat::Value', properties: {{value: {chance.choice(('x', '[x]'))}}}}}"
    ]
    for level in range(1, chance.choice((3, 8, 20, 40))):
        made = function.format(f"{{get_attr: [v{level - 1}, value]}}")
        lines.append(f"  v{level}: {{type: 'OS::Heat::Value', properties: {{value: {made}}}}}")
    return "\n".join(lines) + "\n"


def template(chance: Chance, types: Sequence[str]) -> str:
    """A whole template."""
    pieces = [VERSION, parameters(chance)]
    if chance.random() < 0.6:
        truth = value(chance, 2) if chance.random() > max(0.5, chance.calm) else "true"
        pieces.append(f"conditions: {{c: {truth}}}\n")
    pieces.append("resources:\n")
    if chance.random() < 0.2:
        pieces.append(doubling(chance))
    for index in range(chance.randint(1, 3)):
        pieces.append(f"  r{index}: {resource(chance, types)}\n")
    if chance.random() < 0.5:
        pieces.append(f"outputs: {{o: {{value: {value(chance, 3)}}}, p: {{value: 1}}}}\n")
    if chance.random() < 0.1 * (1 - chance.calm):
        pieces.append(
            f"{chance.choice(('parameter_groups', 'capabilities', 'foo'))}: {value(chance)}\n"
        )
    return "".join(pieces)


def child(chance: Chance) -> bytes:
    """What stands in a file that is used as a template."""
    kind = chance.randrange(12)
    if kind == 0:
        return chance.choice(
            (b"", b"just text", b"[1]", b"\xff\xfe\x00", b"{", b"null", b"--- \n---\n")
        )
    if kind == 1:
        return VERSION.encode() + chance.choice(
            (b"resources: [1]\n", b"parameters: 5\n", b"outputs: x\n")
        )
    if kind == 2:
        return b"zonda_type: 1\nname: X\n" + value(chance).encode("utf-8", "surrogatepass")
    if kind == 3:
        return (VERSION + "resources: {a: {type: child.yaml}}\n").encode()
    if kind < 6:
        return template(chance, ("OS::Heat::Value", "OS::Heat::RandomString")).encode(
            "utf-8", "surrogatepass"
        )
    return (
        VERSION
        + "parameters: {value: {type: json, default: {}}, length: {type: string, default: ''}}\n"
        "resources: {v: {type: 'OS::Heat::Value', properties: {value: {get_param: value}}}}\n"
        "outputs: {output: {value: {get_attr: [v, value]}}}\n"
    ).encode()


def environment(chance: Chance) -> str:
    """An environment, hostile somewhere."""
    sections = {
        "parameters": f"{{p: {value(chance, 2)}}}",
        "parameter_defaults": f"{{q: {value(chance, 2)}, nobody: {value(chance, 2)}}}",
        "resource_registry": chance.choice(
            (
                "{'OS::Heat::None': child.yaml}",
                "{'OS::Heat::None': nothing.yaml}",
                "{'Foo::*': 'OS::Heat::*', 'OS::Heat::None': [child.yaml, type.yaml]}",
                "{resources: {r0: {'OS::Heat::Value': child.yaml}}}",
                f"{{resources: {{r0: {value(chance, 2)}}}}}",
                f"{{a: {value(chance, 2)}}}",
                value(chance, 2),
            )
        ),
        "parameter_merge_strategies": value(chance, 1),
        "requires": value(chance, 2),
        "event_sinks": value(chance, 1),
        "encrypted_param_names": value(chance, 1),
        "zonda": chance.choice(
            (
                f"{{timeouts: {{'*': {number(chance)}}}}}",
                f"{{timeouts: {{r0: {{create: {text(chance)}}}}}}}",
                f"{{retries: {{r0: {{attempts: {number(chance)}, delay: {number(chance)}}}}}}}",
                f"{{retries: {{r0: {number(chance)}}}}}",
                f"{{drift: {{schedule: {text(chance)}}}}}",
                f"{{drift: {{schedule: {number(chance)}, ignore: {value(chance, 1)}}}}}",
                f"{{drift: {value(chance, 2)}}}",
                f"{{protect: {value(chance, 2)}}}",
                f"{{runners: {value(chance, 2)}}}",
                value(chance, 2),
            )
        ),
    }
    names = chance.sample(sorted(sections), chance.randint(1, 3))
    return "".join(f"{name}: {sections[name]}\n" for name in names)


def manifest(chance: Chance) -> str:
    """A type that workflows make, hostile somewhere."""
    return (
        "zonda_type: 1\nname: Test::Made\n"
        f"properties: {{a: {{type: {chance.choice(('string', 'integer', 'number', 'map'))}, "
        f"default: {value(chance, 2)}, constraints: [{{range: {{min: {number(chance)}}}}}]}}}}\n"
        f"actions: {{create: {{workflow: w, timeout: {number(chance)}}}, "
        f"check: {value(chance, 1)}}}\n"
        f"attributes: {value(chance, 1)}\n"
    )


def adopted(chance: Chance) -> str:
    """A document of a stack that exists."""

    def odd_value() -> str:
        found = chance.choice((text, text, number))(chance)
        plain = ("null", "1e999", "NaN", "[]", "{}", "9" * digits(chance), "[" * 900 + "]" * 900)
        return found if found.startswith('"') and "\\0" not in found else chance.choice(plain)

    data = f'{{"value": {odd_value()}, "random_string": {odd_value()}}}'
    entry = (
        f'{{"type": "OS::Heat::Value", "resource_id": {odd_value()}, "status": "COMPLETE", '
        f'"action": "CREATE", "name": "r0", "resource_data": {data}, "metadata": {odd_value()}}}'
    )
    document = '{"heat_template_version": "2018-08-31", "resources": {"r0": '
    document += f'{{"type": "OS::Heat::Value", "properties": {{"value": {odd_value()}}}}}}}}}'
    return (
        f'{{"name": "s", "template": {document}, "resources": {{"r0": {entry}}}, '
        f'"environment": {{"parameters": {{"x": {odd_value()}}}}}, "tags": {odd_value()}, '
        f'"masked": {odd_value()}, "files": {{}}}}'
    )


# -- commands ---------------------------------------------------------------------------------


def _files(chance: Chance, types: Sequence[str]) -> dict[str, bytes]:
    made: Mapping[str, str | bytes] = {
        "t.yaml": template(chance, types),
        "e.yaml": environment(chance),
        "type.yaml": manifest(chance),
        "child.yaml": child(chance),
        "plain.txt": "text",
        "binary": b"\xff\x00\x80" * 5,
        "folder/x.txt": "x",
        "f": "f",
    }
    return {
        name: said if isinstance(said, bytes) else said.encode("utf-8", "surrogatepass")
        for name, said in made.items()
    }


def _given(chance: Chance) -> list[str]:
    """Options that give an environment and parameters."""
    words = ["-t", "t.yaml"]
    if chance.random() < 0.5 * (1.1 - chance.calm):
        words += ["-e", "e.yaml"]
    if chance.random() < 0.2 * (1.2 - chance.calm):
        said = text(chance).strip('"') if chance.random() < 0.5 else number(chance)
        words += ["-P", f"p={said}"]
    return words


def make_input(seed: int, number: int) -> Input:
    """The input of a number."""
    chance = Chance(f"{seed}:{number}")
    chance.calm = chance.choice((0.2, 0.7, 0.85, 0.93, 0.97))
    kind = chance.choices(("life", "plan", "look", "adopt"), (45, 25, 20, 10))[0]
    types = ("OS::Heat::Value",) * 12 + QUICK + ("child.yaml", "Test::Made", "OS::Nothing::There")
    links = {"link": "/proc/self/environ", "folder/link": "../child.yaml"}
    if kind == "adopt":
        files = {"a.json": adopted(chance).encode("utf-8", "surrogatepass")}
        commands = [["stack", "adopt", "--adopt-file", "a.json", "s"], ["stack", "export", "s"]]
        return Input(kind, files, [*commands, ["stack", "delete", "-y", "s"]])
    if kind in ("plan", "look"):
        types = (*types, *SLOW)
    files = _files(chance, types)
    given = _given(chance)
    if kind == "plan":
        shown = chance.choice(
            (["stack", "plan", *given, "s"], ["stack", "create", "--dry-run", *given, "s"])
        )
        return Input(kind, files, [["template", "validate", *given], shown], links)
    if kind == "look":
        looks = (
            ["template", "graph", "t.yaml"],
            ["template", "parameters", *given],
            ["template", "validate", "child.yaml"],
            ["template", "validate", *given, "-f", "sarif"],
            ["capabilities", "summary", "."],
            ["capabilities", "find", "."],
            ["template", "explain-type", *given, "OS::Heat::None"],
            ["resource", "type", "show", "Test::Made"],
        )
        return Input(kind, files, [list(one) for one in chance.sample(looks, 4)], links)
    changed = files | {"t.yaml": _files(chance, types)["t.yaml"]}
    files["u.yaml"] = changed["t.yaml"]
    update = ["u.yaml" if word == "t.yaml" else word for word in given]
    commands = [["stack", "create", *given, "s"]]
    later = (
        ["stack", "output", "list", "s"],
        ["stack", "output", "show", "--all", "s"],
        ["stack", "show", "s"],
        ["stack", "resource", "list", "s", "-n", "5"],
        ["stack", "resource", "show", "s", "r0"],
        ["stack", "export", "s"],
        ["stack", "why", "s"],
        ["stack", "failures", "list", "s"],
        ["stack", "drift", "check", "s"],
        ["stack", "snapshot", "create", "s"],
        ["stack", "template", "show", "s"],
        ["stack", "environment", "show", "s"],
        ["stack", "check", "s"],
        ["stack", "diff", "s"],
        ["stack", "graph", "s"],
        ["stack", "retry", "s"],
        ["stack", "plan", *update, "s"],
        ["stack", "update", *update, "s"],
    )
    commands += [list(one) for one in chance.sample(later, 4)]
    return Input(kind, files, [*commands, ["stack", "delete", "-y", "s"]], links)
