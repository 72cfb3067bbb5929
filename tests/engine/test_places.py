"""The tables of actions: every place in them is there, and every action stands in one of them."""

from typing import get_args

import pytest

from zonda.core.engine import acting, actions, places, plans

PLACES = sorted({*acting.STEPS.values(), *plans.NEW.values(), *plans.PLANS.values()})
ACTIONS = {kind.__name__ for kind in get_args(actions.Action)}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_of_the_tables_is_there(place: str) -> None:
    assert callable(places.at(place))


def test_every_action_stands_in_a_table_and_nothing_else_does() -> None:
    assert {*acting.STEPS, *plans.NEW, *plans.PLANS} == ACTIONS


def test_a_place_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        places.at("plans:nothing_like_it")
