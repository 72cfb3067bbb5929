"""Near misses: what was probably meant by a name."""

from __future__ import annotations

import pytest

from zonda.hooks.text.suggestions import MOST, closest, suggestion


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        pytest.param("wbe", ["web", "db"], "web", id="two-letters-changed-places"),
        pytest.param("db", ["DB", "dbs"], "DB", id="case"),
        pytest.param("depends-on", ["depends_on", "depends"], "depends_on", id="hyphen"),
        pytest.param("Merge Strategy", ["merge_strategy"], "merge_strategy", id="blank"),
        pytest.param("lenght", ["length", "weight", "light"], "length", id="the-most-alike"),
        pytest.param("zzz", ["web", "db"], "", id="nothing-alike"),
        pytest.param("web", ["web"], "", id="the-name-itself-is-no-help"),
        pytest.param("", ["web"], "", id="empty"),
        pytest.param(7, ["7"], "", id="no-text"),
        pytest.param("web", [7, None, "wbe"], "wbe", id="other-things-among-the-names"),
        pytest.param("x", [], "", id="no-names"),
    ],
)
def test_nearest(name: object, known: list[object], meant: str) -> None:
    assert closest(name, known) == meant
    assert suggestion(name, known) == (f"Did you mean {meant}?" if meant else "")


def test_among_very_many_names_one_with_the_same_beginning_is_found() -> None:
    many = [*(f"Acme::One::n{number}" for number in range(2 * MOST)), "OS::Heat::Value"]

    assert closest("OS::Heat::Vaule", many) == "OS::Heat::Value"
    assert closest("Acme::One::n7x", many) == "Acme::One::n7"
    assert closest("Other::x7", many) == ""


def test_among_very_many_names_one_with_the_same_end_is_found() -> None:
    many = [*(f"Acme::one.n{number}" for number in range(2 * MOST)), "Acme::zoo.user"]

    assert closest("OS::Haet::user", many) == "Acme::zoo.user"
    assert closest("Acme::user", many) == "Acme::zoo.user"
    assert closest("Acme::user", [*many, "Acme::a.user", "Acme::acme.own.user"]) == (
        "Acme::acme.own.user"
    )


def test_among_very_many_names_only_another_spelling_is_found() -> None:
    many = [f"name_{number}" for number in range(MOST + 1)]

    assert closest("NAME_7", many) == "name_7"
    assert closest("mane_7", many) == ""


def test_a_name_must_be_as_alike_as_wanted() -> None:
    assert closest("get_up", ["get_file"], 0.5) == "get_file"
    assert closest("get_up", ["get_file"], 0.9) == ""
