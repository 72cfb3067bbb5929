"""The policies of an environment for one resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from zonda.core.template.environment import policies, zonda_section
from zonda.core.template.environment.policies import NO_RETRY, Policies, Retry


def made(hooks: Any = None, **own: Any) -> Policies:
    return policies.build_policies(zonda_section.merge_sections({}, own), hooks or {})


_LIMITS = {
    "web": {"create": 1},
    "My::Web": {"create": 2, "update": 3},
    "My::*": {"create": 4, "delete": 5},
    "My::W*": 6,
    "*": 7,
}


@pytest.mark.parametrize(
    ("name", "kind", "action", "seconds"),
    [
        pytest.param("web", "My::Web", "create", 1, id="name"),
        pytest.param("web", "My::Web", "update", 3, id="then-type"),
        pytest.param("web", "My::Web", "delete", 6, id="then-the-longest-pattern"),
        pytest.param("db", "My::Db", "create", 4, id="pattern"),
        pytest.param("db", "My::Db", "update", 7, id="then-everything"),
        pytest.param("weber", "Other", "create", 7, id="no-part-of-a-name"),
    ],
)
def test_the_nearest_key_that_says_something_counts(
    name: str, kind: str, action: str, seconds: float
) -> None:
    assert made(timeouts=_LIMITS).timeout(name, kind, action) == seconds


@pytest.mark.parametrize(
    ("name", "kind", "workflow"),
    [
        pytest.param("web", "My::Web", "by-name", id="name"),
        pytest.param("db", "My::Web", "by-type", id="then-type"),
        pytest.param("db", "My::Db", "by-pattern", id="then-pattern"),
        pytest.param("db", "Other", None, id="none"),
    ],
)
def test_which_workflow_carries_a_resource_out(name: str, kind: str, workflow: str | None) -> None:
    known = made(runners={"web": "by-name", "My::Web": "by-type", "My::*": "by-pattern"})
    for kept in (
        known,
        policies.parse_policies(known.to_text()),
        known.continue_from(made()),
        known.to_removal_policies(),
    ):
        assert kept.workflow(name, kind) == workflow
    assert made().continue_from(known).workflow(name, kind) is None


def test_a_limit_for_every_action_is_none_for_a_breakpoint() -> None:
    known = made(timeouts={"web": {"pre-create": 5}, "*": 7})

    assert known.wait("web", "T", "pre-create") == 5
    assert known.wait("web", "T", "post-create") is None
    assert known.timeout("web", "T", "create") == 7


def test_without_a_word_there_is_neither_limit_nor_retry() -> None:
    assert made().timeout("web", "T", "create") is None
    assert made().retry("web", "T", "create") == NO_RETRY
    assert made(retries={"web": 3}).retry("web", "T", "create") == Retry(3, 1.0)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*c", "abc", True),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("ab*ba", "aba", False),
        ("a[b]*", "ab", False),
        ("*b*", "abc", True),
    ],
)
def test_only_the_star_is_special(pattern: str, text: str, fits: bool) -> None:
    assert made(protect=[pattern]).protects("-", text) is fits


@pytest.mark.parametrize(
    ("protect", "name", "kind", "protected"),
    [
        pytest.param(["db"], "db", "T", True, id="name"),
        pytest.param(["T"], "db", "T", True, id="type"),
        pytest.param({"*": True, "db": False}, "db", "T", False, id="but-this-one"),
        pytest.param({"*": True}, "db", "T", True, id="all"),
        pytest.param(["stack"], "stack", "T", False, id="the-stack-is-no-resource"),
        pytest.param(["stack"], "db", "T", False, id="nor-its-resources"),
    ],
)
def test_protection(protect: Any, name: str, kind: str, protected: bool) -> None:
    assert made(protect=protect).protects(name, kind) is protected


def test_what_was_protected_before_a_plan_is_so_during_it() -> None:
    first, second, third = made(protect=["db"]), made(), made()

    during = second.continue_from(first)

    assert during.protects("db", "T")
    assert third.continue_from(during).protects("db", "T"), "no plan has worked since"
    taken_back = made(protect={"db": False}).continue_from(first)
    assert not third.continue_from(taken_back).protects("db", "T")
    worked = during.continue_from(made())
    assert not third.continue_from(worked).protects("db", "T")


def test_hooks_by_name_and_pattern() -> None:
    known = made({"web": ("pre-create",), "w?b*": ("post-create", "pre-delete")})

    assert known.hooks("web") == {"pre-create", "post-create", "pre-delete"}
    assert known.hooks("db") == frozenset()


def test_policies_go_through_text_and_nothing_is_nothing() -> None:
    known = made({"web": ("pre-create",)}, timeouts=_LIMITS, retries={"a": 2}, protect=["a"])

    assert policies.parse_policies(known.to_text()) == known
    assert made().to_text() == ""
    assert policies.parse_policies("") == Policies()


def test_what_is_undone_keeps_its_limits_only() -> None:
    known = made({"web": ("pre-delete",)}, timeouts=_LIMITS, retries={"a": 2}, protect=["a"])

    undone = known.to_removal_policies()

    assert not undone.protects_any
    assert not undone.hooks("web")
    assert (undone.timeouts, undone.retries) == (known.timeouts, known.retries)


class Counting(dict[str, Any]):
    """Counts how often somebody goes through it."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_names_are_looked_up_and_not_searched_for() -> None:
    tables = [Counting({f"r{n}": said for n in range(9)}) for said in ({"*": 1.0}, {"*": [2, 1.0]})]
    protect = Counting({f"r{n}": True for n in range(9)})
    known = Policies(*tables, protect, breakpoints=(("r1", ("pre-create",)),))
    before = [table.times for table in (*tables, protect)]

    assert known.timeout("r1", "T", "create") == 1.0
    assert known.retry("r1", "T", "create").attempts == 2
    assert known.protects("r1", "T")
    assert known.hooks("r1") == {"pre-create"}

    assert [table.times for table in (*tables, protect)] == before
