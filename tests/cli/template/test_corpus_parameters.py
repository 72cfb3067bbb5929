"""The parameters that TripleO's overcloud requires, no more and no less.

It is no part of the project: ``ZONDA_CORPUS`` names the folder of public templates. In it,
``overcloud/extra-env.yaml`` gives every parameter that is needed and that nobody else gives.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOM = Path(os.environ.get("ZONDA_CORPUS", Path(__file__).parents[4] / "shared" / "corpus"))
OVERCLOUD = ROOM / "tripleo" / "overcloud.yaml"
EXTRA = ROOM / "overcloud" / "extra-env.yaml"
#: Data of servers, which have defaults.
NOT_NEEDED = {"ControlPlaneVipData", "NodePortMap", "CtlplaneNetworkAttributes", "VipPortMap"}

pytestmark = pytest.mark.skipif(
    not (OVERCLOUD.is_file() and EXTRA.is_file()),
    reason="the corpus of templates is not here (set ZONDA_CORPUS)",
)


@pytest.mark.parametrize("extra", [False, True], ids=["as-published", "with-all-it-needs"])
def test_what_the_overcloud_must_be_given(zonda: Any, extra: bool) -> None:
    environments = [
        ROOM / "tripleo" / "overcloud-resource-registry-puppet.yaml",
        ROOM / "tripleo" / "environments" / "deployed-network-environment.yaml",
        *([EXTRA] if extra else []),
    ]
    options = [word for file in environments for word in ("-e", file)]
    limits = ("--set", "yaql_iterators=9000", "--set", "yaql_memory=900000")

    found = zonda(
        "template", "parameters", "-t", OVERCLOUD, *options, *limits, "--missing", "-f", "json"
    ).data

    needed = set(yaml.safe_load(EXTRA.read_text())["parameter_defaults"]) - NOT_NEEDED
    assert {each["name"] for each in found["parameters"]} == (set() if extra else needed)
    assert found["templates"] > 290
    assert found["not_looked_into"] == []
