"""Mode ``keystone`` against a real Keystone: whose a token is, and until when that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from zonda.core.api.identity.callers import IdentityUnavailable
from zonda.core.api.identity.keystone import KEPT, REFUSED

from .conftest import Asker, Cloud


def test_a_token_is_of_a_user_in_a_project_with_roles(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member", "reader")
    found = asker.who(cloud.log_in(ann["name"], ann["name"], ann["project"]))
    assert (found.user_id, found.user) == (ann["user_id"], ann["name"])
    assert (found.project_id, found.project) == (ann["project_id"], ann["project"])
    assert {"member", "reader"} <= found.roles
    assert not found.is_admin
    assert asker.who(cloud.admin).is_admin


def test_a_token_of_nobody_is_refused(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    for wrong in ("x", token[:-4], token + "AAAA", "gAAAAAB" + "x" * 200):
        assert asker.who(wrong) is None


def test_a_token_without_a_project_is_refused(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    assert asker.who(cloud.log_in(ann["name"], ann["name"])) is None
    assert asker.who(cloud.log_in("admin", "admin", system={"all": True})) is None


def test_a_revoked_token_counts_for_five_minutes_at_most(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    assert asker.who(token) is not None
    cloud.revoke(token)
    assert asker.who(token) is not None
    asker.clock.later += KEPT + 1
    assert asker.who(token) is None


def test_a_token_that_was_revoked_before_is_refused(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    cloud.revoke(token)
    assert asker.who(token) is None


def test_no_token_counts_past_its_expiry(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    asker.clock.later = 3600 - KEPT / 2  # tokens of this Keystone live for an hour
    assert asker.who(token) is not None
    asker.clock.later = 3601.0
    assert asker.who(token) is None


@pytest.mark.parametrize("change", ["user", "project", "role"])
def test_what_the_administrator_takes_away_is_gone(cloud: Cloud, asker: Asker, change: str) -> None:
    ann = cloud.make_user("member")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    assert asker.who(token) is not None
    if change == "role":
        [member] = cloud.call("GET", "/roles?name=member").json()["roles"]
        path = f"/projects/{ann['project_id']}/users/{ann['user_id']}/roles/{member['id']}"
        assert cloud.call("DELETE", path).ok
    else:
        path = f"/{change}s/{ann[f'{change}_id']}"
        assert cloud.call("PATCH", path, {change: {"enabled": False}}).ok
    asker.clock.later += KEPT + 1
    assert asker.who(token) is None


def test_an_application_credential_has_its_own_roles(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member", "reader")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    wanted = {"name": "ci", "roles": [{"name": "reader"}]}
    path = f"/users/{ann['user_id']}/application_credentials"
    reply = cloud.call("POST", path, {"application_credential": wanted}, **{"X-Auth-Token": token})
    made = reply.json()["application_credential"]
    proof = {"id": made["id"], "secret": made["secret"]}
    method = "application_credential"
    found = asker.who(cloud.issue({"identity": {"methods": [method], method: proof}}))
    assert (found.user, found.project_id) == (ann["name"], ann["project_id"])
    assert found.roles == {"reader"}


def test_a_trust_gives_its_roles_in_the_project_of_the_trustor(cloud: Cloud, asker: Asker) -> None:
    ann, ben = cloud.make_user("member"), cloud.make_user("reader")
    token = cloud.log_in(ann["name"], ann["name"], ann["project"])
    wanted = {
        "trustor_user_id": ann["user_id"],
        "trustee_user_id": ben["user_id"],
        "project_id": ann["project_id"],
        "impersonation": False,
        "roles": [{"name": "member"}],
    }
    reply = cloud.call("POST", "/OS-TRUST/trusts", {"trust": wanted}, **{"X-Auth-Token": token})
    scope = {"OS-TRUST:trust": {"id": reply.json()["trust"]["id"]}}
    found = asker.who(cloud.log_in(ben["name"], ben["name"], **scope))
    assert (found.user, found.project_id) == (ben["name"], ann["project_id"])
    assert "member" in found.roles


def test_the_token_of_the_service_is_renewed(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    tokens = [cloud.log_in(ann["name"], ann["name"], ann["project"]) for _ in range(2)]
    assert asker.who(tokens[0]) is not None
    cloud.revoke(asker.keystone._own)
    assert asker.who(tokens[1]) is not None


def test_a_service_with_a_wrong_password_makes_nobody_known(cloud: Cloud) -> None:
    with pytest.raises(IdentityUnavailable, match="refuses the user of this service") as error:
        Asker(cloud, "wrong").who(cloud.admin)
    assert "keystone_password" in str(error.value.hint)
    assert "wrong" not in str(error.value)


def test_who_is_known_goes_on_while_keystone_is_down(cloud: Cloud, asker: Asker) -> None:
    ann = cloud.make_user("member")
    known, other = (cloud.log_in(ann["name"], ann["name"], ann["project"]) for _ in range(2))
    assert asker.who(known) is not None
    cloud.kill()
    try:
        assert asker.who(known) is not None
        with pytest.raises(IdentityUnavailable, match="cannot be asked"):
            asker.who(other)
    finally:
        cloud.start()
    asker.clock.later += REFUSED
    assert asker.who(other) is not None


def test_the_server_answers_by_what_keystone_says(
    cloud: Cloud, zonda: Any, until: Callable[..., Any]
) -> None:
    zonda.configure(
        f'identity = "keystone"\nkeystone_url = "{cloud.url}"\n'
        'keystone_password = "heat-password"\nlog = "off"\n'
    )
    process = zonda.start("serve", "--address", "127.0.0.1:0")
    line = next(line for line in process.stdout if "zonda at " in line)
    url = line.partition("zonda at ")[2].partition(";")[0].strip()
    ann, ben = cloud.make_user("member"), cloud.make_user("reader")

    def ask(method: str, user: dict[str, str], project: str, body: Any = None) -> Any:
        token = cloud.log_in(user["name"], user["name"], user["project"])
        headers = {"X-Auth-Token": token}
        place = f"{url}/v1/{project}/stacks"
        return requests.request(method, place, json=body, headers=headers, timeout=60)

    stack = {"stack_name": "s", "template": {"heat_template_version": "2018-08-31"}}
    made = ask("POST", ann, ann["project_id"], stack)
    assert made.status_code == 201, made.text
    assert [row["stack_name"] for row in ask("GET", ann, ann["project_id"]).json()["stacks"]] == [
        "s"
    ]
    assert ask("GET", ben, ben["project_id"]).json() == {"stacks": []}
    assert ask("GET", ben, ann["project_id"]).status_code == 403
    assert ask("POST", ben, ben["project_id"], stack).status_code == 403
    nobody = requests.get(f"{url}/v1/{ann['project_id']}/stacks", timeout=60)
    assert nobody.status_code == 401
    assert nobody.headers["WWW-Authenticate"] == f'Keystone uri="{cloud.url}"'
    process.terminate()
    assert process.wait(60) == 0
