"""Reading text: PyYAML's data, places, duplicates, and errors that say where."""

import gc
import json
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.template.source import document as source
from zonda.core.template.source import yaml_parser
from zonda.core.template.source.document import load_document, may_contain
from zonda.hooks.errors import Place, TemplateError

ROOM = Path(os.environ.get("ZONDA_CORPUS", Path(__file__).parents[4] / "shared" / "corpus"))
CORPUS = sorted(path for path in ROOM.rglob("*") if path.suffix in {".yaml", ".yml", ".template"})


class HeatLoader(yaml.SafeLoader):
    """What Heat makes of PyYAML's safe loader: timestamps stay text."""


HeatLoader.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node)
)


def shape(data):
    """The data with its types, so that 1, 1.0 and true differ, and the order of keys shows."""
    if isinstance(data, dict):
        return [(shape(key), shape(value)) for key, value in data.items()]
    if isinstance(data, list | tuple):
        return [type(data).__name__, *map(shape, data)]
    if isinstance(data, set):
        return "set", *sorted(map(repr, data))
    return type(data).__name__, repr(data)


@pytest.fixture(params=["libyaml", "pure"])
def parser(request, monkeypatch):
    if request.param == "libyaml" and not yaml.__with_libyaml__:
        pytest.skip("this Python has no libyaml")
    if request.param == "pure":
        monkeypatch.setattr(yaml, "__with_libyaml__", False)
    return request.param


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "a: yes\nb: off\nc: y\nd: True\ne: ~\nf:\ng: null\n",
        "a: 0o755\nb: 0755\nc: 0x1F\nd: 0b101\ne: 1:30\nf: 12:30:45\ng: 1_000\nh: +5\ni: 09\n",
        "a: 1e3\nb: 1.0e3\nc: 1.0e+3\nd: 5.\ne: .inf\nf: -.INF\ng: 1:30.5\n",
        "a: 2018-08-31\nb: 2018-03-02T00:00:00\nc: !!timestamp 2018-08-31\nd: 1.2.3\n",
        'a: !!int "5"\nb: !!float 5\nc: !!str 5\nd: !!null x\ne: !!bool "yes"\n',
        'f: ! "12"\ng: ! 12\n',
        "1: a\n1.5: b\ntrue: c\nnull: d\n=: e\n'<<': f\n'=': g\n",
        "a: &x [1, 2]\nb: *x\nc: &s text\nd: *s\n? *s\n: e\n",
        "a: &x {p: 1, q: 2}\nd: {<<: *x, r: 3}\n",
        "a: &x {p: 1}\nb: {<<: *x, p: 2}\nc: {p: 2, <<: *x}\nd: {<<: []}\n",
        "a: 1\nb: 2\na: 3\n",
        "a: |\n  x # y\n  z\nb: >-\n  x\n  y\nc: 'q'\nd: \"\\u00e4\\n\"\n",
        "- 1\n- [a, {b: c}]\n-\n",
        "---\na: 1\n...\n",
        "%YAML 1.1\n---\na: 1\n",
        "\ufeffa: 1\n",
        "a: b\r\nc: d\r\n",
        "plain",
        "!!map {a: !!seq [b]}",
        "a: !!binary aGVsbG8=\nb: !!binary |\n  aGVs\n  bG8=\nc: [!!binary '']\n",
        "a: !!omap [b: 1, c: [2]]\nd: !!pairs [b: 1, b: {x: 2}]\ne: !!omap []\n",
        "a: !!set {x, 1}\nb: !!set {}\nc: &s !!set {y}\nd: *s\n",
    ],
    ids=lambda text: text[:24],
)
def test_data_is_what_pyyaml_reads(text):
    assert shape(load_document(text, "t").data) == shape(yaml.load(text, Loader=HeatLoader))


@pytest.mark.usefixtures("parser")
def test_maps_that_are_merged_have_the_values_that_pyyaml_gives_them():
    """PyYAML 6.0.4 gives their keys another order, and has the first of two merges count.

    Heat 27 came before it, and so stays what templates mean.
    """
    text = "a: &x {p: 1, q: 2}\nb: &y {q: 3, r: 4}\nc: {r: 9, <<: [*x, *y]}\nd: {<<: *x, <<: *y}\n"
    data = load_document(text, "t").data
    assert data["c"] == yaml.load(text, Loader=HeatLoader)["c"] == {"p": 1, "q": 2, "r": 9}
    assert data["d"] == {"p": 1, "q": 3, "r": 4}


@pytest.mark.skipif(not CORPUS, reason="the corpus of templates is not here (set ZONDA_CORPUS)")
def test_the_corpus_is_read_as_pyyaml_reads_it():
    for path in CORPUS:
        text = path.read_text(encoding="utf-8")
        try:
            wanted = yaml.load(text, Loader=_fast_heat_loader())
        except yaml.YAMLError:
            with pytest.raises(TemplateError):
                load_document(text, path.name, max_bytes=10**8)
            continue
        data = load_document(text, path.name, max_bytes=10**8).data
        assert shape(data) == shape(wanted), path


def _fast_heat_loader():
    loader = type("Fast", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_constructor("tag:yaml.org,2002:timestamp", loader.construct_scalar)
    return loader


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4),
    max_leaves=20,
)


@given(trees, st.booleans())
def test_what_pyyaml_writes_is_read_back(tree, flow):
    text = yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False)
    assert shape(load_document(text, "t").data) == shape(yaml.load(text, Loader=HeatLoader))


@given(st.text("ab:-[]{}&*!<=|>'\"#\n 1~,?\t%@", max_size=30))
def test_any_text_is_read_as_pyyaml_does_or_refused(text):
    try:
        wanted = yaml.load(text, Loader=_fast_heat_loader())
        json.dumps(wanted, skipkeys=True)
    except (yaml.YAMLError, ValueError, KeyError, TypeError):
        with pytest.raises(TemplateError):
            load_document(text, "t")
        return
    assert shape(load_document(text, "t").data) == shape(wanted)


@given(trees.filter(lambda tree: isinstance(tree, dict | list)))
def test_json_is_read_as_json(tree):
    text = json.dumps(tree)
    assert shape(load_document(text, "t").data) == shape(json.loads(text))


def test_json_beats_yaml_where_they_differ():
    text = '{"a": 1e3, "b": "\\ud83d\\ude00"}'
    assert load_document(text, "t").data == {"a": 1000.0, "b": "\U0001f600"}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("a: 1\nb: [x, y\n", 3, 1, "flow sequence"),
        ("a:\n\tb: 1\n", 2, 1, "cannot start any token"),
        ("a: {b: *nowhere}\n", 1, 8, "undefined alias"),
        ("a: &x [*x]\n", 1, 8, "stands inside what it refers to"),
        ("a: &x 1\nb: &x 2\n", 2, 4, "duplicate anchor"),
        ("a: =\n", 1, 4, "tag:yaml.org,2002:value"),
        ("a: [<<]\n", 1, 5, "tag:yaml.org,2002:merge"),
        ("<<: 5\n", None, None, "for merging"),
        ("? [a]\n: b\n", 1, 3, "unhashable key"),
        ("a: &x [1]\n? *x\n: b\n", 2, 3, "unhashable key"),
        ("a: 1\n---\nb: 2\n", 2, 1, "single document"),
        ("a: !!python/name:os.system x\n", 1, 4, "python/name:os.system"),
        ("a: !Ref x\n", 1, 4, "!Ref"),
        ("a: !!binary a\n", 1, 4, "cannot be read as !!binary"),
        ("a: !!binary ä\n", 1, 4, "cannot be read as !!binary"),
        ("? !!binary aGk=\n: b\n", 1, 3, "a key cannot be !!binary"),
        ("a: !!omap [{b: 1, c: 2}]\n", None, None, "a map with one key"),
        ("a: !!pairs [b]\n", None, None, "a map with one key"),
        ("a: !!omap {b: 1}\n", 1, 4, "omap"),
        ("a: !!set [b]\n", 1, 4, "set"),
        ("a: &x !!set {b}\n? *x\n: c\n", 2, 3, "unhashable key"),
        ("a: !!int abc\n", 1, 4, "!!int"),
        ("a: !!int\n", 1, 4, "!!int"),
        ("a: !!bool maybe\n", 1, 4, "!!bool"),
        ("a: \x00\n", 1, 1, "#x0000"),
        ("a: \ud800\n", 1, 1, ""),
        ("a: b: c\n", 1, 5, "mapping values are not allowed"),
        ("a: " + "[" * 300 + "]" * 300, 1, 203, "nested deeper than 200 levels"),
        ("a: " + "[" * 900, 1, 203, "nested deeper than 200 levels"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_unreadable_text_is_refused_with_its_place(text, line, column, part):
    with pytest.raises(TemplateError) as caught:
        load_document(text, "web.yaml")
    error = caught.value
    assert part in str(error)
    assert str(error).startswith("Error parsing template web.yaml: ")
    assert error.heat_type == "ValueError"
    assert error.code == ("ZON119" if "nested deeper" in part else source.UNREADABLE)
    assert error.place is not None
    if line is not None:
        assert error.place == Place("web.yaml", line, column)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("a:\n\tb: 1\n", "spaces", id="tab"),
        pytest.param("a: b: c\n", "quote", id="colon"),
        pytest.param("a:\n  b:c\n  d: e\n", "blank behind the colon", id="no-blank"),
        pytest.param("a: [b\n", "Close the bracket", id="bracket"),
        pytest.param("a: {b: c: d}\n", "quote text that contains", id="colon-in-braces"),
        pytest.param("a:\n   b: c\n  d: e\n", "indentation", id="indentation"),
        pytest.param("a:\n  - b\n  c: d\n", "indentation", id="item-and-key"),
        pytest.param("a: 'it's'\n", "quotation marks", id="apostrophe"),
        pytest.param("a: b\nc\n", "a colon", id="no-colon"),
        pytest.param("a: |\ntext\n", "indent lines of a text", id="block-of-text"),
        pytest.param('a: "b\nc: d\n', "Close the quotation mark", id="quotation-mark"),
        pytest.param('a: "C:\\path"\n', "single quotes", id="backslash"),
        pytest.param("a: *.example.com\n", "begins with *", id="star"),
        pytest.param("a: *x\n", "begins with *", id="alias"),
        pytest.param("a: {{ x }}\n", "begins with {", id="braces"),
    ],
)
def test_common_mistakes_have_a_hint(text, hint):
    with pytest.raises(TemplateError) as caught:
        load_document(text, "t")
    assert hint in caught.value.hint


@pytest.mark.usefixtures("parser")
def test_a_quotation_mark_that_is_not_closed_is_the_place():
    with pytest.raises(TemplateError) as caught:
        load_document('a: 1\nb: "c\nd: e\n', "t")
    assert caught.value.place == Place("t", 2, 4)


def test_an_environment_is_called_so():
    with pytest.raises(TemplateError, match=r"^Error parsing environment env\.yaml: "):
        load_document("[", "env.yaml", what="environment")


@pytest.mark.parametrize("text", ["a: ä" + "x" * 6, "{" + " " * 10 + "}"], ids=["yaml", "json"])
def test_size_is_limited_in_bytes(text):
    size = len(text.encode())
    assert load_document(text, "t", max_bytes=size)
    with pytest.raises(TemplateError, match="exceeds maximum allowed size") as caught:
        load_document(text, "t", max_bytes=size - 1)
    assert caught.value.heat_type == "RequestLimitExceeded"


TEMPLATE = """\
heat_template_version: 2018-08-31
anchors:
  base: &base {type: T, properties: {p: 1}}
resources:
  web:
    type: A
    properties:
      list: [a, {b: c}]
      5: five
  db:
    <<: *base
    depends_on: web
"""


@pytest.mark.parametrize(
    ("path", "key", "line", "column"),
    [
        ((), False, 1, 1),
        (("resources",), True, 4, 1),
        (("resources",), False, 5, 3),
        (("resources", "web"), True, 5, 3),
        (("resources", "web", "properties", "list", 0), False, 8, 14),
        (("resources", "web", "properties", "list", 1, "b"), False, 8, 21),
        (("resources", "web", "properties", "list", 1, "b"), True, 8, 18),
        (("resources", "web", "properties", 5), False, 9, 10),
        (("resources", "db", "properties", "p"), False, 3, 41),
        (("resources", "db", "depends_on"), False, 12, 17),
        (("resources", "web", "nowhere", "x"), False, 6, 5),
        (("resources", "web", "properties", "list", 7), False, 8, 13),
        (("resources", "web", "type", "deeper"), False, 6, 11),
    ],
)
def test_every_value_has_its_place(path, key, line, column):
    document = load_document(TEMPLATE, "t.yaml")
    assert document.place(path, key=key) == Place("t.yaml", line, column)


def test_json_has_places():
    document = load_document('{"a": {\n  "b": [1, 2]}}', "t.json")
    assert document.place(("a", "b", 1)) == Place("t.json", 2, 12)


def test_a_repeated_key_has_both_places():
    document = load_document("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 4\n", "t")
    assert document.data == {"a": 4, "b": {"c": 3, "d": 2}}
    assert document.duplicates == [
        (("b", "c"), Place("t", 3, 3), Place("t", 5, 3)),
        (("a",), Place("t", 1, 1), Place("t", 6, 1)),
    ]
    assert document.place(("a",)) == Place("t", 6, 4)


def test_a_repeated_key_in_json_has_both_places():
    document = load_document('{"a": 1, "a": 2}', "t")
    assert document.data == {"a": 2}
    assert document.duplicates == [(("a",), Place("t", 1, 2), Place("t", 1, 10))]


def test_overriding_what_is_merged_in_is_no_repetition():
    document = load_document("a: &x {p: 1}\nb: {<<: *x, p: 2}\n", "t")
    assert document.duplicates == []


def test_an_aliased_repetition_is_told_once():
    document = load_document("a: &x {p: 1, p: 2}\nb: *x\nc: *x\n", "t")
    assert [path for path, _, _ in document.duplicates] == [("a", "p")]


def test_aliases_share_one_object():
    data = load_document("a: &x [1]\nb: *x\n", "t").data
    assert data["a"] is data["b"]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        pytest.param("a: get_file", True, id="plain"),
        pytest.param(r'a: "get\x5ffile"', True, id="x"),
        pytest.param(r'a: "\u0067et_file"', True, id="u"),
        pytest.param(r'a: "\U00000067et_file"', True, id="U"),
        pytest.param('a: "get_\\\nfile"', True, id="end-of-line"),
        pytest.param('a: "get_\\\r\nfile"', True, id="end-of-line-with-return"),
        pytest.param('a: "get_\\\u2028file"', True, id="another-end-of-line"),
        pytest.param(r'{"a": "\u0067et_file"}', True, id="json"),
        pytest.param("a: get_ file", False, id="nothing"),
        pytest.param(r'a: "get\tfile\\ \"get\_file"', False, id="other-escapes"),
    ],
)
def test_a_text_may_say_a_word_if_it_stands_there_or_is_hidden_by_an_escape(text, may):
    assert may_contain(text, "get_file") is may
    assert may or "get_file" not in load_document(text, "t").data["a"]


@given(
    st.text("get_fil \n\\\"'#:x", max_size=8).map(lambda around: f"{around}get_file{around}"),
    st.sampled_from(["'", '"', "|", ">", None]),
    st.integers(1, 12),
    st.booleans(),
)
def test_no_word_of_a_value_is_missed(value, style, width, as_json):
    text = yaml.safe_dump({"a": value}, default_style=style, width=width)
    text = json.dumps({"a": value}) if as_json else text
    assert "get_file" in load_document(text, "t").data["a"]
    assert may_contain(text, "get_file")


def test_a_billion_laughs_is_refused_at_the_alias_that_is_too_much():
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 60)]
    with pytest.raises(TemplateError, match="written out, the aliases up to here") as caught:
        load_document("\n".join(lines), "t")
    assert caught.value.code == "ZON119"
    assert str(caught.value.place) == "t:6:20"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        pytest.param("a: &x text\nb: [*x, *x]\n", 8, id="text"),
        pytest.param("a: &x [1, 2]\nb: [*x, *x]\n", 18, id="list"),
        pytest.param("a: &x [1, 2]\nb: &y [*x, *x]\nc: *y\n", 18 + 11 + 18, id="inside-an-alias"),
        pytest.param("a: &x {b: 1}\nc: {<<: [*x, *x]}\n", 18, id="merged"),
    ],
)
def test_aliases_count_for_what_they_stand_for(text, length):
    yaml_parser.Builder(length).build(text)
    with pytest.raises(yaml.YAMLError, match="written out, the aliases"):
        yaml_parser.Builder(length - 1).build(text)


def test_aliases_cannot_nest_deeper_than_the_limit():
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 300))]
    with pytest.raises(TemplateError, match="nested deeper than 200 levels"):
        load_document("\n".join(lines), "t")


def test_deep_json_is_refused():
    for depth in (yaml_parser.MAX_DEPTH + 1, 900, 100_000):
        with pytest.raises(TemplateError, match="nested deeper than 200 levels"):
            load_document("[" * depth + "]" * depth, "t")


def test_the_collector_is_left_as_it_was():
    assert gc.isenabled()
    load_document("a: 1", "t")
    assert gc.isenabled()
    gc.disable()
    try:
        load_document("a: 1", "t")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param("9" * 4301, id="decimal"),
        pytest.param("0x" + "f" * 4000, id="hexadecimal"),
        pytest.param("1" + ":59" * 3000, id="base-60"),
        pytest.param("1" + ":59" * 1000 + ".5", id="base-60-with-a-fraction"),
        pytest.param("0b" + "1" * 20_000, id="binary"),
        pytest.param("1." + "5" * 5000, id="fraction"),
        pytest.param("1" + "_000" * 90_000, id="with-underscores"),
    ],
)
def test_a_number_of_thousands_of_digits_is_an_error_with_its_place(number):
    with pytest.raises(TemplateError, match=r"number of more than|cannot be read as") as caught:
        load_document(f"a: b\nc: {number}\n", "t")
    assert str(caught.value.place) == "t:2:4"
    assert len(str(caught.value)) < 300
