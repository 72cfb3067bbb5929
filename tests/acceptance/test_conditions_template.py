"""A template that nobody here wrote, unmodified: conditions that flip with an update."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_conditions_flip_with_the_parameters(zonda: Any, corpus: Path) -> None:
    template = corpus / "heat-templates" / "hot" / "condition.yaml"
    zonda.run("stack", "create", "c", "-t", template)
    assert zonda.state("c") == "CREATE_COMPLETE"
    before = zonda.resources("c")
    assert sorted(before) == ["not_shannxi_res", "test_res", "test_res1"]
    assert zonda.outputs("c") == {
        "res_value": None,
        "test_res_value": "env_is_test",
        "prod_resource": "no_prod_res",
        "test_res1_value": "just in test env",
        "beijing_prod_res": "no_prod_res",
    }

    flipped = ("--parameter", "env_type=prod", "--parameter", "zone=xian")
    zonda.run("stack", "update", "c", "-t", template, *flipped)
    assert zonda.state("c") == "UPDATE_COMPLETE"
    after = zonda.resources("c")
    assert sorted(after) == ["prod_res", "shannxi_res", "test_res"]
    kept = "physical_resource_id"
    assert after["test_res"][kept] == before["test_res"][kept], "updated in place"
    outputs = zonda.outputs("c")
    assert outputs["res_value"] == "prod_res"
    assert outputs["test_res_value"] == "env_is_prod"
    assert outputs["prod_resource"] == after["prod_res"][kept]
    assert outputs["test_res1_value"] == "no_test_res1"

    zonda.run("stack", "delete", "c", "--yes")
    assert zonda.data("stack", "list") == []
