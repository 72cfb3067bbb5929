"""The tables of actions: every entry exists, and every action has one."""

import pytest

from zonda.core.engine import actions
from zonda.core.engine.actions import base, places, wire
from zonda.core.engine.handlers import registry
from zonda.core.engine.plan import registry as plans

PLACES = sorted({*registry.STEPS.values(), *plans.NEW.values(), *plans.PLANS.values()})
ACTIONS = {name for names in wire.PLACES.values() for name in names}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_of_the_tables_is_there(place: str) -> None:
    assert callable(places.load_function(place))


def test_every_action_stands_in_a_table_and_nothing_else_does() -> None:
    assert {*registry.STEPS, *plans.NEW, *plans.PLANS} == ACTIONS


def test_a_place_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        places.load_function("plan.registry:nothing_like_it")


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_action_can_be_named_and_is_imported_then(name: str) -> None:
    found = getattr(actions, name)

    assert issubclass(found, base.Action)
    assert found is wire.find_action_class(name)
    assert name in actions.__all__


def test_what_is_no_action_is_not_there() -> None:
    with pytest.raises(AttributeError, match="NothingLikeIt"):
        actions.NothingLikeIt  # noqa: B018
