"""The table of Heat's types for OpenStack names all of them, and none that failed."""

from __future__ import annotations

import os
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
try:
    version("openstack-heat")
except PackageNotFoundError:
    if os.environ.get("HEAT_COMPAT_OPENSTACK_TESTS") == "required":
        raise
    pytest.skip("pip install 'contrib/zonda-heat-compat[openstack]'", allow_module_level=True)

from zonda_heat_compat import installed, plugin

assert plugin, "it lends the name heat"

PAGE = Path(__file__).parent.parent / "docs" / "openstack-types.md"
ROW = re.compile(r"^\| `(\S+)` \| (made|validated only|not possible) \| (.*) \|$", re.MULTILINE)


def test_the_page_has_a_row_for_each_type() -> None:
    text = PAGE.read_text()
    rows = {name: (state, reason) for name, state, reason in ROW.findall(text)}
    release = re.search(r"of openstack-heat (\S+),", text)
    assert release is not None
    if release[1] == version("openstack-heat"):
        assert set(rows) == {each for each in installed.list_types() if each.startswith("OS::")}
    assert [name for name, (state, why) in rows.items() if state != "made" and not why] == []
    assert text.count("\n| `") == len(rows)
