"""Plug-ins in the idioms of 2013 to 2026, each in a file of ``idioms``, in whole stacks."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from zonda.core.app.app import build_app
from zonda.core.engine.actions import SignalResource
from zonda.core.plugins.manager import Plugins
from zonda.core.settings.settings import load_settings
from zonda.hooks import ValidationErrors

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

IDIOMS = Path(__file__).parent / "idioms"
HOT = "heat_template_version: 2021-04-16\n"


def template(text: str) -> str:
    return HOT + text


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Plugins:
    home = tmp_path_factory.mktemp("home")
    return build_app(load_settings({"home": str(home), "plugin_dirs": str(IDIOMS)}, {})).plugins


def module(name: str) -> ModuleType:
    [found] = [
        each
        for key, each in sys.modules.items()
        if key.startswith("zonda_dropins_") and key.endswith(f".{name}")
    ]
    return found


def faults(stack: Any, text: str) -> list[str]:
    with pytest.raises(ValidationErrors) as caught:
        stack.create(template(text))
    return [str(error) for error in caught.value.errors]


# -- what is loaded ---------------------------------------------------------------------------


def test_every_type_but_the_hopeless_ones_is_there(plugins: Plugins) -> None:
    own = {name for name in plugins.resource_types if name.startswith(("Era", "Nested", "Miss"))}
    assert own == {
        *("Era2013::Lamp", "Era2013::Light", "Era2013::Switch", "Era2013::Torch"),
        *("Era2014::Boat", "Era2014::Raft", "Era2016::Book", "Era2016::Reader"),
        *("Era2024::Garden", "Era2024::Fence", "Era2024::Task", "Era2024::Choosy"),
        *("Era2024::Broken", "Era2024::Machine"),
        *("Nested::Alarm", "Nested::Port", "Nested::Group", "Nested::Loud"),
    }


def test_a_type_that_cannot_be_used_says_why(plugins: Plugins) -> None:
    reason = "it needs shipyard_of_nobody, which is not"
    assert reason in plugins.explain_missing_type("Era2014::Ship")


def test_a_file_without_its_library_is_reported_alone(plugins: Plugins) -> None:
    [failure] = [each for each in plugins.failures if "missing_library" in str(each)]
    assert "No module named 'library_of_nobody'" in str(failure)


def test_two_names_of_one_class_are_one_class(plugins: Plugins) -> None:
    types = plugins.resource_types
    assert types["Era2013::Lamp"] is types["Era2013::Light"]


# -- 2013 ---------------------------------------------------------------------------------------

LAMP = """
parameters: {bright: {type: number, default: 3}}
resources:
  lamp:
    type: Era2013::Lamp
    metadata: {where: hall}
    properties:
      Name: desk
      Bulbs: [{Watt: 60, Colour: red}, {}]
      Bright: {get_param: bright}
  switch: {type: Era2013::Switch, properties: {Lamp: {get_resource: lamp}}}
outputs:
  name: {value: {get_attr: [lamp, Name]}}
  bright: {value: {get_attr: [lamp, Bright]}}
  watts: {value: {get_attr: [lamp, Watts]}}
  reference: {value: {get_resource: lamp}}
  shown: {value: {get_attr: [lamp, show, Name]}}
  switched: {value: {get_attr: [switch, Watts]}}
"""


def test_a_lamp_of_2013_lives(zonda_stack: Any) -> None:
    assert zonda_stack.create(template(LAMP)).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {
        "name": "desk",
        "bright": "3",
        "watts": 100,
        "reference": "lamp-desk",
        "shown": "desk",
        "switched": "100",
    }
    first = zonda_stack.resources["lamp"]
    assert first.physical_id.startswith("test-lamp-")
    assert "made" in first.metadata

    assert zonda_stack.update(template(LAMP), bright=5).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["lamp"].id == first.id
    assert zonda_stack.outputs["bright"] == "5"

    brighter = LAMP.replace("Watt: 60", "Watt: 70")
    assert zonda_stack.update(template(brighter), bright=5).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["lamp"].id == first.id
    assert zonda_stack.outputs["watts"] == 110

    changed = LAMP.replace("where: hall", "where: cellar")
    assert zonda_stack.update(template(changed), bright=5).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["lamp"].metadata == {"where": "cellar"}

    assert zonda_stack.update(template(LAMP), bright=0).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["lamp"].id != first.id

    assert zonda_stack.suspend().state == "SUSPEND_COMPLETE"
    assert zonda_stack.outputs["bright"] == "0"
    assert zonda_stack.resume().state == "RESUME_COMPLETE"
    deleted = module("era_2013").Lamp.deleted
    deleted.clear()
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert deleted == ["lamp"]


@pytest.mark.parametrize(
    ("properties", "fault"),
    [
        pytest.param("{}", "Property error: {at}: Property Name not assigned", id="required"),
        pytest.param(
            "{Name: UP}",
            'Property error: {at}.Name: "UP" does not match pattern "[a-z]+"',
            id="pattern",
        ),
        pytest.param(
            "{Name: ab, Bulbs: [{Watt: 500}]}",
            "Property error: {at}.Bulbs[0].Watt: 500 is out of range (min: 1, max: 100)",
            id="nested-range",
        ),
        pytest.param(
            "{Name: ab, Bulbs: [{Colour: blue}]}",
            'Property error: {at}.Bulbs[0].Colour: "blue" is not an allowed value ["white", "red"]',
            id="nested-values",
        ),
        pytest.param(
            "{Name: ab, Fuse: x}",
            "Property error: {at}: Property Fuse not implemented yet",
            id="not-implemented",
        ),
        pytest.param("{Name: dark}", "lamp gives no light", id="own-check-that-returns"),
    ],
)
def test_faults_of_schemas_of_2013(zonda_stack: Any, properties: str, fault: str) -> None:
    text = f"resources: {{lamp: {{type: Era2013::Lamp, properties: {properties}}}}}"
    expected = fault.replace("{at}", "resources.lamp.properties")
    assert expected in faults(zonda_stack, text)


def test_files_of_a_folder_know_each_other_by_the_name_of_heat(zonda_stack: Any) -> None:
    text = """
resources: {torch: {type: Era2013::Torch, properties: {Name: ab}}}
outputs: {reference: {value: {get_resource: torch}}}
"""
    assert zonda_stack.create(template(text)).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {"reference": "torch"}


# -- 2014 ---------------------------------------------------------------------------------------

BOAT = """
parameters: {size: {type: number, default: 7}, name: {type: string, default: tub}}
resources:
  boat:
    type: Era2014::Boat
    properties:
      name: {get_param: name}
      size: {get_param: size}
      sails: [{area: 3, kind: jib}, {area: 4.5}]
outputs:
  where: {value: {get_attr: [boat, where]}}
  areas: {value: {get_attr: [boat, sail_areas]}}
"""


def test_a_boat_of_2014_lives(zonda_stack: Any) -> None:
    assert zonda_stack.create(template(BOAT)).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {"where": "tub@7", "areas": [3, 4.5]}
    first = zonda_stack.resources["boat"].id
    assert zonda_stack.update(template(BOAT), size=9).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["boat"].id == first
    assert zonda_stack.outputs["where"] == "tub@9"
    assert zonda_stack.update(template(BOAT), size=2).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["boat"].id != first
    second = zonda_stack.resources["boat"].id
    assert zonda_stack.update(template(BOAT), size=2, name="other").state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["boat"].id != second
    assert zonda_stack.check().state == "CHECK_COMPLETE"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


def test_a_boat_that_sinks_fails_in_the_words_of_the_plugin(zonda_stack: Any) -> None:
    stack = zonda_stack.create(template(BOAT), name="wreck")
    assert stack.state == "CREATE_FAILED"
    assert stack.status_reason == ("Resource CREATE failed: Error: resources.boat: wreck has sunk")


RAFT = """
parameters: {port: {type: string, default: kiel}}
resources: {raft: {type: "Era2014::Raft", properties: {port: {get_param: port}}}}
outputs: {port: {value: {get_attr: [raft, port]}}}
"""


def test_a_raft_that_keeps_its_attributes_itself_lives(zonda_stack: Any) -> None:
    assert zonda_stack.create(template(RAFT)).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {"port": "kiel"}
    assert zonda_stack.check().state == "CHECK_COMPLETE"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("port", "told"),
    [
        pytest.param("leak", 'Went to status SUNK due to "a leak"', id="in-error"),
        pytest.param("fog", 'No view - Unknown status GREY due to "Unknown"', id="unknown"),
    ],
)
def test_a_raft_tells_its_state_in_words_of_2014(zonda_stack: Any, port: str, told: str) -> None:
    stack = zonda_stack.create(template(RAFT), port=port)
    assert stack.state == "CREATE_FAILED"
    assert told in stack.status_reason


def test_a_constraint_of_2014_extends_nothing(zonda_stack: Any) -> None:
    with pytest.raises(ValidationErrors, match="Error validating value 'bern'"):
        zonda_stack.create(template(RAFT), port="bern")


def test_a_check_tells_what_it_expected(zonda_stack: Any) -> None:
    zonda_stack.create(template(BOAT), name="ghost")
    stack = zonda_stack.check()
    assert stack.state == "CHECK_FAILED"
    assert "'status': expected 'AFLOAT', got 'SUNK'" in stack.status_reason


@pytest.mark.parametrize(
    ("properties", "fault"),
    [
        pytest.param("{size: 13}", "13 is no good for boat", id="own-check"),
        pytest.param(
            "{size: 3, harbour: bern}",
            "Property error: resources.boat.properties.harbour: Error validating value 'bern': "
            "The Harbour (bern) could not be found.",
            id="own-constraint",
        ),
        pytest.param(
            "{size: 3, harbour: neustadt}",
            "Property error: resources.boat.properties.harbour: Error validating value 'neustadt': "
            "There are several.",
            id="ambiguous-name",
        ),
        pytest.param(
            "{size: 3, harbour: kiel, crew: {jo: 1}}",
            "Cannot define the following properties at the same time: crew, harbour.",
            id="conflict",
        ),
        pytest.param(
            "{size: 3, sails: [{}]}",
            "Property error: resources.boat.properties.sails[0]: Property area not assigned",
            id="nested-required",
        ),
    ],
)
def test_faults_of_a_boat(zonda_stack: Any, properties: str, fault: str) -> None:
    text = f"resources: {{boat: {{type: Era2014::Boat, properties: {properties}}}}}"
    assert fault in faults(zonda_stack, text)


# -- 2016 ---------------------------------------------------------------------------------------

BOOK = """
parameters: {title: {type: string, default: odyssey}, pages: {type: number, default: 300}}
resources:
  book:
    type: Era2016::Book
    properties:
      title: {get_param: title}
      writer: homer
      pages: {get_param: pages}
outputs:
  mark: {value: {get_attr: [book, shelf_mark]}}
  author: {value: {get_attr: [book, author]}}
  shown: {value: {get_attr: [book, show, pages]}}
"""


@pytest.fixture
def shelf(plugins: Plugins) -> Any:
    things = module("era_2016").Shelf.things
    things.clear()
    return things


def test_a_book_of_2016_lives(zonda_stack: Any, shelf: Any) -> None:
    assert zonda_stack.create(template(BOOK)).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {
        "mark": "book-1: odyssey",
        "author": "id-of-homer",
        "shown": 300,
    }
    assert zonda_stack.update(template(BOOK), pages=12).state == "UPDATE_COMPLETE"
    assert shelf["book-1"]["pages"] == 12
    assert zonda_stack.check().state == "CHECK_COMPLETE"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert shelf == {}


def test_what_is_gone_already_can_be_deleted(zonda_stack: Any, shelf: Any) -> None:
    zonda_stack.create(template(BOOK))
    shelf.clear()
    assert zonda_stack.check().state == "CHECK_FAILED"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        pytest.param(
            "burnt", 'ResourceInError: resources.book: Went to status BURNT due to "fire"', id="in"
        ),
        pytest.param(
            "odd",
            "ResourceUnknownStatus: resources.book: Book creation failed - Unknown status ODD due "
            'to "Unknown"',
            id="unknown",
        ),
    ],
)
def test_states_of_a_service_are_told(
    zonda_stack: Any, shelf: Any, title: str, reason: str
) -> None:
    stack = zonda_stack.create(template(BOOK), title=title)
    assert stack.status_reason == f"Resource CREATE failed: {reason}"


def test_signals_merge_into_metadata(zonda_stack: Any) -> None:
    text = """
resources: {reader: {type: Era2016::Reader}}
outputs: {pages: {value: {get_resource: reader}}}
"""
    zonda_stack.create(template(text))
    for page in ("b", "a"):
        zonda_stack.engine.run(SignalResource("test", "reader", {"page": page}))
    before = zonda_stack.engine.reader.last_event()
    zonda_stack.engine.run(SignalResource("test", "reader", {}))
    assert zonda_stack.engine.reader.last_event() == before
    assert zonda_stack.resources["reader"].metadata == {"a": "read", "b": "read"}
    assert zonda_stack.outputs == {"pages": "a,b"}


# -- now ----------------------------------------------------------------------------------------

GARDEN = """
parameters:
  name: {type: string, default: eden}
  size: {type: number, default: 4}
  kind: {type: string, default: rose}
resources:
  garden:
    type: Era2024::Garden
    properties:
      name: {get_param: name}
      plants: [fig]
      plant: apple
      size: {get_param: size}
      kind: {get_param: kind}
  fence: {type: Era2024::Fence, properties: {around: garden}}
outputs:
  grown: {value: {get_attr: [garden, grown]}}
  plants: {value: {get_attr: [garden, plants]}}
  props: {value: {get_attr: [garden, props]}}
"""


@pytest.fixture
def calls(plugins: Plugins) -> Any:
    found = module("era_2024").CALLS
    found.clear()
    return found


def test_a_garden_of_now_lives(zonda_stack: Any, calls: Any) -> None:
    before = zonda_stack.clock.now()
    assert zonda_stack.create(template(GARDEN)).state == "CREATE_COMPLETE"
    assert zonda_stack.clock.now() - before >= 50
    assert [what for what, *_ in calls] == ["fence", "create"]
    assert calls[1] == ("create", "CREATE", "IN_PROGRESS")
    assert zonda_stack.outputs == {
        "grown": "2024-02-29T12:00:00",
        "plants": ["fig", "apple"],
        "props": {"name": "eden", "plants": ["fig"], "size": 4},
    }
    first = zonda_stack.resources["garden"].id
    assert zonda_stack.update(template(GARDEN), name="other", size=6).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["garden"].id == first
    assert zonda_stack.outputs["props"]["size"] == 6
    for action in ("suspend", "resume", "check"):
        assert getattr(zonda_stack, action)().status == "COMPLETE"
    assert zonda_stack.update(template(GARDEN), size=2).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["garden"].id != first
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert [what for what, *_ in calls if what != "fence"] == [
        *("create", "update", "suspend", "resume", "check"),
        *("create", "delete", "delete", "no fence"),
    ]


def test_an_immutable_property_stays(zonda_stack: Any) -> None:
    zonda_stack.create(template(GARDEN))
    stack = zonda_stack.update(template(GARDEN), kind="oak")
    assert stack.state == "UPDATE_FAILED"
    assert "Update to properties kind of garden (Era2024::Garden)" in stack.status_reason


def test_an_update_that_fails_says_why(zonda_stack: Any) -> None:
    zonda_stack.create(template(GARDEN))
    stack = zonda_stack.update(template(GARDEN), name="stone")
    assert "resources.garden: update to stone is not supported for resource." in stack.status_reason


def test_the_deletion_policy_snapshot_reaches_the_plugin(zonda_stack: Any, calls: Any) -> None:
    text = "resources: {garden: {type: Era2024::Garden, deletion_policy: Snapshot}}"
    zonda_stack.create(template(text))
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert calls[-1][0] == "snapshot_delete"


def test_a_handler_that_is_a_task_is_run_to_its_end(zonda_stack: Any) -> None:
    text = "resources: {task: {type: Era2024::Task, properties: {steps: 3}}}"
    assert zonda_stack.create(template(text)).state == "CREATE_COMPLETE"
    assert zonda_stack.resources["task"].physical_id == "done"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


CHOOSY = """
parameters: {text: {type: string, default: first}}
resources: {choosy: {type: Era2024::Choosy, properties: {text: {get_param: text}}}}
"""


def test_a_plugin_decides_about_its_updates(zonda_stack: Any, calls: Any) -> None:
    zonda_stack.create(template(CHOOSY))
    first = zonda_stack.resources["choosy"].id
    for text in ("never", "second", "second", "again", "again"):
        assert zonda_stack.update(template(CHOOSY), text=text).state == "UPDATE_COMPLETE"
    assert calls == [
        ("choosy", "UPDATE", {"text": "second"}),
        ("choosy", "UPDATE", {"text": "again"}),
        ("choosy", "UPDATE", {}),
    ]
    assert zonda_stack.resources["choosy"].id == first
    zonda_stack.update(template(CHOOSY), text="anew")
    assert zonda_stack.resources["choosy"].id != first


def test_a_plugin_that_cannot_be_made_is_a_fault_of_its_resource(zonda_stack: Any) -> None:
    found = faults(zonda_stack, "resources: {b: {type: Era2024::Broken}}")
    assert found == ["resources.b: The plug-in cannot be used: RuntimeError: no power"]


def test_hidden_types_keep_to_the_rules_of_the_schema(zonda_stack: Any) -> None:
    text = "resources: {garden: {type: Era2024::Garden, properties: {size: 3}}}"
    [fault] = faults(zonda_stack, text)
    assert fault.endswith("size: 3 is not a multiple of 2 with an offset of 0")


# -- bases of Heat ------------------------------------------------------------------------------


def test_an_alarm_is_signalled(zonda_stack: Any) -> None:
    text = """
resources: {alarm: {type: Nested::Alarm}}
outputs: {rung: {value: {get_resource: alarm}}}
"""
    zonda_stack.create(template(text))
    assert zonda_stack.outputs == {"rung": "no: alarm alarm"}  # its name in place of a URL
    zonda_stack.engine.run(SignalResource("test", "alarm", {}))
    assert zonda_stack.outputs == {"rung": "yes"}


# -- software configs -----------------------------------------------------------------------------

MACHINES = """
resources:
  script: {type: OS::Heat::SoftwareConfig, properties: {config: echo}}
  both:
    type: OS::Heat::MultipartMime
    properties: {parts: [{config: {get_resource: script}}]}
  one: {type: Era2024::Machine, properties: {user_data: {get_resource: script}}}
  two: {type: Era2024::Machine, properties: {user_data: {get_resource: both}}, depends_on: one}
  three: {type: Era2024::Machine, properties: {user_data: plain}, depends_on: two}
"""


def test_a_config_is_found_by_its_id(zonda_stack: Any, calls: Any) -> None:
    assert zonda_stack.create(template(MACHINES)).state == "CREATE_COMPLETE"
    one, two, three = (text for _, text in calls)
    assert (one, three) == ("echo", "plain")
    assert two.startswith("Content-Type: multipart/mixed")
    assert "\n\necho\n" in two


def test_other_services_of_heat_are_told_as_missing(zonda_stack: Any, calls: Any) -> None:
    text = "resources: {one: {type: Era2024::Machine, properties: {user_data: deploy}}}"
    stack = zonda_stack.create(template(text))
    assert stack.state == "CREATE_FAILED"
    assert "Era2024::Machine needs Heat's engine behind it" in stack.status_reason


# -- stacks inside stacks ------------------------------------------------------------------------

GROUPS = """
parameters: {word: {type: string, default: hi}, count: {type: number, default: 1}}
resources:
  group:
    type: Nested::Group
    properties: {word: {get_param: word}, count: {get_param: count}}
  loud: {type: Nested::Loud, depends_on: group, properties: {word: {get_param: word}}}
outputs:
  said: {value: {get_attr: [group, said]}}
  loud: {value: {get_attr: [loud, said]}}
  reference: {value: {get_resource: loud}}
  group: {value: {get_resource: group}}
"""


def test_stacks_inside_stacks_live(zonda_stack: Any) -> None:
    stack = zonda_stack
    assert stack.create(template(GROUPS)).state == "CREATE_COMPLETE"
    assert (stack.outputs["said"], stack.outputs["loud"]) == ("hi", "HI")
    assert stack.outputs["reference"] == "HI"
    assert stack.outputs["group"].startswith("arn:openstack:heat::")
    before = {name: stack.resources[name].id for name in ("group", "loud")}
    assert stack.update(template(GROUPS), word="ho", count=3).state == "UPDATE_COMPLETE"
    assert (stack.outputs["said"], stack.outputs["loud"]) == ("ho", "HO")
    assert {name: stack.resources[name].id for name in before} == before
    assert stack.suspend().state == "SUSPEND_COMPLETE"
    assert stack.resume().state == "RESUME_COMPLETE"
    assert stack.check().state == "CHECK_COMPLETE"
    assert stack.delete().state == "DELETE_COMPLETE"


def test_a_fault_in_the_stack_inside_is_found_in_validation(zonda_stack: Any) -> None:
    text = "resources: {group: {type: Nested::Group, properties: {word: hi, count: -1}}}"
    assert any("count" in each for each in faults(zonda_stack, text))
