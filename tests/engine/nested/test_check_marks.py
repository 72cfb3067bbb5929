"""Checked nested stacks are not checked again while nothing has changed.
is another one: marks of checks, kept with the template."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonda.core.app import resource_services
from zonda.core.engine.actions import CreateStack, MarkResource, UpdateStack
from zonda.core.engine.templates import checks
from zonda.core.plugins.manager import Plugins
from zonda.core.template.nested import validation_cache
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.resources.resource import Resource

HEAD = "heat_template_version: 2018-08-31\n"
LEAF = HEAD + (
    "parameters: {v: {type: string, default: a}, w: {type: string, default: b}}\n"
    "resources:\n  t: {type: OS::Heat::TestResource, properties: {value: {get_param: v}}}\n"
)
READS = HEAD + (
    "resources:\n  t: {type: OS::Heat::TestResource, properties: {value: {get_file: script}}}\n"
)
CHAIN = HEAD + (
    "parameters:\n"
    "  members: {type: comma_delimited_list}\n"
    "resources:\n"
    "  all: {type: OS::Heat::ResourceChain, properties: {resources: {get_param: members}}}\n"
)
ROOT = HEAD + (
    "parameters: {v: {type: string, default: a}}\n"
    "resources:\n"
    "  one: {type: both.yaml, properties: {v: {get_param: v}}}\n"
    "  rest: {type: OS::Heat::TestResource}\n"
)
FILES = {
    "both.yaml": HEAD + "parameters: {v: {type: string}}\n"
    "resources:\n"
    "  left: {type: leaf.yaml, properties: {v: {get_param: v}}}\n"
    "  right: {type: reads.yaml}\n"
    "  chain: {type: chain.yaml, properties: {members: 'My::A,My::B'}}\n",
    "leaf.yaml": LEAF,
    "reads.yaml": READS,
    "chain.yaml": CHAIN,
    "script": "echo",
    "a.yaml": LEAF,
    "b.yaml": HEAD + "parameters: {only_b: {type: string, default: c}}\nresources: {}\n",
}
TYPES = "  My::A: a.yaml\n  My::B: b.yaml\n"
ENVIRONMENT = "resource_registry:\n" + TYPES


def bundle(files: dict[str, str] = FILES, environment: str = ENVIRONMENT, v: str = "a") -> Bundle:
    return Bundle(ROOT, environment=environment, parameters={"v": v}, files=files)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path, name="s")
    made.engine.run(CreateStack("s", bundle()))
    yield made
    made.close()


@pytest.fixture
def opened(stack: InlineStack, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The owners whose nested stacks are looked at, from when the stack is made."""
    names: list[str] = []
    original = TemplateTree.load_partially

    def noted(self, spec, identity, unknown):
        names.append(".".join(spec.names))
        return original(self, spec, identity, unknown)

    monkeypatch.setattr(TemplateTree, "load_partially", noted)
    return names


def updated(stack: InlineStack, new: Bundle) -> str:
    return stack.engine.run(UpdateStack("s", new)).state


EVERYTHING = [
    "one",
    "one.left",
    "one.right",
    "one.chain",
    "one.chain.all",
    "one.chain.all.0",
    "one.chain.all.1",
]


def test_only_what_a_value_reaches_is_looked_at(stack, opened):
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    assert opened == ["one", "one.left"]


@pytest.mark.parametrize(
    ("file", "old", "new", "looked_at"),
    [
        pytest.param("script", "echo", "date", ["one", "one.right"], id="a file that it reads"),
        pytest.param(
            "a.yaml",
            "default: b",
            "default: d",
            ["one", "one.chain", "one.chain.all", "one.chain.all.0"],
            id="a type that is named in a text",
        ),
        pytest.param("leaf.yaml", "default: b", "default: d", ["one", "one.left"], id="its own"),
    ],
)
def test_what_a_file_reaches_is_looked_at(stack, opened, file, old, new, looked_at):
    files = {**FILES, file: FILES[file].replace(old, new)}
    assert updated(stack, bundle(files)) == "UPDATE_COMPLETE"
    assert opened == looked_at


def test_what_a_default_reaches_is_looked_at(stack, opened):
    environment = ENVIRONMENT + "parameter_defaults: {only_b: x}\n"
    assert updated(stack, bundle(environment=environment)) == "UPDATE_COMPLETE"
    assert opened == ["one", "one.chain", "one.chain.all", "one.chain.all.1"]


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param(ENVIRONMENT + "  My::Other: OS::Heat::None\n", id="registry"),
        pytest.param(ENVIRONMENT + "requires: {disk: fast}\n", id="requires"),
        pytest.param(ENVIRONMENT + "encrypted_param_names: [w]\n", id="secrets"),
    ],
)
def test_with_another_environment_all_that_is_to_be_visited_is_looked_at(
    stack, opened, environment
):
    assert updated(stack, bundle(environment=environment, v="z")) == "UPDATE_COMPLETE"
    assert opened == EVERYTHING


def test_with_other_plug_ins_all_that_is_to_be_visited_is_looked_at(stack, opened, monkeypatch):
    monkeypatch.setattr(
        validation_cache, "_list_plugin_versions", lambda plugins: ["another version"]
    )
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    assert opened == EVERYTHING


def test_with_another_zonda_all_that_is_to_be_visited_is_looked_at(stack, opened, monkeypatch):
    monkeypatch.setattr(validation_cache, "__version__", "another")
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    assert opened == EVERYTHING


def test_with_other_settings_all_that_is_to_be_visited_is_looked_at(stack, opened, monkeypatch):
    monkeypatch.setattr(resource_services.ResourceServices, "setup", "another runner")
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    assert opened == EVERYTHING


def test_where_something_is_to_be_mended_all_that_is_to_be_visited_is_looked_at(stack, opened):
    stack.engine.run(MarkResource("s", "rest"))
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    assert opened == EVERYTHING


def test_what_has_left_and_comes_back_was_well(stack, opened):
    assert updated(stack, bundle(v="z")) == "UPDATE_COMPLETE"
    opened.clear()
    assert updated(stack, bundle()) == "UPDATE_COMPLETE"
    assert opened == []


def test_what_was_refused_is_refused_again(stack):
    bad = {**FILES, "b.yaml": FILES["b.yaml"].replace("resources: {}", "resources: {x: {}}")}
    for _ in range(2):
        with pytest.raises(ValidationErrors, match="type key"):
            updated(stack, bundle(bad))


def test_marks_are_kept_as_keyed_hashes(stack, monkeypatch):
    made: list[str] = []
    original = TemplateTree.build_cache_key

    def noted(self, spec, unknown):
        made.append(original(self, spec, unknown))
        return made[-1]

    monkeypatch.setattr(TemplateTree, "build_cache_key", noted)
    updated(stack, bundle(v="z"))
    template_id = stack.engine.reader.stack_named("s", "default").template_id
    kept = stack.engine.reader.read_checked(template_id)
    assert len(set(kept)) == len(kept) >= len(EVERYTHING)
    assert made
    assert not set(made) & set(kept)


def test_the_newest_marks_are_kept(stack, opened, monkeypatch):
    monkeypatch.setattr(checks, "MOST", 3)
    before = stack.engine.reader.read_checked(
        stack.engine.reader.stack_named("s", "default").template_id
    )
    updated(stack, bundle(v="z"))
    kept = stack.engine.reader.read_checked(
        stack.engine.reader.stack_named("s", "default").template_id
    )
    assert len(before) == len(EVERYTHING)
    assert len(kept) == 3
    assert kept[0] not in before  # that of ``one``, with another value


def test_a_type_for_one_resource_is_found_wherever_the_file_is_used(stack):
    pair = HEAD + "resources:\n  a: {type: mid.yaml}\n  b: {type: mid.yaml}\n"
    files = {
        "mid.yaml": HEAD + "resources:\n  inner: {type: My::T}\n",
        "bad.yaml": HEAD + "resources: {x: {}}\n",
    }
    environment = (
        "resource_registry:\n  My::T: OS::Heat::None\n"
        "  resources: {b: {inner: {My::T: bad.yaml}}}\n"
    )
    with pytest.raises(ValidationErrors, match="bad"):
        stack.engine.run(CreateStack("p", Bundle(pair, environment=environment, files=files)))


@pytest.mark.parametrize(
    ("kind", "members"),
    [("comma_delimited_list", "'My::B,My::A'"), ("json", '\'["My::B", "My::A"]\'')],
)
def test_a_type_that_is_named_in_a_text_is_updated_with_its_file(stack, monkeypatch, kind, members):
    both = FILES["both.yaml"].replace("'My::A,My::B'", members)
    chain = CHAIN.replace("comma_delimited_list", kind)
    files = {**FILES, "both.yaml": both, "chain.yaml": chain}
    assert updated(stack, bundle(files)) == "UPDATE_COMPLETE"
    visited: list[str] = []
    original = TemplateTree.load

    def noted(self, spec, *rest):
        visited.append(".".join(spec.names))
        return original(self, spec, *rest)

    monkeypatch.setattr(TemplateTree, "load", noted)
    longer = FILES["a.yaml"] + "  more: {type: OS::Heat::TestResource}\n"
    assert updated(stack, bundle({**files, "a.yaml": longer})) == "UPDATE_COMPLETE"
    assert visited == ["one", "one.chain", "one.chain.all", "one.chain.all.1"]


def test_a_file_of_a_plug_in_that_was_edited_is_another_plug_in(tmp_path, monkeypatch):
    file = tmp_path / "brings.py"
    file.write_text("VERSION = 1\n")
    monkeypatch.setattr(sys.modules[__name__], "__file__", str(file))
    brought = Plugins(resource_types={"My::Type": Edited})
    first = list(validation_cache._list_plugin_versions(brought))
    file.write_text("VERSION = 10\n")
    assert list(validation_cache._list_plugin_versions(brought)) != first


class Edited(Resource):
    """Stands for a plug-in's class."""
