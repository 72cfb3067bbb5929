"""The table of actions: every function in it is there, and every action stands in it."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest

from zonda.core.engine import actions
from zonda.core.engine.actions import base, table

#: The arguments of a function, by the shape of its action.
ARGUMENTS = {
    table.PLAN: ["services", "stack", "action"],
    table.EDIT: ["services", "stack", "action"],
    table.FLOW: ["services", "action", "note"],
}


@pytest.mark.parametrize("name", sorted(table.ACTIONS))
def test_the_function_of_an_action_has_the_arguments_of_its_shape(name: str) -> None:
    entry = table.ACTIONS[name]
    function = table.load_function(entry.function)

    assert list(inspect.signature(function).parameters) == ARGUMENTS[entry.shape]
    assert inspect.isgeneratorfunction(function) == (entry.shape == table.FLOW)


def test_every_action_stands_in_the_table_and_nothing_else_does() -> None:
    modules = [
        import_module(f"{actions.__name__}.{each.name}") for each in iter_modules(actions.__path__)
    ]
    known = {
        name
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind)
        and issubclass(kind, base.Action)
        and kind.__module__ == module.__name__
    }
    assert set(table.ACTIONS) == known - {"Action", "Templated"}


def test_a_place_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        table.load_function("plan.propose:nothing_like_it")


@pytest.mark.parametrize("name", sorted(table.ACTIONS))
def test_an_action_can_be_named_and_is_imported_then(name: str) -> None:
    found = getattr(actions, name)

    assert issubclass(found, base.Action)
    assert found is table.find_action_class(name)


def test_what_is_no_action_is_not_there() -> None:
    with pytest.raises(AttributeError, match="NothingLikeIt"):
        actions.NothingLikeIt  # noqa: B018
