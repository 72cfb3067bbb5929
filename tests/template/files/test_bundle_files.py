"""Files that a bundle holds: candidates of lists, members of chains, names in values."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.template.files.reader import load_bundle
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import ValidationErrors

HEAD = "heat_template_version: rocky\n"


def tree(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def taken(bundle: Bundle, folder: Path) -> list[str]:
    return sorted(key.removeprefix(f"{folder.as_uri()}/") for key in bundle.files)


def test_every_candidate_of_a_list_comes_along_with_what_it_names(tmp_path: Path) -> None:
    tree(
        tmp_path,
        t_yaml=HEAD + "resources: {a: {type: 'My::A'}}\n",
        e__e_yaml="resource_registry:\n"
        "  My::A: [one/a.yaml, two/a.yaml, 'OS::Heat::None']\n"
        "  resources: {n: {deeper: {My::B: [b.yaml]}}}\n",
        e__one__a_yaml=HEAD + "resources: {x: {type: part.yaml}}\n",
        e__one__part_yaml=HEAD,
        e__two__a_yaml=HEAD + "outputs: {o: {value: {get_file: note}}}\n",
        e__two__note="n",
        e__b_yaml=HEAD,
    )

    bundle = load_bundle(tmp_path / "t.yaml", [tmp_path / "e" / "e.yaml"])

    assert taken(bundle, tmp_path) == [
        "e/b.yaml",
        "e/one/a.yaml",
        "e/one/part.yaml",
        "e/two/a.yaml",
        "e/two/note",
    ]
    url = f"{tmp_path.as_uri()}/e"
    assert bundle.key_of(f"{url}/one/a.yaml", "part.yaml") == f"{url}/one/part.yaml"
    assert bundle.map_written_names()[f"{url}/two/a.yaml"] == "two/a.yaml"


@pytest.mark.parametrize("name", ["part.yaml", r'"part\x2eyaml"', '"part.ya\\\n  ml"'])
def test_a_type_comes_along_however_its_name_is_written(tmp_path: Path, name: str) -> None:
    """Whether there are any names is first told from the text alone."""
    tree(tmp_path, t_yaml=f"{HEAD}resources: {{a: {{type: {name}}}}}\n", part_yaml=HEAD)

    assert taken(load_bundle(tmp_path / "t.yaml"), tmp_path) == ["part.yaml"]


def test_a_candidate_that_is_not_there_is_told_with_its_place(tmp_path: Path) -> None:
    tree(tmp_path, t_yaml=HEAD, e_yaml="resource_registry:\n  My::A:\n  - gone.yaml\n")

    with pytest.raises(ValidationErrors) as caught:
        load_bundle(tmp_path / "t.yaml", [tmp_path / "e.yaml"])

    (fault,) = caught.value.errors
    assert str(fault.place) == f"{tmp_path}/e.yaml:3:5"


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param("{resource_def: {type: part.yaml}}", id="member-of-a-group"),
        pytest.param("{resource: {type: part.yaml}}", id="member-of-a-scaling-group"),
        pytest.param("{resources: [part.yaml]}", id="member-of-a-chain"),
        pytest.param("{resources: {if: [c, [part.yaml], []]}}", id="member-in-a-branch"),
        pytest.param("{template: {get_file: part.yaml}}", id="a-stack-by-template"),
    ],
)
def test_templates_in_properties_come_along_with_what_they_name(
    tmp_path: Path, properties: str
) -> None:
    tree(
        tmp_path,
        t_yaml=HEAD
        + f"resources: {{r: {{type: 'OS::Heat::ResourceChain', properties: {properties}}}}}\n",
        part_yaml=HEAD + "resources: {x: {type: deep/er.yaml}}\n",
        deep__er_yaml=HEAD,
    )

    bundle = load_bundle(tmp_path / "t.yaml")

    assert taken(bundle, tmp_path) == ["deep/er.yaml", "part.yaml"]


CHAIN = (
    HEAD + "parameters:\n"
    "  steps: {type: json, default: {one: [default.yaml, gone.yaml]}}\n"
    "resources:\n"
    "  c: {type: 'OS::Heat::ResourceChain', properties: {resources: {get_param: [steps, one]}}}\n"
)


@pytest.mark.parametrize(
    ("environment", "parameters", "names"),
    [
        pytest.param("", {}, [], id="default"),
        pytest.param("parameters: {steps: {one: [e.yaml]}}", {}, ["env/e.yaml"], id="environment"),
        pytest.param(
            'parameter_defaults: {steps: \'{"one": ["e.yaml"]}\'}', {}, ["env/e.yaml"], id="json"
        ),
        pytest.param("parameters: {steps: 'x,e.yaml'}", {}, ["env/e.yaml"], id="commas"),
        pytest.param("", {"steps": '["given.yaml"]'}, ["given.yaml"], id="given"),
    ],
)
def test_names_in_values_come_along_where_a_chain_may_take_them(
    tmp_path: Path, environment: str, parameters: dict[str, str], names: list[str]
) -> None:
    texts = {
        "t_yaml": CHAIN,
        "default_yaml": HEAD + "resources: {x: {type: inner.yaml}}\n",
        "inner_yaml": HEAD,
        "given_yaml": HEAD,
        "env__e_yaml": HEAD,
        "env__env_yaml": environment,
    }
    tree(tmp_path, **texts)

    bundle = load_bundle(tmp_path / "t.yaml", [tmp_path / "env" / "env.yaml"], parameters)

    assert taken(bundle, tmp_path) == sorted(["default.yaml", "inner.yaml", *names])
    for name in names:
        key = bundle.key_of(str(tmp_path / "t.yaml"), name.removeprefix("env/"))
        assert key == f"{tmp_path.as_uri()}/{name}"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        pytest.param(CHAIN.replace("{resources:", "{value:"), HEAD, id="no-use-for-names"),
        pytest.param(CHAIN, "a: list of values\n", id="no-template"),
    ],
)
def test_other_values_that_look_like_names_are_left_alone(
    tmp_path: Path, template: str, text: str
) -> None:
    tree(tmp_path, t_yaml=template, default_yaml=text)

    assert taken(load_bundle(tmp_path / "t.yaml"), tmp_path) == []


def test_a_value_that_could_mean_two_files_is_refused(tmp_path: Path) -> None:
    tree(
        tmp_path,
        t_yaml=CHAIN,
        default_yaml=HEAD,
        e__default_yaml=HEAD,
        e__e_yaml="parameters:\n  steps:\n    one: [default.yaml]\n",
    )

    with pytest.raises(ValidationErrors) as caught:
        load_bundle(tmp_path / "t.yaml", [tmp_path / "e" / "e.yaml"])

    (fault,) = caught.value.errors
    assert "default.yaml in a value could mean" in fault.message
    assert fault.place is not None
