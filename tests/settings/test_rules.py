"""Rules of the policy: what they mean, and what is wrong with those that mean nothing."""

from __future__ import annotations

import pytest

from zonda.core.settings.rules import Facts, parse_rule

FACTS = Facts({"member"}, ("p1", "one"), lambda: True)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("role:member", True),
        ("role:admin", False),
        ("role:admin or owner", True),
        ("role:admin and owner", False),
        ("not role:admin", True),
        ("not not role:admin", False),
        ("role:member or role:x and role:y", True),
        ("(role:member or role:x) and role:y", False),
        ("not (role:admin or role:member)", False),
        ("not role:admin and owner", True),
        ("project:one", True),
        ("project:p1", True),
        ("project:two", False),
        ("always", True),
        ("never", False),
        ("((owner))", True),
        ("role:a:b", False),
    ],
)
def test_a_rule_means_what_it_says(text: str, holds: bool) -> None:
    assert parse_rule(text)(FACTS) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "ends where a check must stand"),
        ("role:admin or", "ends where a check must stand"),
        ("role:admin owner", "'and' or 'or' is missing before 'owner'"),
        ("(owner", r"a \) is missing"),
        ("owner)", "is missing before"),
        ("or owner", "'or' is no check"),
        ("role:", "'role:' is no check"),
        ("user:ann", "'user:ann' is no check"),
        ("everybody", "these are role:NAME, project:NAME, owner, always, never"),
        ("not " * 400 + "owner", "at most 1000 characters"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_rule(text)
