"""Plans that pages have shown: how many are kept, and whose go first."""

from __future__ import annotations

from zonda.core.api.service.plan_shelf import PlanShelf

MANY = 300


def fill(shelf: PlanShelf, project: str, user: str) -> list[str]:
    """The keys of many new plans."""
    keys = [f"{project}-{user}-{number}" for number in range(MANY)]
    for key in keys:
        shelf.put(key, project, user, key)
    return keys


def count(shelf: PlanShelf, keys: list[str], project: str) -> int:
    """The number of plans that are kept; it is the newest ones."""
    known = [shelf.find(key, project) is not None for key in keys]
    assert known == sorted(known)
    return sum(known)


def test_plans_of_one_project_push_out_none_of_another() -> None:
    shelf = PlanShelf()
    shelf.put("mine", "p1", "ann", "plan")
    fill(shelf, "p2", "bob")
    assert shelf.find("mine", "p1") == "plan"


def test_plans_of_one_user_push_out_none_of_another() -> None:
    shelf = PlanShelf()
    shelf.put("mine", "p1", "ann", "plan")
    fill(shelf, "p1", "bob")
    assert shelf.find("mine", "p1") == "plan"


def test_the_newest_plans_are_kept_and_shared_fairly() -> None:
    shelf = PlanShelf()
    first = fill(shelf, "p1", "ann")
    assert count(shelf, first, "p1") == 128
    second = fill(shelf, "p2", "ann")
    assert count(shelf, first, "p1") == count(shelf, second, "p2") == 64


def test_a_plan_of_another_project_is_not_there() -> None:
    shelf = PlanShelf()
    shelf.put("mine", "p1", "ann", "plan")
    assert shelf.find("mine", "p2") is None
