"""Plans that pages have shown: how many are kept, and whose go first."""

from __future__ import annotations

import itertools

import pytest
from tests.api.conftest import Api

from zonda.core.api.identity.callers import Caller
from zonda.core.api.service import kept_plans
from zonda.core.api.service.kept_plans import find_plan, keep_plan
from zonda.core.api.service.project import Project

MANY = 12
_numbers = itertools.count()


@pytest.fixture
def project(api: Api, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project at a server that keeps 8 plans, and has none yet."""
    monkeypatch.setattr(kept_plans, "MOST", 8)
    made = Project(api.dispatcher.service, Caller("ann", "ann", "p1"), f"p{next(_numbers)}")

    def forget_all(states: kept_plans.PageStates) -> None:
        for key, *_ in states.list("plan"):
            states.delete(key, "plan")

    made.keep(lambda tx: forget_all(tx.page_states))
    return made


def of(project: Project, name: str, user: str) -> Project:
    """The same server for another project and user."""
    return Project(project.service, Caller(user, user, name), name)


def fill(project: Project) -> list[str]:
    """The keys of many new plans."""
    return [keep_plan(project, {"number": number}) for number in range(MANY)]


def count(project: Project, keys: list[str]) -> int:
    """The number of plans that are kept; it is the newest ones."""
    known = [find_plan(project, key) is not None for key in keys]
    assert known == sorted(known)
    return sum(known)


def test_plans_of_one_project_push_out_none_of_another(project: Project) -> None:
    key = keep_plan(project, {"mine": 1})
    fill(of(project, "other", "bob"))
    assert find_plan(project, key) == {"mine": 1}


def test_plans_of_one_user_push_out_none_of_another(project: Project) -> None:
    key = keep_plan(project, {"mine": 1})
    fill(of(project, project.id, "bob"))
    assert find_plan(project, key) == {"mine": 1}


def test_the_newest_plans_are_kept_and_shared_fairly(project: Project) -> None:
    first = fill(project)
    assert count(project, first) == 8
    other = of(project, "other", "ann")
    second = fill(other)
    assert count(project, first) == count(other, second) == 4


def test_a_plan_of_another_project_is_not_there(project: Project) -> None:
    key = keep_plan(project, {})
    assert find_plan(of(project, "other", "ann"), key) is None


def test_a_plan_ends(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_plans, "LENGTH", 0)
    assert find_plan(project, keep_plan(project, {})) is None


def test_no_row_shows_what_a_plan_holds(project: Project) -> None:
    keep_plan(project, {"document": "hush"})
    rows = project.reader._ask("page_states", "plan")
    [key] = [each for each, *_ in rows]
    [(body,)] = project.reader._ask("page_state", key, "plan", project.id, 0.0)
    assert body.startswith("sealed:")
