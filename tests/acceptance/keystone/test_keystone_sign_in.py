"""Sign-in at a real Keystone: through the pages, by ``clouds.yaml``, by narrow credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from .conftest import Asker, Cloud

TEMPLATE = "heat_template_version: 2018-08-31\n"
CLOUDS = """
clouds:
  {cloud}:
    auth:
      auth_url: {url}
      username: {name}
      password: {password}
      project_name: {project}
      user_domain_id: default
      project_domain_id: default
"""


@pytest.fixture
def site(cloud: Cloud, zonda: Any) -> Iterator[str]:
    """The URL of a server that asks Keystone."""
    zonda.configure(
        f'identity = "keystone"\nkeystone_url = "{cloud.url}"\n'
        'keystone_password = "heat-password"\nlog = "engine.log"\n'
    )
    process = zonda.start("serve", "--address", "127.0.0.1:0")
    line = next(line for line in process.stdout if "zonda at " in line)
    yield line.partition("zonda at ")[2].partition(";")[0].strip()
    process.terminate()
    assert process.wait(60) == 0


def sign_in(site: str, **login: str) -> tuple[requests.Session, requests.Response]:
    """A browser's session, and the answer to its sign-in."""
    browser = requests.Session()
    form = browser.get(f"{site}/ui/sign-in", timeout=60).text
    [csrf] = re.findall(r'name="csrf" value="([^"]*)"', form)
    answer = browser.post(
        f"{site}/ui/sign-in",
        {"csrf": csrf, **login},
        headers={"Origin": site},
        timeout=60,
        allow_redirects=False,
    )
    return browser, answer


def test_a_password_of_keystone_begins_a_session_of_the_pages(
    cloud: Cloud, zonda: Any, site: str
) -> None:
    ann, ben = cloud.make_user("member"), cloud.make_user("member")
    login = {"user": ann["name"], "password": ann["name"], "project": ann["project"]}
    browser, answer = sign_in(site, **login)
    assert answer.status_code == 303, answer.text
    shown = browser.get(f"{site}/ui/", timeout=60)
    assert shown.url == f"{site}/ui/{ann['project_id']}/stacks"
    assert ann["name"] in shown.text
    assert ann["project"] in shown.text
    assert browser.get(f"{site}/ui/{ben['project_id']}/stacks", timeout=60).status_code == 403
    for wrong in ({"password": "no"}, {"user": "none"}, {"project": ben["project"]}):
        _, answer = sign_in(site, **{**login, **wrong})
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    log = (zonda.home / "engine.log").read_text()
    assert f"user={ann['name']}" in log
    assert "password" not in log


def test_a_user_of_another_domain_signs_in_with_that_domain(cloud: Cloud, site: str) -> None:
    ann = cloud.make_user("member")
    domain = cloud.make("domain", name="north")
    project = cloud.make("project", name="north-project", domain_id=domain)
    user = cloud.make("user", name=ann["name"], password="north", domain_id=domain)
    cloud.assign("member", user, project)
    login = {"user": ann["name"], "password": "north", "project": "north-project"}
    browser, answer = sign_in(site, **login, domain=domain)
    assert answer.status_code == 303, answer.text
    assert browser.get(f"{site}/ui/", timeout=60).url == f"{site}/ui/{project}/stacks"
    assert sign_in(site, **login)[1].status_code == 403


def test_a_keystone_that_is_down_is_told_by_the_sign_in(cloud: Cloud, site: str) -> None:
    ann = cloud.make_user("member")
    login = {"user": ann["name"], "password": ann["name"], "project": ann["project"]}
    cloud.kill()
    try:
        _, answer = sign_in(site, **login)
        assert answer.status_code == 503
        assert "Keystone" in answer.text
    finally:
        cloud.start()
    assert sign_in(site, **login)[1].status_code == 303


@pytest.mark.parametrize("source", ["clouds.yaml", "variables"])
def test_the_command_line_has_its_token_of_keystone(
    cloud: Cloud, zonda: Any, site: str, source: str
) -> None:
    pytest.importorskip("openstack.config")
    ann = cloud.make_user("member")
    password = ann["name"]
    user = zonda.home / "user"
    user.mkdir()
    known = {**zonda.environment, "ZONDA_HOME": str(user), "HOME": str(user), "ZONDA_URL": site}

    def run(secret: str, *words: str, code: int = 0) -> Any:
        if source == "variables":
            values = {
                "OS_AUTH_URL": cloud.url,
                "OS_USERNAME": ann["name"],
                "OS_PASSWORD": secret,
                "OS_PROJECT_NAME": ann["project"],
                "OS_USER_DOMAIN_ID": "default",
                "OS_PROJECT_DOMAIN_ID": "default",
            }
        else:
            text = CLOUDS.format(cloud="mine", url=cloud.url, password=secret, **ann)
            (user / "clouds.yaml").write_text(text)
            values = {"OS_CLOUD": "mine", "OS_CLIENT_CONFIG_FILE": str(user / "clouds.yaml")}
        return zonda.run(*words, code=code, env={**known, **values}, cwd=user)

    (user / "empty.yaml").write_text(TEMPLATE)
    run(password, "stack", "create", "mine", "-t", "empty.yaml")
    assert "mine" in run(password, "stack", "list").stdout
    token = cloud.log_in(ann["name"], password, ann["project"])
    place = f"{site}/v1/{ann['project_id']}/stacks/mine"
    stack = requests.get(place, headers={"X-Auth-Token": token}, timeout=60).json()["stack"]
    assert stack["stack_owner"] == ann["name"]
    refused = run("wrong-secret", "stack", "list", code=2)
    assert "OpenStack's identity service gives no token" in refused.stderr
    assert "wrong-secret" not in refused.stderr


def test_an_application_credential_for_another_service_is_refused(
    cloud: Cloud, asker: Asker
) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    rule = {"service": "compute", "method": "GET", "path": "/v2.1/servers"}
    wanted = {"name": "narrow", "access_rules": [rule]}
    path = f"/users/{ann['user_id']}/application_credentials"
    reply = cloud.call("POST", path, {"application_credential": wanted}, **{"X-Auth-Token": token})
    made = reply.json()["application_credential"]
    proof = {"id": made["id"], "secret": made["secret"]}
    method = "application_credential"
    assert asker.who(cloud.issue({"identity": {"methods": [method], method: proof}})) is None
