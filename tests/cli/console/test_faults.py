"""Faults are printed at once, on lines of their own, and once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Zonda

Write = Callable[[str, str], Path]
HEAD = "heat_template_version: 2018-08-31\n"


def test_everything_wrong_is_told_although_files_are_missing(zonda: Zonda, write: Write) -> None:
    text = f"""{HEAD}parameters: {{p: {{type: string}}}}
resources:
  a: {{type: OS::Heat::Value, properties: {{value: {{get_file: nope.txt}}}}}}
  b: {{type: OS::Heat::Valu}}
  c: {{type: OS::Heat::TestResource, properties: {{vale: 1}}}}
  d: {{type: missing.yaml}}
"""
    template = write("t.yaml", text)
    told = zonda("template", "validate", template, code=2).err
    assert told.count("nope.txt: there is no file") == 1
    assert told.count("missing.yaml: there is no file") == 1
    assert f"{template}:5:7: error: The Resource Type (OS::Heat::Valu) could not be found" in told
    assert "Unknown Property vale" in told
    assert "4 errors" in told

    told = zonda("stack", "create", "-t", template, "s", code=2).err
    assert "The Parameter (p) was not provided." in told
    assert "5 errors" in told


def test_an_example_of_several_lines_is_told_in_lines(zonda: Zonda, write: Write) -> None:
    text = f"{HEAD}outputs: {{o: {{value: {{str_replace: {{template: x}}}}}}}}"
    told = zonda("template", "validate", write("t.yaml", text), code=2).err
    assert "\\n" not in told
    assert '"str_replace" syntax should be str_replace:\n' in told


def test_a_reason_is_told_once_with_its_place(zonda: Zonda, write: Write) -> None:
    resource = "{type: OS::Heat::TestResource, properties: {fail: true}}"
    template = write("t.yaml", f"{HEAD}resources: {{a: {resource}}}")
    done = zonda("stack", "create", "-t", template, "s", code=1)
    reason = "ValueError: resources.a: Test Resource failed a"
    assert (done.out + done.err).count("Test Resource failed") == 1
    assert f"{template}:2:13: error: {reason}" in done.err
    assert "[s.a]: CREATE_FAILED\n" in done.err
    assert "[s]: CREATE_FAILED  Resource CREATE failed\n" in done.err
    assert zonda("stack", "why", "s").out.count(reason) == 1
