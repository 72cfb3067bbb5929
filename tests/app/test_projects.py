"""Projects in one home: names and ids are looked up in the caller's project.

Two applications on one home behave like two processes (see test_app.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import App, build_app
from zonda.core.app.surface import RunningAction
from zonda.core.engine import actions
from zonda.core.engine.actions.table import ACTIONS
from zonda.core.engine.drift import repair
from zonda.core.engine.services import EngineSettings
from zonda.core.settings import settings
from zonda.core.store.read.views import StackView
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import Conflict, NotFound, UsageError

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::TestResource, properties: {value: x}}
  below:
    type: OS::Heat::Stack
    properties:
      template: |
        heat_template_version: 2018-08-31
        resources: {b: {type: OS::Heat::TestResource}}
        outputs: {where: {value: {get_param: "OS::project_id"}}}
outputs:
  here: {value: {get_param: "OS::project_id"}}
  below: {value: {get_attr: [below, outputs, where]}}
"""
BUNDLE = Bundle(TEMPLATE)
PATIENCE = 30.0

Make = Callable[..., App]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[App] = []

    def build(project: str, user: str = "") -> App:
        flags = {"home": str(tmp_path / "home"), "project": project, "user": user or project}
        made.append(build_app(settings.load_settings(flags, {})))
        return made[-1]

    yield build
    for app in made:
        app.close()


@pytest.fixture(params=["own engine", "engine of another project", "command of another project"])
def place(request: pytest.FixtureRequest, make: Make) -> App:
    """An application of project ``mine``: what it asks for is done here, or by another one."""
    if request.param == "engine of another project":
        make("other").engine.run()
    elif request.param == "command of another project":
        busy = make("other")
        ended(busy.engine.act(actions.CreateStack("busy", BUNDLE)))
    return make("mine", "ann")


def done(make: Make, *wanted: Any) -> list[StackView]:
    """What a command of project ``other`` does, which has ended then."""
    app = make("other")
    stacks = [ended(app.engine.act(each)) for each in wanted]
    app.close()
    return stacks


def ended(running: RunningAction) -> StackView:
    """The stack once it is idle."""
    while not (seen := running.client.look(running.stack_id, PATIENCE)).idle:
        pass
    return seen


def one_of_each(stack: str) -> dict[str, Any]:
    """An action of every kind that there is, for ``stack``."""
    of_stacks = {
        "UpdateStack": {"bundle": BUNDLE},
        "AbandonStack": {"digest": ""},
        "ImportResource": {"resource": "a", "physical_id": "1"},
        "SignalResource": {"resource": "a"},
        "ClearHooks": {"resources": ("a",)},
        "ProtectStack": {},
        "MarkResource": {"resource": "a"},
        "MoveResource": {"resource": "a", "to": "b"},
        "DeleteSnapshot": {"snapshot": "first"},
        "RestoreSnapshot": {"snapshot": "first"},
        "IgnoreDrift": {"resource": "a"},
        "UnignoreDrift": {"ignore": "1"},
        "SetDrift": {"schedule": "15m"},
    }
    new = {"CreateStack", "AdoptStack", "ApplyPlan"}
    names = set(ACTIONS) - new
    return {name: getattr(actions, name)(stack, **of_stacks.get(name, {})) for name in names}


def test_a_stack_is_made_in_the_project_of_who_asks(place: App, make: Make) -> None:
    stack = ended(place.engine.act(actions.CreateStack("web", BUNDLE)))

    assert (stack.state, stack.project) == ("CREATE_COMPLETE", "mine")
    outputs = {each.name: each.value for each in place.stacks.make_values().outputs(stack.id)}
    assert outputs == {"here": "mine", "below": "mine"}
    assert [each.by for each in place.reader.actions(stack.id)] == ["ann"]
    nested = place.reader.stacks("mine", nested=True)
    assert [each.project for each in nested] == ["mine", "mine"]
    assert "web" not in {each.name for each in place.reader.stacks("other")}
    with pytest.raises(NotFound):
        make("other").stacks.find("web")


def test_two_projects_have_a_stack_of_one_name_each(place: App, make: Make) -> None:
    done(make, actions.CreateStack("web", BUNDLE))
    ended(place.engine.act(actions.CreateStack("web", BUNDLE)))

    ended(place.engine.act(actions.DeleteStack("web")))

    assert make("other").stacks.find("web").state == "CREATE_COMPLETE"
    with pytest.raises(NotFound):
        place.stacks.find("web")


@pytest.mark.parametrize("how", ["name", "id"])
def test_no_action_reaches_into_another_project(place: App, make: Make, how: str) -> None:
    create, snapshot = actions.CreateStack("web", BUNDLE), actions.SnapshotStack("web", "first")
    stack, _ = done(make, create, snapshot)
    before = place.reader.last_event()

    for name, action in one_of_each(getattr(stack, how)).items():
        with pytest.raises(NotFound, match="could not be found"):
            raise AssertionError(f"{name} was accepted: {place.engine.act(action)}")

    assert place.reader.last_event() == before
    assert make("other").stacks.find("web").state == "SNAPSHOT_COMPLETE"


def test_the_nested_stack_of_another_project_has_no_name(place: App, make: Make) -> None:
    done(make, actions.CreateStack("web", BUNDLE))

    with pytest.raises(NotFound):
        place.stacks.find("web/below")
    with pytest.raises(NotFound):
        place.engine.act(actions.SignalResource("web/below", "b", {}))


def test_a_plan_is_carried_out_in_the_project_that_it_was_made_in(place: App, make: Make) -> None:
    other = make("other")
    plan = other.stacks.plan(actions.CreateStack("web", BUNDLE), keep=True).file
    assert plan is not None

    with pytest.raises(UsageError, match="made in the project other; this is mine"):
        place.engine.act(actions.ApplyPlan(plan))

    assert place.reader.stacks("mine") == []
    place.close()
    assert ended(other.engine.act(actions.ApplyPlan(plan))).project == "other"


def test_what_another_project_owns_is_not_named(place: App, make: Make) -> None:
    bundle = Bundle(
        "heat_template_version: 2018-08-31\n"
        "resources: {a: {type: OS::Mistral::ExternalResource, properties: {actions: {}}}}\n"
    )
    entries = {"a": {"resource_id": "thing"}}
    done(make, actions.AdoptStack("secret-name", bundle, entries))

    with pytest.raises(Conflict) as caught:
        place.engine.act(actions.AdoptStack("web", bundle, entries))

    assert "a resource of another project" in str(caught.value)
    assert "secret-name" not in str(caught.value) + caught.value.hint


def test_a_repair_by_schedule_is_of_the_stack_whoever_fires_it(make: Make) -> None:
    """Nobody asks for it, so that it has no project but that of its stack."""
    mine = make("mine")
    stack = ended(mine.engine.act(actions.CreateStack("web", BUNDLE)))
    services = dataclasses.replace(
        mine.engine._engine.services, settings=EngineSettings(project="other", user="")
    )

    proposal, found = repair._propose(services, stack.id, {})

    assert proposal is None
    assert found.project == "mine"
