"""A deletion takes the steps that Heat's own types leave out."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda_heat_compat import deletion, plugin

assert plugin, "it lends the name heat"


@pytest.mark.parametrize(("id", "reset"), [("stack-quota-abc", ["p"]), (None, [])])
def test_the_quota_of_the_project_is_reset(id: str | None, reset: list[str]) -> None:
    from heat.engine.resources.openstack.neutron.quota import NeutronQuota

    removed: list[str] = []

    class Quota(NeutronQuota):  # type: ignore[misc]
        resource_id = id

        def __init__(self) -> None:
            self.properties: Any = {"project": "demo"}

        def client(self) -> Any:
            return SimpleNamespace(delete_quota=removed.append)

        def client_plugin(self, name: str = "") -> Any:
            return SimpleNamespace(
                ignore_not_found=contextlib.nullcontext(), get_project_id={"demo": "p"}.get
            )

    Quota.__module__ = NeutronQuota.__module__
    with deletion.complete_deletion(Quota()):
        assert removed == []
    assert removed == reset


@pytest.mark.parametrize(("id", "disabled"), [("d", ["d"]), (None, [])])
def test_a_domain_is_disabled_before_it_is_removed(id: str | None, disabled: list[str]) -> None:
    from heat.engine.resources.openstack.keystone.domain import KeystoneDomain

    changed: list[str] = []

    class Domain(KeystoneDomain):  # type: ignore[misc]
        resource_id = id

        def __init__(self) -> None:
            """Without a stack."""

        def client(self) -> Any:
            def update(domain: str, enabled: bool) -> None:
                assert not enabled
                changed.append(domain)

            return SimpleNamespace(domains=SimpleNamespace(update=update))

        def client_plugin(self, name: str = "") -> Any:
            return SimpleNamespace(ignore_not_found=contextlib.nullcontext())

    Domain.__module__ = KeystoneDomain.__module__
    with deletion.complete_deletion(Domain()):
        assert changed == disabled
