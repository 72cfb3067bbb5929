"""The sections for ``zonda serve``: each fault has its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.settings import settings
from zonda.hooks.errors import UsageErrors


def load(tmp_path: Path, text: str) -> settings.Settings:
    (tmp_path / "zonda.toml").write_text(text)
    return settings.load_settings({"home": str(tmp_path)}, {})


def test_good_sections_are_taken(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        '[policy]\n"stacks:delete" = "role:admin or owner"\n'
        '[policy.resource_types]\n"OS::Nova::*" = "role:admin"\n'
        "[quotas]\nstacks = 3\nrequests = 1.5\n"
        '[projects."*"]\nresource_types = []\nrunners = ["lab"]\nsecret_sources = ["env:A"]\n'
        "[projects.alpha.quotas]\nstreams = 0\n",
    )
    assert found.policy["stacks:delete"] == "role:admin or owner"
    assert found.quotas == {"stacks": 3, "requests": 1.5}
    assert found.projects["alpha"] == {"quotas": {"streams": 0}}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[policy]\n\n"stacks:delete" = "role:admin or"\n', 3, "stacks:delete is no rule: it ends"),
        ('[policy]\n"stacks:delete" = 3\n', 2, "must be a rule"),
        (
            '[policy]\n"a:b"="owner"\n[policy.resource_types]\n"OS::X" = "o"\n',
            4,
            "OS::X is no rule",
        ),
        ("x = 1\n[quotas]\nstack = 3\n", 3, "stack is no quota (did you mean stacks?)"),
        ("[quotas]\nstacks = -1\n", 2, "whole number"),
        ("[quotas]\nstacks = 1.5\n", 2, "whole number"),
        ("[quotas]\nstacks = true\n", 2, "must be a number"),
        ('[quotas]\nrequests = "1"\n', 2, "must be a number"),
        ('[projects."*".quotas]\n\nsnapshots = "a"\n', 3, "must be a number"),
        ('[projects.alpha]\nresource_types = "x"\n', 2, "must be a list of texts"),
        ("[projects.alpha]\nresource_type = []\n", 2, "did you mean resource_types?"),
        ("[projects]\nalpha = 3\n", 2, "must be a section [projects.alpha]"),
        ('[projects.alpha]\nrunners = "lab"\n', 2, "must be a list of texts"),
        ("[projects.alpha]\nsecret_source = []\n", 2, "did you mean secret_sources?"),
        ("[projects.alpha]\nplugins = []\n", 2, "is nothing that a project has"),
        ("policy = 3\n", 1, "must be a section"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(UsageErrors) as error:
        load(tmp_path, text)
    faults = [str(each) for each in error.value.errors]
    assert any(f"zonda.toml:{line}: " in fault and says in fault for fault in faults), faults
