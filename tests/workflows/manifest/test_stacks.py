"""Types of manifests in stacks: their sources, and updates to another text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.workflows.manifests import DISK, a_runner, ends

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.runners import Failed, Running, Succeeded
from zonda.hooks.testing import FakeRunner

TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {size: {type: number, default: 3}}
resources:
  d: {type: "Acme::Disk", properties: {size: {get_param: size}}}
outputs:
  path: {value: {get_attr: [d, path]}}
"""
OUTER = """
heat_template_version: 2018-08-31
resources:
  outer: {type: inner.yaml}
outputs:
  path: {value: {get_attr: [outer, path]}}
"""


class Site:
    """A home with a folder of types, a runner, and a stack that survives the process."""

    def __init__(self, home: Path) -> None:
        self.types = home / "types"
        self.types.mkdir(parents=True)
        self._home = home
        self.runner: FakeRunner = a_runner(rm2=ends(), look=ends(size=4))
        self.stack = self._opened()

    def _opened(self) -> InlineStack:
        stack = InlineStack(self._home)
        stack._lender._runners["bundled"] = self.runner
        return stack

    def begin_again(self) -> None:
        """Another process: what is stored, and the types as they are now."""
        old, self.stack = self.stack, self._opened()
        self.stack._store = old._store
        self.stack.restart()

    @property
    def sent(self) -> list[tuple[str, str]]:
        """(action, workflow) of every run."""
        return [(request.action, request.workflow) for request in self.runner.requests]

    def write(self, text: str = DISK, name: str = "disk.yaml") -> Path:
        """Put a manifest into the folder."""
        (self.types / name).write_text(text)
        return self.types / name


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Nothing in it yet."""
    return Site(tmp_path)


@pytest.fixture
def made(site: Site) -> Site:
    """A stack with a disk of 3 GB, by a manifest in the folder."""
    site.write()
    site.begin_again()
    assert state(site.stack.create(TEMPLATE)) == "CREATE_COMPLETE"
    assert site.stack.outputs == {"path": "/a"}
    return site


def state(view: Any) -> str:
    """``CREATE_COMPLETE``."""
    return str(view.state)


def test_a_type_of_a_folder_is_used_and_removed(made: Site) -> None:
    assert state(made.stack.update(TEMPLATE, size=4)) == "UPDATE_COMPLETE"
    assert state(made.stack.delete()) == "DELETE_COMPLETE"
    assert made.sent == [("CREATE", "mk"), ("UPDATE", "up"), ("DELETE", "rm")]


def test_what_a_removed_manifest_made_is_shown_checked_and_deleted_by_it(made: Site) -> None:
    (made.types / "disk.yaml").unlink()
    made.begin_again()
    assert "Acme::Disk" not in made.stack.plugins.resource_types
    assert made.stack.outputs == {"path": "/a"}
    assert state(made.stack.check()) == "CHECK_FAILED"
    assert "template 3, there 4" in made.stack.resources["d"].status_reason
    assert state(made.stack.delete()) == "DELETE_COMPLETE"
    assert made.sent[-1] == ("DELETE", "rm")


def test_without_its_manifest_a_new_template_is_refused(made: Site) -> None:
    (made.types / "disk.yaml").unlink()
    made.begin_again()
    with pytest.raises(ValidationErrors, match="Acme::Disk"):
        made.stack.update(TEMPLATE, size=5)


def test_a_changed_manifest_deletes_by_the_text_that_made_it(made: Site) -> None:
    made.write(DISK.replace("DELETE: rm", "DELETE: rm2"))
    made.begin_again()
    made.stack.delete()
    assert made.sent[-1] == ("DELETE", "rm")


def test_an_update_takes_over_a_changed_manifest_and_replaces_nothing(made: Site) -> None:
    made.write(DISK.replace("DELETE: rm", "DELETE: rm2").replace("A disk.", "Another text."))
    made.begin_again()
    assert state(made.stack.update(TEMPLATE)) == "UPDATE_COMPLETE"
    assert made.sent == [("CREATE", "mk")]
    made.stack.delete()
    assert made.sent[1:] == [("DELETE", "rm2")]


def test_a_manifest_that_sends_something_else_runs_update_once(made: Site) -> None:
    made.write(
        DISK.replace("UPDATE: up", "UPDATE: {workflow: up, input: {n: {get_property: size}}}")
    )
    made.begin_again()
    made.stack.update(TEMPLATE)
    made.stack.update(TEMPLATE)
    assert made.sent == [("CREATE", "mk"), ("UPDATE", "up")]
    assert made.runner.requests[-1].inputs == {"n": 3}


def test_a_plan_says_that_another_text_declares_the_type(made: Site) -> None:
    made.write(DISK.replace("UPDATE: up", "UPDATE: {workflow: up, input: {n: 1}}"))
    made.begin_again()
    plan = build_preview(made.stack.engine.services, UpdateStack(made.stack.name, Bundle(TEMPLATE)))
    (found,) = build_document(plan)["resources"]
    assert [each["text"] for each in found["reasons"]] == [
        "another text declares its type, and has something else done for what it is"
    ]


def test_a_new_property_updates_in_place_by_the_new_schema(made: Site) -> None:
    made.write(DISK.replace("  tags: {type: map}", "  tags: {type: map}\n  label: {type: string}"))
    made.begin_again()
    made.stack.update(TEMPLATE.replace("size: {get_param: size}", "size: 3, label: x"))
    assert made.sent == [("CREATE", "mk"), ("UPDATE", "up")]
    assert made.runner.requests[-1].inputs == {"size": 3, "pool": "fast", "label": "x"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[pool]", "[pool, zone]"),
        ("default: fast", "default: large"),
        ("[pool]", "[pool, size]"),
        ("size: {type: integer,", "size: {type: number,"),
    ],
    ids=["a new property that replaces", "another default", "replaces from now on", "another type"],
)
def test_a_changed_manifest_alone_never_replaces(made: Site, old: str, new: str) -> None:
    zone = "  tags: {type: map}\n  zone: {type: string, default: a}"
    made.write(DISK.replace("  tags: {type: map}", zone).replace(old, new))
    made.begin_again()
    assert state(made.stack.update(TEMPLATE)) == "UPDATE_COMPLETE"
    assert made.sent == [("CREATE", "mk"), ("UPDATE", "up")]


def test_what_is_managed_elsewhere_is_looked_at(site: Site) -> None:
    site.write()
    site.runner = a_runner(look=ends(size=3, path="/there"))
    site.stack = site._opened()
    template = TEMPLATE.replace("properties:", "external_id: d9, properties:")
    assert state(site.stack.create(template)) == "CREATE_COMPLETE"
    assert site.stack.resources["d"].physical_id == "d9"
    assert site.stack.outputs == {"path": "/there"}
    assert site.runner.requests[0].resource.physical_id == "d9"
    site.stack.delete()
    assert site.sent == [("CHECK", "look")]


def test_suspending_runs_what_the_manifest_says(site: Site) -> None:
    site.write(DISK.replace("  DELETE: rm", "  SUSPEND: s\n  RESUME: r\n  DELETE: rm"))
    site.runner = a_runner(s=ends(), r=ends())
    site.stack = site._opened()
    site.stack.create(TEMPLATE)
    assert state(site.stack.suspend()) == "SUSPEND_COMPLETE"
    assert state(site.stack.resume()) == "RESUME_COMPLETE"
    assert site.sent == [("CREATE", "mk"), ("SUSPEND", "s"), ("RESUME", "r")]


def test_what_the_manifest_does_not_say_is_done_by_nobody(made: Site) -> None:
    assert state(made.stack.suspend()) == "SUSPEND_COMPLETE"
    assert state(made.stack.resume()) == "RESUME_COMPLETE"
    assert made.sent == [("CREATE", "mk")]


def test_an_operation_goes_on_by_the_new_text_after_a_restart(made: Site) -> None:
    running = [Running(poll_after=5), Running(poll_after=5), Succeeded({"path": "/b"})]
    made.runner._script["up2"] = running
    text = DISK.replace("UPDATE: up", "UPDATE: {workflow: up2, output: {path: {get_output: path}}}")
    made.write(text)
    made.begin_again()
    assert state(made.stack.update(TEMPLATE, size=4)) == "UPDATE_COMPLETE"
    assert made.stack.outputs == {"path": "/b"}


@pytest.mark.parametrize(
    "value", ["{get_property: word}", "{list_join: [x, [{get_property: word}]]}"]
)
def test_an_attribute_that_repeats_a_secret_is_one(site: Site, value: str) -> None:
    text = DISK.replace(
        "  tags: {type: map}", "  tags: {type: map}\n  word: {type: string, hidden: true}"
    )
    site.write(text.replace("  path: {type: string}", f"  path: {{value: {value}}}"))
    site.begin_again()
    site.stack.create(TEMPLATE.replace("properties: {", "properties: {word: hushhush, "))
    assert site.stack.outputs == {"path": "(hidden)"}
    assert "hushhush" not in repr(site.stack.resources["d"].attributes)


LIMITED = DISK.replace(
    "CREATE: {", "CREATE: {retries: 2, retry_delay: 5, timeout: 100, on_timeout: cancel, "
)


@pytest.mark.parametrize(
    ("answers", "ended", "runs", "cancelled"),
    [
        ([Failed("no"), Running(), Failed("no"), Succeeded({})], "CREATE_COMPLETE", 3, []),
        ([Failed("no")], "CREATE_FAILED", 3, []),
        ([Running(poll_after=10)], "CREATE_FAILED", 1, ["exec-1"]),
    ],
    ids=["the third works", "none works", "it takes too long"],
)
def test_retries_and_timeouts_in_an_engine(
    site: Site, answers: list[Any], ended: str, runs: int, cancelled: list[str]
) -> None:
    site.write(LIMITED)
    site.runner = a_runner(mk=answers)
    site.stack = site._opened()
    assert state(site.stack.create(TEMPLATE)) == ended
    assert (len(site.sent), site.runner.cancelled) == (runs, cancelled)
    assert state(site.stack.delete()) == "DELETE_COMPLETE"
    begun, removed = site.runner.requests[-2:]
    assert removed.create_key == begun.key


# -- by an environment ----------------------------------------------------------------------------


def bundle(registry: str, template: str = TEMPLATE, **files: str) -> Bundle:
    """A request with an environment; ``files`` by names in which _ is a dot."""
    named = {name.replace("_", "."): text for name, text in files.items()}
    return Bundle(template, environment=f"resource_registry:\n  {registry}\n", files=named)


@pytest.mark.parametrize(
    "registry",
    [
        '"Acme::Disk": disk.yaml',
        '{"Acme::Disk": "Acme::Other", "Acme::Other": disk.yaml}',
        '"Acme::Disk": [disk.yaml]',
        "resources: {d: {'Acme::Disk': disk.yaml}}",
    ],
    ids=["a file", "an alias", "a list", "for one resource"],
)
def test_an_environment_says_that_a_type_is_a_manifest(site: Site, registry: str) -> None:
    given = bundle(registry, disk_yaml=DISK)
    assert state(site.stack.engine.run(CreateStack("test", given))) == "CREATE_COMPLETE"
    assert site.stack.outputs == {"path": "/a"}
    site.begin_again()
    assert state(site.stack.delete()) == "DELETE_COMPLETE"
    assert site.sent == [("CREATE", "mk"), ("DELETE", "rm")]


def test_a_nested_template_uses_it_without_knowing(site: Site) -> None:
    given = bundle('"Acme::Disk": disk.yaml', OUTER, disk_yaml=DISK, inner_yaml=TEMPLATE)
    assert state(site.stack.engine.run(CreateStack("test", given))) == "CREATE_COMPLETE"
    assert site.stack.outputs == {"path": "/a"}
    assert state(site.stack.delete()) == "DELETE_COMPLETE"


def test_a_group_of_them(made: Site) -> None:
    group = """
heat_template_version: 2018-08-31
resources:
  g:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: "Acme::Disk", properties: {size: 3}}}
"""
    assert state(made.stack.update(group)) == "UPDATE_COMPLETE"
    (made.types / "disk.yaml").unlink()
    made.begin_again()
    made.stack.delete()
    assert [action for action, _ in made.sent].count("DELETE") == 3


def test_moving_from_a_folder_to_an_environment_changes_nothing(made: Site) -> None:
    (made.types / "disk.yaml").unlink()
    made.begin_again()
    given = bundle('"Acme::Disk": disk.yaml', disk_yaml=DISK)
    assert state(made.stack.engine.run(UpdateStack("test", given))) == "UPDATE_COMPLETE"
    assert made.sent == [("CREATE", "mk")]


def test_requirements_choose_among_manifests(site: Site) -> None:
    other = DISK.replace("workflow: mk,", "workflow: up,")
    environment = 'requires: {speed: fast}\nresource_registry: {"Acme::Disk": [a.yaml, b.yaml]}\n'
    files = {
        "a.yaml": DISK + "capabilities: {speed: fast}\n",
        "b.yaml": other + "capabilities: {speed: slow}\n",
    }
    given = Bundle(TEMPLATE, environment=environment, files=files)
    assert state(site.stack.engine.run(CreateStack("test", given))) == "CREATE_COMPLETE"
    assert site.sent == [("CREATE", "mk")]


def test_all_faults_of_a_manifest_stand_in_its_own_file(site: Site) -> None:
    wrong = DISK.replace("integer", "integr").replace("[pool]", "[pol]")
    given = bundle('"Acme::Disk": disk.yaml', disk_yaml=wrong)
    with pytest.raises(ValidationErrors) as found:
        site.stack.engine.run(CreateStack("test", given))
    places = [str(error.place) for error in found.value.errors]
    assert places == ["disk.yaml:6:16", "disk.yaml:12:14"]


def test_a_wrong_file_in_the_folder_is_told_and_hurts_nothing_else(site: Site) -> None:
    site.write()
    bad = site.write(DISK.replace("integer", "integr"), "bad.yaml")
    site.write("just: yaml\n", "other.yaml")
    site.begin_again()
    (failure,) = site.stack.plugins.failures
    assert f"{bad}:6:16: There is no type 'integr'. Did you mean integer?" in str(failure)
    assert state(site.stack.create(TEMPLATE)) == "CREATE_COMPLETE"


def test_a_file_with_a_byte_order_mark_is_one(site: Site) -> None:
    site.write("\ufeff" + DISK.lstrip())
    site.begin_again()
    assert state(site.stack.create(TEMPLATE)) == "CREATE_COMPLETE"


def test_two_files_that_want_one_name_have_neither(site: Site) -> None:
    site.write()
    site.write(name="again.yaml")
    site.begin_again()
    assert "Acme::Disk" not in site.stack.plugins.resource_types
    assert len(site.stack.plugins.failures) == 2


def test_without_types_nothing_of_manifests_is_imported(
    site: Site, imported: Callable[[str], set[str]]
) -> None:
    code = (
        "from zonda.core.app.app import build_app\n"
        "from zonda.core.settings.settings import load_settings\n"
        f"build_app(load_settings({{'home': {str(site.types.parent)!r}}}, {{}})).plugins"
    )
    assert not {name for name in imported(code) if "manifest" in name or "mapping" in name}


@pytest.fixture
def imported() -> Callable[[str], set[str]]:
    """The modules of ``zonda.workflows`` that a process has once it has run some code."""
    import subprocess
    import sys

    def run(code: str) -> set[str]:
        tell = "\nimport sys\nprint(*(n for n in sys.modules if n.startswith('zonda.workflows.')))"
        done = subprocess.run(
            [sys.executable, "-c", code + tell], capture_output=True, text=True, check=True
        )
        return set(done.stdout.split())

    return run


HIDING = DISK.replace("observes: [size, tags]", "observes: [size, tags, deep]").replace(
    "  tags: {type: map}",
    "  tags: {type: map}\n"
    "  deep: {type: map, schema: {k: {type: string, hidden: true}, z: {type: string}}}",
)
HIDDEN_TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {word: {type: string, hidden: true, default: there-it-was}}
resources:
  d: {type: "Acme::Disk", properties: {size: 3, PROPERTIES}}
"""


@pytest.mark.parametrize(
    ("given", "observed"),
    [
        ("deep: {k: wanted, z: q}", {"deep": {"k": "other-secret", "z": "q"}}),
        ("tags: {a: {get_param: word}}", {"tags": {"a": "other-secret"}}),
        (
            "deep: {k: wanted, z: q}, tags: {a: b}",
            {"deep": {"k": "other-secret", "z": "q"}, "tags": {"a": "it is other-secret"}},
        ),
    ],
    ids=["schema", "parameter", "elsewhere"],
)
def test_a_check_shows_nothing_of_what_it_saw_in_a_hidden_property(
    site: Site, given: str, observed: dict[str, Any]
) -> None:
    site.runner = a_runner(look=ends(size=3, **observed))
    site.write(HIDING)
    site.begin_again()
    site.stack.create(HIDDEN_TEMPLATE.replace("PROPERTIES", given))
    told = site.stack.check()
    assert state(told) == "CHECK_FAILED"
    said = f"{told.status_reason} {site.stack.resources['d'].status_reason}"
    assert "(hidden)" in said
    assert "other-secret" not in said


def test_what_may_not_be_named_any_more_fails_a_delete_that_says_so_until_it_is_allowed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD_TOKEN", "hushhush")
    site.write(
        DISK.replace("DELETE: rm", "DELETE: {workflow: rm, input: {t: {secret: env:OLD_TOKEN}}}")
    )
    site.begin_again()
    allow(site, "env:OLD_TOKEN")
    assert state(site.stack.create(TEMPLATE)) == "CREATE_COMPLETE"
    allow(site, "env:ZONDA_SECRET_*")
    failed = site.stack.delete()
    assert state(failed) == "DELETE_FAILED"
    reason = failed.status_reason
    assert "secret_sources" in reason
    assert "env:OLD_TOKEN is to be added" in reason
    assert "then delete it again" in reason
    assert site.sent == [("CREATE", "mk")], "nothing was asked of anybody"
    allow(site, "env:OLD_TOKEN")
    assert state(site.stack.delete()) == "DELETE_COMPLETE"
    assert site.sent[-1] == ("DELETE", "rm")


def allow(site: Site, sources: str) -> None:
    """Have the settings allow just these secrets."""
    lender: Any = site.stack._lender
    lender._settings = replace(lender._settings, secret_sources=sources)
