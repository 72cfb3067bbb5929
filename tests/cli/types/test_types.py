"""Types and plug-ins, shown and written down; every template that is written down validates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Zonda

from zonda import __version__
from zonda.builtin_resources import plugin as built_in
from zonda.core.app.app import build_app
from zonda.core.cli.types.docs import format_pages
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.reference import examples
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.schema.support import HIDDEN
from zonda.workflows import plugin as workflows

TYPES = gather_plugins(make_manager(built_in, workflows, discover=False)).resource_types

LAMP = '''
from zonda.hooks import attributes, constraints, properties, resource, support

Schema = properties.Schema


class Lamp(resource.Resource):
    """A lamp | a light.

    It shines.
    """

    support_status = support.Status("2.0")
    properties_schema = {
        "watts": Schema(Schema.INTEGER, "How bright.", default=5, update_allowed=True,
                        constraints=[constraints.Range(1, 10, description="not too much")]),
        "key": Schema(Schema.STRING, "Opens it.", required=True, hidden=True, default="x1"),
        "spots": Schema(Schema.LIST, "Where.", schema=Schema(Schema.MAP, schema={
            "room": Schema(Schema.STRING, "Which.", required=True, constraints=[
                constraints.AllowedValues(["hall"])])})),
        "old": Schema(Schema.STRING, "Gone.", immutable=True, support_status=support.SupportStatus(
            support.DEPRECATED, "Use watts.", "2.1")),
    }
    attributes_schema = {"on": attributes.Schema("Whether.", type=attributes.Schema.BOOLEAN)}

    def handle_check(self):
        pass


class Secret(Lamp):
    """Not shown."""

    support_status = support.SupportStatus(support.HIDDEN)


def resource_mapping():
    return {"My::Lamp": Lamp, "My::Secret": Secret}
'''


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "plugins"
    folder.mkdir(parents=True)
    (folder / "lamp.py").write_text(LAMP)
    return folder / "lamp.py"


def test_a_type_shows_all_that_it_says_of_itself(zonda: Zonda, lamp: Path) -> None:
    shown = zonda("resource", "type", "show", "My::Lamp", "-f", "json").data
    assert shown["description"] == "A lamp | a light."
    assert shown["support_status"]["version"] == "2.0"
    assert shown["actions"] == ["update", "check"]
    assert shown["origin"] == str(lamp)
    assert shown["properties"]["key"]["hidden"] is True
    assert "default" not in shown["properties"]["key"]
    assert shown["properties"]["old"]["support_status"]["status"] == "DEPRECATED"
    assert shown["properties"]["spots"]["schema"]["*"]["schema"]["room"]["required"] is True
    assert shown["attributes"] == {"on": {"description": "Whether.", "type": "boolean"}}


def test_hidden_types_are_listed_only_when_asked_for(zonda: Zonda, lamp: Path) -> None:
    words = ("resource", "type", "list", "--filter", "my::", "-f", "value")
    assert zonda(*words).out.split() == ["My::Lamp"]
    assert zonda(*words, "--all").out.split() == ["My::Lamp", "My::Secret"]


def test_a_page_holds_every_word_of_a_type(zonda: Zonda, lamp: Path, tmp_path: Path) -> None:
    said = zonda("resource", "type", "docs", str(lamp), "-o", tmp_path / "ref").err
    assert "1 pages" in said
    page = (tmp_path / "ref" / "My-Lamp.md").read_text()
    for words in (
        "# My::Lamp",
        "It shines.",
        "Available since 2.0.",
        "| `watts` | integer | How bright. Default: `5`. Range: min 1, max 10 (not too much). |",
        "| `key` | string | Opens it. Never shown. | replaced |",
        '| `spots[].room` | string, required | Which. Allowed values: `"hall"`. |  |',
        "| `old` | string | Gone. Deprecated since 2.1. Use watts. | refused |",
        "| `on` | boolean | Whether. |",
    ):
        assert words in page
    assert "x1" not in page
    index = (tmp_path / "ref" / "README.md").read_text()
    assert "| [My::Lamp](My-Lamp.md) | A lamp \\| a light. |" in index


def test_pages_of_a_package_that_is_not_there(zonda: Zonda) -> None:
    assert "plugin list" in zonda("resource", "type", "docs", "acme-none", code=1).err


VERSION = "heat_template_version: 2018-08-31"


def made(kind: str, name: str) -> dict[str, Any]:
    app = build_app(load_settings({"home": "."}, {}))
    if kind == "provider":
        return examples.build_initial_template(name, TYPES[name])
    return examples.build_example(name, TYPES[name], app.make_context())


@pytest.mark.parametrize("name", sorted(TYPES))
@pytest.mark.parametrize("kind", ["provider", "example"])
def test_a_generated_template_validates(kind: str, name: str, tmp_path: Path) -> None:
    text = yaml.safe_dump(made(kind, name), sort_keys=False)
    # types of Mistral need one to be configured; nobody asks it anything here
    (tmp_path / "zonda.toml").write_text(
        '[runners.mistral]\nkind = "mistral"\nendpoint = "http://127.0.0.1:9/v2"\n'
    )
    app = build_app(load_settings({"home": str(tmp_path)}, {}))
    checked = app.templates.validate(Bundle(text, files={"child.yaml": f"{VERSION}\n"}))
    expected = set(TYPES[name].attributes_schema)
    if kind == "example":
        expected -= set(getattr(TYPES[name], "attributes_with_key", ()))
    assert set(checked.outputs) == expected
    app.close()


def test_the_pages_of_all_types_can_be_made(tmp_path: Path) -> None:
    app = build_app(load_settings({"home": str(tmp_path)}, {}))
    pages = format_pages(app, "")
    shown = {name for name, cls in TYPES.items() if cls.support_status.status != HIDDEN}
    assert shown <= set(pages)
    assert all("```yaml\nheat_template_version" in text for text in pages.values())


def test_a_template_of_a_type_is_printed(
    zonda: Zonda, lamp: Path, write: Callable[[str, str], Path]
) -> None:
    text = zonda("resource", "type", "template", "My::Lamp").out
    template = yaml.safe_load(text)
    assert template["parameters"]["key"] == {
        "type": "string",
        "description": "Opens it.",
        "hidden": True,
    }
    assert template["resources"] == {
        "Lamp": {
            "type": "My::Lamp",
            "properties": {name: {"get_param": name} for name in template["parameters"]},
        }
    }
    zonda("template", "validate", write("lamp.yaml", text))
    shown = zonda("resource", "type", "template", "My::Lamp", "--example", "-f", "json").data
    assert shown["resources"]["example"] == {"type": "My::Lamp"}


def test_an_unknown_type_gets_a_hint(zonda: Zonda, lamp: Path) -> None:
    assert "Did you mean My::Lamp?" in zonda("resource", "type", "template", "My::Lmap", code=1).err
    said = zonda("resource", "type", "show", "OS::Nova::Server", code=1).err
    assert "zonda-heat-compat[openstack]" in said
    assert "Did you mean" not in said  # OS::Heat::DeployedServer makes no server


def test_plugins_are_listed_with_what_they_bring_and_why_they_failed(
    zonda: Zonda, lamp: Path
) -> None:
    (lamp.parent / "broken.py").write_text("import nowhere_at_all")
    rows = {row["Plugin"]: row for row in zonda("plugin", "list", "-f", "json", code=1).data}
    assert rows[str(lamp)]["Brings"] == {"resource type": ["My::Lamp", "My::Secret"]}
    assert rows[str(lamp)]["Status"] == "ok"
    broken = rows[str(lamp.parent / "broken.py")]
    assert broken["Status"] == "failed"
    assert "No module named 'nowhere_at_all'. It needs nowhere_at_all, " in broken["Failures"][0]
    own = rows["zonda.builtin_resources.plugin"]
    assert (own["Distribution"], own["Version"]) == ("zonda", __version__)
    done = zonda("plugin", "list", code=1)
    assert "nowhere_at_all" in done.err
    lines = done.out.splitlines()
    assert f"zonda.builtin_resources.plugin (zonda {__version__}): ok" in lines
    place = lines.index(f"{lamp}: ok")
    assert lines[place + 1] == "  resource type: My::Lamp, My::Secret"
    assert f"{lamp.parent / 'broken.py'}: failed" in lines
    assert all(len(line) <= 100 for line in lines if line.startswith(" "))
    one = zonda("plugin", "list", "-c", "Status", "-c", "Version", code=1).out
    assert one.splitlines()[1].split() == ["|", "Status", "|", "Version", "|"]
