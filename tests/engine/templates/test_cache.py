"""The cache of definitions: bounded, and never stale."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.engine.templates import cache
from zonda.core.engine.templates.cache import DefinitionCache
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

HEAD = "heat_template_version: 2018-08-31\n"
ROOT = HEAD + "resources:\n  c: {type: child.yaml}\n"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> DefinitionCache[str]:
    monkeypatch.setattr(cache, "WEIGHT", 100)
    return DefinitionCache()


def test_what_several_share_weighs_once(kept: DefinitionCache[str]) -> None:
    for number in range(5):
        kept.put(f"t{number}", "x", {1: 90, 10 + number: 2})
    assert all(kept.get(f"t{number}") for number in range(5))


def test_the_oldest_goes_with_what_builds_on_it(kept: DefinitionCache[str]) -> None:
    kept.put("a", "x", {1: 40})
    kept.put_nested("a-1", "y", "a")
    kept.put("b", "x", {2: 40})
    kept.put_nested("b-1", "y", "b")
    kept.put("c", "x", {3: 40})
    assert [key for key in ("a", "a-1", "b", "b-1", "c") if kept.get(key)] == ["b", "b-1", "c"]
    assert kept.find_base("a-1") == "a"


def test_what_is_nested_in_it_keeps_it(kept: DefinitionCache[str]) -> None:
    kept.put("a", "x", {1: 40})
    kept.put_nested("a-1", "y", "a")
    kept.put("b", "x", {2: 40})
    kept.get("a-1")
    kept.put("c", "x", {3: 40})
    assert [key for key in ("a", "a-1", "b", "c") if kept.get(key)] == ["a", "a-1", "c"]


def test_an_update_finds_both_versions_however_large(kept: DefinitionCache[str]) -> None:
    kept.put("a", "x", {1: 4000})
    kept.put("b", "x", {2: 4000})
    assert kept.get("a")
    assert kept.get("b")


def test_what_builds_on_what_is_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "KNOWN", 3)
    kept: DefinitionCache[str] = DefinitionCache()
    for number in range(5):
        kept.set_base(f"n{number}", "a")
    assert [kept.find_base(f"n{number}") for number in (0, 1, 4)] == [None, None, "a"]


def test_old_versions_of_a_large_tree_leave_memory(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(cache, "WEIGHT", 10)
    stack = InlineStack(tmp_path, name="s")
    definitions, families = stack.engine.services.definitions, []
    for number in range(4):
        files = {"child.yaml": HEAD + f"resources: {{r{number}: {{type: OS::Heat::None}}}}\n"}
        action = UpdateStack if number else CreateStack
        stack.engine.run(action("s", Bundle(ROOT, files=files)))
        now = definitions.reader.stack("s").template_id
        families.append(weakref.ref(definitions.get(now).family))
    gc.collect()
    stack.close()
    assert [each() is not None for each in families] == [False, False, True, True]
