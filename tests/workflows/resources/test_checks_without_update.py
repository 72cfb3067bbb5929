"""Resources without UPDATE that ``stack check`` found changed are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workflows.resources.test_drift_repairs import EXTERNAL, MANIFEST, a_site, without_update


@pytest.mark.parametrize("kind", ["external", "manifest"])
@pytest.mark.parametrize("can_update", [True, False])
def test_an_update_after_a_check_never_ends_well_with_nothing_done(
    tmp_path: Path, kind: str, can_update: bool
) -> None:
    site = a_site(tmp_path, kind, can_update)
    site.world.disks["disk1"]["size"] = 9
    assert site.stack.check().state == "CHECK_FAILED"
    template = EXTERNAL if kind == "external" else MANIFEST
    done = site.stack.update(template if can_update else without_update(template))
    assert done.state == "UPDATE_COMPLETE"
    assert site.world.sent == (["up"] if can_update else ["mk", "rm"])
    assert site.verdict == "IN_SYNC"
