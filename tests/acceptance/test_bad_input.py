"""Bad input gives every fault with its place and exit code 2, and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FIVE_MISTAKES = """\
heat_template_version: 2018-08-31
parameters:
  size: {type: nmber}
resources:
  a:
    type: OS::Heat::TestResource
    properties:
      valeu: x
  b:
    type: OS::Heat::NoSuchType
  c:
    type: OS::Heat::TestResource
    properties:
      value: {get_param: colour}
outputs:
  o:
    value: {get_attr: [nobody, output]}
"""

PLACE = re.compile(r"^(\S+):(\d+):(\d+): ", re.M)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("template", "validate"), id="validate"),
        pytest.param(("stack", "create", "s", "-t"), id="create"),
    ],
)
def test_five_mistakes_are_five_errors_with_places(
    zonda: Any, write: Callable[[str, str], Path], words: tuple[str, ...]
) -> None:
    template = write("five.yaml", FIVE_MISTAKES)
    done = zonda.run(*words, template, code=2)
    places = PLACE.findall(done.stderr + done.stdout)
    assert sorted(int(line) for _, line, _ in places) == [3, 8, 10, 14, 17]
    assert all(file.endswith("five.yaml") for file, _, _ in places)
    assert zonda.data("stack", "list") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "heat_template_version", id="empty"),
        pytest.param("a: [1", ":1:", id="broken-yaml"),
        pytest.param("- 1\n- 2\n", "template", id="a-list"),
        pytest.param("heat_template_version: 1999-01-01\n", "1999-01-01", id="unknown-version"),
        pytest.param("\x00\x01\x02", "template", id="binary"),
        pytest.param("&a [*a]", "template", id="a-ring-of-aliases"),
        pytest.param("[" * 100_000, "template", id="deep"),
    ],
)
def test_a_text_that_is_no_template_is_an_error_of_the_author(
    zonda: Any, write: Callable[[str, str], Path], text: str, said: str
) -> None:
    done = zonda.run("template", "validate", write("template.yaml", text), code=2)
    assert said in done.stderr + done.stdout


def test_a_missing_file_is_a_wrong_call(zonda: Any) -> None:
    done = zonda.run("stack", "create", "s", "-t", "nowhere.yaml", code=2)
    assert "nowhere.yaml" in done.stderr


def test_a_faulty_settings_file_shows_every_fault_with_its_line(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    zonda.configure('workers = "many"\nwrokers = 3\n')
    template = write("t.yaml", "heat_template_version: 2018-08-31\n")
    said = zonda.run("stack", "create", "s", "-t", template, code=2).stderr
    assert "zonda.toml:1" in said
    assert "zonda.toml:2" in said
    assert "did you mean workers" in said
