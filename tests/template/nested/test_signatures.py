"""Signatures: which resources an update visits when a file, a default or a rule has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from zonda.core.template.load import StackDefinition

Tree = Callable[..., StackDefinition]

ROOT = """
resources:
  plain: {type: Thing}
  mid: {type: mid.yaml}
  other: {type: other.yaml}
  group: {type: Group, properties: {member: {type: leaf.yaml, properties: {x: 1}}}}
  fed: {type: fed.yaml, properties: {services: ["My::Service"], words: [no type]}}
  reads: {type: Group, properties: {member: {type: other.yaml, properties: {
    x: {get_attr: [plain, value]}}}}}
  blind: {type: Group, properties: {types: {get_attr: [plain, value]}}}
"""
FILES = {
    "mid.yaml": "resources: {a: {type: leaf.yaml}, s: {type: Thing, properties: "
    "{value: {get_file: script.yaml}}}}",
    "leaf.yaml": "parameters: {x: {type: number, default: 1}, d: {type: number, default: 1}}",
    "other.yaml": "parameters: {x: {type: number, default: 1}}",
    "fed.yaml": "parameters: {services: {type: comma_delimited_list}, words: {type: json, "
    "default: {}}}\nresources: {chain: {type: Group, properties: {types: {get_param: services}}}}",
    "service.yaml": "parameters: {n: {type: number, default: 1}}",
    "script.yaml": "echo",
}
REGISTRY = "resource_registry: {My::Service: service.yaml}"


def changed(tree: Tree, files: Mapping[str, str], environment: str, root: str = ROOT) -> set[str]:
    """The resources whose fingerprints are other ones with some files and an environment."""
    before = tree(ROOT, FILES, environment=REGISTRY)
    after = tree(root, {**FILES, **files}, environment=environment)
    return {
        name for name in before.resources if before.fingerprint(name) != after.fingerprint(name)
    }


@pytest.mark.parametrize(
    ("files", "environment", "expected"),
    [
        pytest.param({}, "", set(), id="nothing"),
        pytest.param({"unused.yaml": "more"}, "", {"blind"}, id="a file that nobody uses"),
        pytest.param(
            {"other.yaml": FILES["other.yaml"] + "\noutputs: {}"},
            "",
            {"other", "reads", "blind"},
            id="a file",
        ),
        pytest.param(
            {"leaf.yaml": FILES["leaf.yaml"] + "\noutputs: {}"},
            "",
            {"mid", "group", "blind"},
            id="a file further down",
        ),
        pytest.param({"script.yaml": "ls"}, "", {"mid", "blind"}, id="a file that is read"),
        pytest.param(
            {"service.yaml": "parameters: {}"},
            "",
            {"fed", "blind"},
            id="a template that a parameter names",
        ),
        pytest.param(
            {},
            "parameter_defaults: {d: 2}",
            {"mid", "group", "blind"},
            id="a default of a parameter further down",
        ),
        pytest.param({}, "parameter_defaults: {n: 2}", {"fed", "blind"}, id="of a service"),
        pytest.param({}, "parameter_defaults: {z: 2}", {"blind"}, id="of nothing"),
    ],
)
def test_exactly_what_a_change_reaches_has_another_fingerprint(
    tree: Tree, files: Mapping[str, str], environment: str, expected: set[str]
) -> None:
    assert changed(tree, files, f"{REGISTRY}\n{environment}") == expected


@pytest.mark.parametrize("word", ["get_file", '"get_file"', r'"get\x5ffile"', r'"get\u005Ffile"'])
def test_a_file_that_is_read_counts_however_the_call_is_written(tree: Tree, word: str) -> None:
    """The word is looked for before the template is."""

    def signed(script: str) -> str:
        mid = f"resources: {{s: {{type: Thing, properties: {{value: {{{word}: script.yaml}}}}}}}}"
        files = {**FILES, "mid.yaml": mid, "script.yaml": script}
        return tree(ROOT, files, environment=REGISTRY).fingerprint("mid")

    assert signed("echo") != signed("ls")


def test_another_rule_for_a_type_is_a_change(tree: Tree) -> None:
    assert changed(tree, {}, "resource_registry: {My::Service: leaf.yaml}") == {"fed", "blind"}


def test_a_value_that_names_types_is_followed(tree: Tree) -> None:
    root = ROOT.replace('["My::Service"]', '["My::Service", leaf.yaml]')
    assert changed(tree, {}, REGISTRY, root) == {"fed"}


def test_the_values_that_the_engine_has_are_followed(tree: Tree) -> None:
    def signed(files: Mapping[str, str]) -> list[str]:
        root = tree(ROOT, {**FILES, **files}, environment=REGISTRY)
        types: list[list[Any]] = [["leaf.yaml"], ["other.yaml"]]
        return [root.build_signature("blind", each, {"types": each}) for each in types]

    before, after = signed({}), signed({"leaf.yaml": FILES["leaf.yaml"] + "\noutputs: {}"})
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_class_that_a_release_has_moved_is_the_same_type(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def signed() -> str:
        root = tree(ROOT, FILES, environment=REGISTRY)
        return root.build_signature("group", ["Thing"], {"member": {"type": "Thing"}})

    before, cls = signed(), tree(ROOT, FILES, environment=REGISTRY).resources["plain"].cls
    monkeypatch.setattr(cls, "__module__", "elsewhere")
    assert signed() == before
