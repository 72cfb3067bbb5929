"""Signal URLs: who has one may signal one resource, and nothing else."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from zonda.core.api.service.rates import Rates
from zonda.core.store.values.signal_tokens import SignalToken, sign_token
from zonda.core.system.ids import Ids
from zonda.hooks.testing import FakeClock

from ..conftest import BASE
from .conftest import Signals

HOT = {"heat_template_version": "2018-08-31"}
ELSEWHERE = "0197f3c0-0000-7000-8000-000000000001"


def waiting(transport: str = "TOKEN_SIGNAL", count: int = 1) -> dict[str, Any]:
    return {
        **HOT,
        "resources": {
            "handle": {
                "type": "OS::Heat::WaitConditionHandle",
                "properties": {"signal_transport": transport},
            },
            "wait": {
                "type": "OS::Heat::WaitCondition",
                "properties": {
                    "handle": {"get_resource": "handle"},
                    "timeout": 600,
                    "count": count,
                },
            },
        },
        "outputs": {"data": {"value": {"get_attr": ["wait", "data"]}}},
    }


AWS = {
    **HOT,
    "resources": {
        "handle": {"type": "AWS::CloudFormation::WaitConditionHandle"},
        "wait": {
            "type": "AWS::CloudFormation::WaitCondition",
            "properties": {"Handle": {"get_resource": "handle"}, "Timeout": 600},
        },
    },
    "outputs": {"url": {"value": {"get_resource": "handle"}}},
}

HANDLE = {**HOT, "resources": {"handle": {"type": "OS::Heat::WaitConditionHandle"}}}


def alarm_url(signals: Signals, path: str) -> str:
    found = json.loads(signals.find_url(path, "handle", "signal"))
    return str(found["alarm_url"])


@pytest.mark.parametrize("transport", ["CFN_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_signal_url_ends_a_wait(signals: Signals, transport: str, method: str) -> None:
    name = f"w-{transport[:4]}-{method}"
    path = signals.api.create(name, waiting(transport), wait=False)
    url = alarm_url(signals, path)
    assert url.startswith(f"{BASE}/signal/v1/")
    answer = signals(url, b'{"status": "SUCCESS", "data": "d"}', method)
    assert (answer.status, answer.body) == (200, None)
    signals.until(path, "CREATE_COMPLETE")
    shown = signals.api("GET", f"{path}/outputs/data").body["output"]["output_value"]
    assert json.loads(shown) == {"1": "d"}


def test_the_reference_of_an_aws_handle_is_its_url(signals: Signals) -> None:
    path = signals.api.create("aws", AWS, wait=False)
    url = signals.find_url(path, "handle", "Url")
    bad = signals(url, b'{"Status": "SUCCESS"}', "PUT")
    assert (bad.status, bad.message) == (
        400,
        "ValueError: resources.handle: Metadata format invalid",
    )
    keys = {"Status": "SUCCESS", "Reason": "", "Data": "", "UniqueId": "1"}
    assert signals(url, json.dumps(keys).encode(), "PUT").status == 200
    signals.until(path, "CREATE_COMPLETE")
    values = signals.app.stacks.make_values()
    [output] = values.outputs(path.rpartition("/")[2], reveal=True)
    assert output.value == url


def test_no_answer_of_the_api_shows_a_signal_url(signals: Signals) -> None:
    path = signals.api.create("shown", AWS, wait=False)
    token = signals.find_url(path, "handle", "Url").rpartition("/")[2]
    for part in ("", "/resources", "/resources/handle", "/resources/wait", "/events", "/export"):
        shown = signals.api("GET", f"{path}{part}")
        assert shown.status == 200
        assert token not in json.dumps(shown.body), part
    shown = signals.api("GET", f"{path}/outputs/url").body["output"]
    assert shown["output_value"] == "******"


def test_curl_cli_is_the_command_of_heat(signals: Signals) -> None:
    path = signals.api.create("curl", waiting(), wait=False)
    token, endpoint = (signals.find_url(path, "handle", name) for name in ("token", "endpoint"))
    assert endpoint == f"{BASE}/v1/p1{path}/resources/handle/signal"
    curl = signals.find_url(path, "handle", "curl_cli")
    assert curl == (
        f"curl -i -X POST -H 'X-Auth-Token: {token}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {endpoint}"
    )
    assert json.loads(signals.find_url(path, "handle", "signal")) == {
        "alarm_url": endpoint,
        "token": token,
    }
    answer = signals(endpoint, b'{"status": "SUCCESS"}', headers={"x-auth-token": token})
    assert (answer.status, answer.body) == (200, None)
    signals.until(path, "CREATE_COMPLETE")


def test_the_token_of_a_handle_is_good_for_its_signal_alone(signals: Signals) -> None:
    mine = signals.api.create("mine", waiting(count=2), wait=False)
    other = signals.api.create("other", HANDLE)
    token = {"x-auth-token": signals.find_url(mine, "handle", "token")}
    elsewhere = signals.api.become("p2").create("theirs", HANDLE)
    signal = "/resources/handle/signal"
    for method, url, status in (
        ("POST", f"/v1/p1{other}{signal}", 403),
        ("POST", f"/v1/p2{elsewhere}{signal}", 403),
        ("POST", f"/v1/p2{mine}{signal}", 403),
        ("POST", f"/v1/p1{mine}/resources/wait/signal", 403),
        ("GET", f"/v1/p1{mine}", 403),
        ("GET", "/v1/p1/stacks", 403),
        ("GET", f"/v1/p1{mine}/resources/handle", 403),
        ("GET", f"/v1/p1{mine}/resources/handle/metadata", 403),
        ("GET", "/v1/p1/stacks/mine", 403),
        ("DELETE", f"/v1/p1{mine}", 403),
        ("POST", "/v1/p1/stacks", 403),
        ("GET", "/v1/p1/software_deployments/metadata/x", 403),
    ):
        assert signals(f"{BASE}{url}", b"", method, token).status == status, url
    assert signals(f"{BASE}/v1/p1{mine}{signal}", b"{}", headers=token).status == 200


def test_wrong_tokens_of_every_kind_get_the_same_answer(signals: Signals) -> None:
    path = signals.api.create("wrong", waiting("CFN_SIGNAL"), wait=False)
    url = alarm_url(signals, path)
    base, _, token = url.rpartition("/")
    payload, _, code = token.partition(".")
    key = signals.app.store.sealer.signal_keys[0]
    row = next(row for row in signals.app.reader.resource_rows(path[-36:]) if row.name == "handle")
    other = base64.urlsafe_b64encode(bytes(26)).decode().rstrip("=")
    expired = SignalToken("signal", row.id, int(signals.app.clock.now()) - 1)
    wrong = {
        "empty": "",
        "short": token[:-1],
        "long": token + "A",
        "flipped": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "payload": f"{other}.{code}",
        "no-dot": token.replace(".", ""),
        "two-dots": f"{token}.{code}",
        "padding": f"{payload}=.{code}",
        "slash": f"{token}/",
        "not-ascii": "\u00fc" + token[1:],
        "upper": token.upper(),
        "expired": sign_token(key, expired),
        "unknown": sign_token(key, SignalToken("signal", ELSEWHERE)),
        "other-key": sign_token(bytes(32), SignalToken("signal", row.id)),
    }
    answers = {
        name: signals(f"{base}/{text}", b"{broken", method)
        for name, text in wrong.items()
        for method in ("POST", "PUT", "GET", "DELETE", "OPTIONS")
    }
    seen = {(each.status, json.dumps(each.body), str(each.headers)) for each in answers.values()}
    assert len(seen) == 1, answers
    assert next(iter(answers.values())).status == 404
    assert signals(url, b"{}").status == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(b"{", {}, 400, id="truncated"),
        pytest.param(b"[1]", {}, 400, id="list"),
        pytest.param(b'"SUCCESS"', {}, 400, id="text"),
        pytest.param('{"status": "SUCCESS"}'.encode("utf-16"), {}, 400, id="utf-16"),
        pytest.param(b'{"reason": "\xff"}', {}, 400, id="not-utf-8"),
        pytest.param(b'{"reason": "\\ud800"}', {}, 400, id="half-a-pair"),
        pytest.param(b"{}", {"content-encoding": "gzip"}, 400, id="compressed"),
        pytest.param(b'{"a": ' * 500 + b"1" + b"}" * 500, {}, 400, id="deep"),
        pytest.param(b'{"reason": "' + b"x" * 65_536 + b'"}', {}, 413, id="large"),
        pytest.param(b'{"unset_hook": "pre-create"}', {}, 403, id="breakpoint"),
        pytest.param(b'{"status": "MAYBE"}', {}, 400, id="another-status"),
    ],
)
def test_a_bad_body_is_refused_and_counts_for_nothing(
    signals: Signals, body: bytes, headers: dict[str, str], status: int
) -> None:
    known = signals.api.stacks.get("bodies")
    if known is None:
        known = signals.api.create("bodies", waiting("CFN_SIGNAL", 1), wait=False)
        signals.api.stacks["bodies"] = known
    answer = signals(alarm_url(signals, known), body, headers=headers)
    assert answer.status == status, answer.body
    assert signals.api.state(known) == "CREATE_IN_PROGRESS"


def test_a_signal_url_is_refused_after_sixty_requests_in_a_minute(
    signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = alarm_url(signals, signals.api.create("often", waiting("CFN_SIGNAL", 99), wait=False))
    interface = signals.api.dispatcher.find_target("POST", url.removeprefix(BASE)).interface
    clock = FakeClock()
    monkeypatch.setattr(interface, "_rates", Rates(clock))
    first = [signals(url, b"{}").status for _ in range(60)]
    assert first == [200] * 60
    refused = signals(url, b"{}")
    assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
    clock.advance(2)
    assert [signals(url, b"{}").status for _ in range(3)] == [200, 200, 429]


def test_a_url_ends_with_its_resource(signals: Signals) -> None:
    path = signals.api.create("ends", HANDLE)
    url = f"{BASE}/signal/v1/{signals.find_url(path, 'handle', 'token')}"
    assert signals(url, b"{}").status == 200
    assert signals.api("DELETE", path).status == 204
    signals.api.wait(path)
    assert signals(url, b"{}").status == 404


def test_a_replaced_handle_has_another_url(signals: Signals) -> None:
    template = {
        **HOT,
        "resources": {"handle": {"type": "OS::Heat::UpdateWaitConditionHandle"}},
    }
    path = signals.api.create("replaced", template)
    old = signals.find_url(path, "handle", "Url")
    assert signals.api("PUT", path, {"template": template}).status == 202
    signals.until(path, "UPDATE_COMPLETE")
    new = signals.find_url(path, "handle", "Url")
    assert new != old
    assert signals(old, b"{}", "PUT").status == 404
    keys = {"Status": "SUCCESS", "Reason": "", "Data": "", "UniqueId": "1"}
    assert signals(new, json.dumps(keys).encode(), "PUT").status == 200


def scaled(adjustment: int) -> dict[str, Any]:
    return {
        **HOT,
        "resources": {
            "group": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {
                    "min_size": 1,
                    "max_size": 3,
                    "resource": {"type": "OS::Heat::Value", "properties": {"value": "m"}},
                },
            },
            "policy": {
                "type": "OS::Heat::ScalingPolicy",
                "properties": {
                    "auto_scaling_group_id": {"get_resource": "group"},
                    "adjustment_type": "change_in_capacity",
                    "scaling_adjustment": adjustment,
                },
            },
        },
        "outputs": {"size": {"value": {"get_attr": ["group", "current_size"]}}},
    }


@pytest.mark.parametrize(
    ("attribute", "body"),
    [
        pytest.param("alarm_url", b'{"alarm_id": "a", "current": "alarm"}', id="alarm"),
        pytest.param("signal_url", b"", id="empty"),
        pytest.param("signal_url", b"no json \xff", id="anything"),
    ],
)
def test_an_alarm_scales_a_group_by_the_url_of_its_policy(
    signals: Signals, attribute: str, body: bytes
) -> None:
    path = signals.api.create(f"scaled-{len(body)}", scaled(1))
    url = signals.find_url(path, "policy", attribute)
    assert signals(url, body).status == 200
    signals.api.wait(path)
    shown = signals.api("GET", f"{path}/outputs/size").body["output"]["output_value"]
    assert int(shown) == 2


def test_urls_are_null_without_a_server(api: Any) -> None:
    path = api.create("alone", {**HANDLE})
    reader = Signals(api)
    for attribute in ("token", "endpoint"):
        assert reader.find_url(path, "handle", attribute) is None
    assert reader.find_url(path, "handle", "curl_cli").startswith("zonda stack resource signal")


def test_a_url_expires_after_the_days_of_the_setting(signals: Signals) -> None:
    path = signals.api.create("expiring", HANDLE)
    row = signals.app.reader.resource_rows(path[-36:])[0]
    key = signals.app.store.sealer.signal_keys[0]
    now = int(signals.app.clock.now())
    for expires, status in ((now + 60, 200), (now - 1, 404)):
        token = sign_token(key, SignalToken("signal", row.id, expires))
        assert signals(f"{BASE}/signal/v1/{token}", b"{}").status == status


def test_a_metadata_token_takes_no_signal(signals: Signals) -> None:
    path = signals.api.create("reads", HANDLE)
    row = signals.app.reader.resource_rows(path[-36:])[0]
    token = sign_token(signals.app.store.sealer.signal_keys[0], SignalToken("metadata", row.id))
    assert signals(f"{BASE}/signal/v1/{token}", b"{}").status == 403
    endpoint = f"{BASE}/v1/p1{path}/resources/handle/signal"
    assert signals(endpoint, b"{}", headers={"x-auth-token": token}).status == 403


def test_ids_have_the_form_that_tokens_need(signals: Signals) -> None:
    made = Ids(signals.app.clock).new()
    assert sign_token(bytes(32), SignalToken("signal", made))


def test_no_log_shows_a_signal_url(signals: Signals, caplog: pytest.LogCaptureFixture) -> None:
    path = signals.api.create("logged", waiting("CFN_SIGNAL", 9), wait=False)
    url = alarm_url(signals, path)
    with caplog.at_level("DEBUG"):
        signals(url, b"{}")
        signals(url, b"{")
        signals(f"{url}x", b"{}")
    fields = [getattr(record, "fields", {}) for record in caplog.records]
    said = [each for each in fields if each.get("operation") == "signals:send"]
    assert [each["status"] for each in said] == [200, 400]
    assert url[-79:] not in f"{caplog.text} {fields}"


def deployment(transport: str) -> dict[str, Any]:
    return {
        **HOT,
        "resources": {
            "server": {"type": "OS::Heat::DeployedServer"},
            "config": {
                "type": "OS::Heat::SoftwareConfig",
                "properties": {"config": "true", "outputs": [{"name": "said"}]},
            },
            "deployment": {
                "type": "OS::Heat::SoftwareDeployment",
                "properties": {
                    "config": {"get_resource": "config"},
                    "server": {"get_resource": "server"},
                    "signal_transport": transport,
                },
            },
        },
    }


@pytest.mark.parametrize(
    ("transport", "verb"),
    [("CFN_SIGNAL", "POST"), ("TEMP_URL_SIGNAL", "PUT"), ("HEAT_SIGNAL", "POST")],
)
def test_an_agent_polls_a_deployment_and_signals_while_it_is_created(
    signals: Signals, transport: str, verb: str
) -> None:
    path = signals.api.create(f"deployed-{transport}", deployment(transport), wait=False)
    url = signals.find_url(path, "server", "os_collect_config")["request"]["metadata_url"]
    while not (found := signals(url, b"", "GET")).body.get("deployments"):
        signals.app.clock.pause(0.1)
    assert (found.status, found.headers["Cache-Control"]) == (200, "no-store")
    inputs = {each["name"]: each["value"] for each in found.body["deployments"][0]["inputs"]}
    assert inputs["deploy_signal_verb"] == verb
    [shown] = signals.api("GET", f"{path}/resources/server/metadata").body["metadata"][
        "deployments"
    ]
    assert shown["inputs"] == found.body["deployments"][0]["inputs"]
    assert signals(url, b"{}").status == 403
    result = b'{"deploy_status_code": 0, "said": "done"}'
    assert signals(inputs["deploy_signal_id"], result, verb).status == 200
    signals.until(path, "CREATE_COMPLETE")
    assert signals.find_url(path, "deployment", "said") == "done"


def test_a_deployment_that_nobody_waits_for_has_no_url(signals: Signals) -> None:
    path = signals.api.create("no-signal", deployment("NO_SIGNAL"))
    url = signals.find_url(path, "server", "os_collect_config")["request"]["metadata_url"]
    [config] = signals(url, b"", "GET").body["deployments"]
    assert not [each for each in config["inputs"] if each["name"].startswith("deploy_signal_id")]


def test_the_reference_of_a_policy_of_aws_scales_its_group(signals: Signals) -> None:
    template = scaled(1)
    template["resources"]["policy"] = {
        "type": "AWS::AutoScaling::ScalingPolicy",
        "properties": {
            "AutoScalingGroupName": {"get_resource": "group"},
            "AdjustmentType": "ChangeInCapacity",
            "ScalingAdjustment": 1,
        },
    }
    template["outputs"]["url"] = {"value": {"get_resource": "policy"}}
    path = signals.api.create("scaled-aws", template)
    outputs = signals.app.stacks.make_values().outputs(path[-36:], reveal=True)
    [url] = [each.value for each in outputs if each.name == "url"]
    assert url == signals.find_url(path, "policy", "AlarmUrl")
    assert signals.api("GET", f"{path}/outputs/url").body["output"]["output_value"] == "******"
    assert signals(url, b"alarm").status == 200
    signals.api.wait(path)
    shown = signals.api("GET", f"{path}/outputs/size").body["output"]["output_value"]
    assert int(shown) == 2


def test_no_answer_of_the_api_shows_the_urls_of_a_deployment(signals: Signals) -> None:
    path = signals.api.create("leaks", deployment("CFN_SIGNAL"), wait=False)
    url = signals.find_url(path, "server", "os_collect_config")["request"]["metadata_url"]
    while not (found := signals(url, b"", "GET")).body.get("deployments"):
        signals.app.clock.pause(0.1)
    inputs = {each["name"]: each["value"] for each in found.body["deployments"][0]["inputs"]}
    tokens = [each.rpartition("/")[2] for each in (url, inputs["deploy_signal_id"])]
    [event, *_] = signals.api("GET", f"{path}/resources/deployment/events").body["events"]
    parts = ("", "/resources", "/resources/deployment", "/resources/server", "/events", "/export")
    paths = [f"{path}{part}" for part in parts]
    paths += [f"{path}/resources/deployment/events/{event['id']}", "/software_deployments"]
    for each in paths:
        shown = signals.api("GET", each)
        assert shown.status == 200
        assert not [token for token in tokens if token in json.dumps(shown.body)], each
