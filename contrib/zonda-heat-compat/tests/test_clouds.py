"""The cloud of a stack, without one: nothing here signs in anywhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda_heat_compat import cloud, plugin


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OS_CLOUD", "OS_AUTH_URL", "OS_CLIENT_CONFIG_FILE", cloud.CLOUDS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cloud, "_FOLDERS", (tmp_path,))


assert plugin, "it lends the name heat"


def name_of(*whose: str) -> str | None:
    found = cloud.find_cloud(*whose)
    return None if found is None else found.name


def test_without_any_setting_there_is_no_cloud() -> None:
    assert name_of("default", "web") is None


@pytest.mark.parametrize("name", ["OS_AUTH_URL", "OS_CLIENT_CONFIG_FILE"])
def test_variables_name_a_cloud_for_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "anything")
    assert name_of("default", "web") == ""
    monkeypatch.setenv("OS_CLOUD", "mine")
    assert name_of("default", "web") == "mine"


def test_a_file_beside_it_is_enough(tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").write_text("clouds: {}")
    assert name_of("default", "web") == ""


def test_clouds_are_of_a_project_or_of_one_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_CLOUD", "mine")
    monkeypatch.setenv(cloud.CLOUDS, "team=one, team/web=two ,")
    assert name_of("team", "web") == "two"
    assert name_of("team", "other") == "one"
    assert name_of("strangers", "web") is None, "OS_CLOUD is nobody else's then"
    assert name_of("", "") is None


def test_a_context_without_a_cloud_knows_the_project_and_nothing_else() -> None:
    from heat.common.context import RequestContext

    stack = SimpleNamespace(project="team", name="web")
    operation = SimpleNamespace(id="8d0aa8a4-8d3f-7c4e-9a55-5d3c1c6f3b10")
    lent = SimpleNamespace(stack=stack, root_stack="web", is_shared=False, operation=operation)
    context = RequestContext(lent)
    assert context.request_id == "req-8d0aa8a4-8d3f-7c4e-9a55-5d3c1c6f3b10"
    assert (context.tenant_id, context.project_name) == ("team", "team")
    assert context.keystone_session is context.auth_token is context.region_name is None
    assert context.cache(dict) is context.cache(dict)


def test_what_a_cloud_says_is_in_no_copy_of_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    from heat.common.context import RequestContext

    class Fake(cloud.Cloud):
        def tell(self, name: str) -> Any:
            return f"the {name}"

    context = RequestContext(SimpleNamespace(stack=None), cloud=Fake("x"))
    assert (context.auth_token, context.tenant_id) == ("the auth_token", "the tenant_id")
    assert "the " not in repr(context.to_dict())


@pytest.mark.filterwarnings("ignore")
def test_a_section_that_is_missing_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")
    file = tmp_path / "clouds.yaml"
    file.write_text(
        "clouds: {mine: {auth: {auth_url: 'http://127.0.0.1:9/v3', username: u, password: s3cret,"
        " project_name: p}, region_name: North}}"
    )
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    with pytest.raises(cloud.PluginError, match="nowhere cannot be used"):
        assert cloud.Cloud("nowhere").config
    assert cloud.Cloud("mine").tell("region_name") == "North"
    assert cloud.Cloud("mine").tell("auth_url") == "http://127.0.0.1:9/v3"
    assert cloud.Cloud("mine").tell("password") is None


def test_the_account_of_a_server_for_several_projects_is_nobodys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OS_CLOUD", "mine")
    assert cloud.find_cloud("team", "web", is_shared=True) is None
    monkeypatch.setenv(cloud.CLOUDS, "team=one")
    found = cloud.find_cloud("team", "web", is_shared=True)
    assert found is not None
    assert found.name == "one"


def test_a_nested_stack_lives_in_the_cloud_of_the_stack_at_the_top(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from heat.common.context import RequestContext

    monkeypatch.setenv(cloud.CLOUDS, "team/web=two")
    stack = SimpleNamespace(project="team", name="web-group-abc")
    lent = SimpleNamespace(stack=stack, root_stack="web", is_shared=False)
    assert RequestContext(lent).cloud.name == "two"


def test_a_context_that_belongs_to_no_stack_has_no_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    from heat.common.context import get_admin_context

    monkeypatch.setenv("OS_CLOUD", "mine")
    assert get_admin_context().cloud is None
