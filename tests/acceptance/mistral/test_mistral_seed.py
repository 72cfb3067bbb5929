"""The template that introduced the external resource, its workflows in the same stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "mistral" / "custom.yaml"


def test_the_published_template_lives_its_whole_life_at_mistral(stage: Any, mistral: Any) -> None:
    def ran(verb: str) -> list[dict[str, Any]]:
        return list(mistral.executions(f"seed-{verb}_workflow"))

    stage.run("stack", "create", "seed", "-t", EXAMPLE)
    [made] = ran("create")
    assert made["input"] == {"foo1": "123", "foo2": 456}
    assert made["params"]["target"] == "create_my_custom_thing"
    assert "heat_extresource_data" not in made["params"].get("env", {})
    assert stage.outputs("seed")["thing"] == "thing-456"
    outputs = {"resource_id": "thing-456", "made_as": "create_my_custom_thing"}
    assert stage.outputs("seed")["outputs"] == outputs

    stage.run("stack", "update", "seed", "--existing")
    [changed] = ran("update")
    assert changed["params"]["env"] == {"heat_extresource_data": outputs}
    merged = {**outputs, "label": "thing-456 is 123"}
    assert stage.outputs("seed")["outputs"] == merged, "an update need not repeat outputs"

    stage.run("stack", "update", "seed", "--existing", "--parameter", "size=789")
    assert {one["input"]["foo2"] for one in ran("create")} == {456, 789}
    [removed] = ran("delete")
    assert removed["input"]["foo2"] == 456
    assert removed["params"]["env"] == {"heat_extresource_data": merged}
    assert removed["output"] == {"removed": "thing-456"}
    assert stage.outputs("seed")["thing"] == "thing-789"
    assert len(ran("update")) == 1, "what is replaced is not updated"

    stage.run("stack", "delete", "seed", "--yes")
    assert sorted(one["output"]["removed"] for one in ran("delete")) == ["thing-456", "thing-789"]
    states = {one["state"] for one in mistral.executions("seed-")}
    assert states == {"SUCCESS"}
    names = mistral.ask("GET", "workflows?fields=name")["workflows"]
    assert not [one["name"] for one in names if one["name"].startswith("seed-")]
