"""``zonda runner check``: output and exit codes."""

from __future__ import annotations

import argparse
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.arguments import add_arguments
from zonda.core.cli.services import runner_check
from zonda.core.settings import settings


class Webhook(http.server.BaseHTTPRequestHandler):
    """A naive webhook; below ``/broken`` a page for people."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(dict(self.headers.items()))
        page = self.path.startswith("/broken")
        answer = {"resource_id": body["resource"]["id"], "size": body["inputs"].get("size")}
        content = b"<html></html>" if page else json.dumps(answer).encode()
        steers = self.path.startswith("/steer")
        if steers:
            content = json.dumps({"reason": "\x1b[31mred"}).encode()
        self.send_response(422 if steers else 200)
        self.send_header("Content-Type", "text/html" if page else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def seen() -> list[dict[str, str]]:
    return []


@pytest.fixture
def url(seen: list[dict[str, str]]) -> Iterator[str]:
    handler = type("Handler", (Webhook,), {"seen": seen})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_webhook_that_keeps_the_contract_ends_with_0(zonda: Any, url: str) -> None:
    done = zonda("runner", "check", f"{url}/hook", "-f", "json")
    verdicts = {row["Check"]: row["Verdict"] for row in done.data}
    assert verdicts["status"] == "pass"
    assert verdicts["fields"] == "hint"
    assert verdicts["failure"] == "not applicable"
    assert " 0 failed, " in done.err


def test_a_rule_that_pytest_chooses_has_what_it_needs_and_is_tidied_up(
    zonda: Any, url: str, seen: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k 'same and again'")
    rows = zonda("runner", "check", f"{url}/hook", "-f", "json").data
    basic = ["answers", "size", "no redirect", "status", "JSON", "place to poll", "end"]
    assert [row["Check"] for row in rows] == [*basic, "same key again", "tidied up"]
    assert len(seen) == 3  # CREATE twice, DELETE


def test_one_that_does_not_ends_with_1_and_says_why(zonda: Any, url: str) -> None:
    done = zonda("runner", "check", f"{url}/broken", "--failed", "-f", "json", code=1)
    (row,) = done.data
    assert (row["Check"], row["Verdict"]) == ("JSON", "fail")
    assert row["Expected"] == "an answer as a JSON object"
    assert "not JSON (text/html)" in row["Came"]
    assert row["Do"].startswith("Answer JSON")
    assert row["See"] == "docs/reference/http-contract.md#the-answer"
    assert "1 failed" in done.err


def test_a_table_tells_all_in_one_column(zonda: Any, url: str) -> None:
    done = zonda("runner", "check", f"{url}/broken", "--failed", code=1)
    assert "Expected: an answer as a JSON object. Came: HTTP 200" in done.out


def test_what_is_given_is_sent(zonda: Any, url: str, seen: list[dict[str, str]]) -> None:
    words = ["--token", "t-1", "--header", "X-Team: blue", "--signing-key", "k-1"]
    zonda("runner", "check", f"{url}/hook", *words, "--input", '{"size": 3}', code=1)
    first = seen[0]
    assert first["Authorization"] == "Bearer t-1"
    assert first["X-Team"] == "blue"
    assert first["webhook-signature"].startswith("v1,")


def test_secrets_may_be_named_instead_of_given(
    zonda: Any,
    url: str,
    seen: list[dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t-2")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "zonda.toml").write_text(
        f'[runners.mine]\nendpoint = "{url}"\ntoken = {{env = "HOOK_TOKEN"}}\n'
    )
    zonda("runner", "check", f"{url}/hook", "--token", "env:HOOK_TOKEN", code=1)
    assert seen[0]["Authorization"] == "Bearer t-2"
    seen.clear()
    zonda("runner", "check", "mine", "--workflow", "hook", code=1)
    assert seen[0]["Authorization"] == "Bearer t-2"


def test_a_section_of_the_settings_may_be_named(
    zonda: Any, url: str, seen: list[dict[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "zonda.toml").write_text(
        f'[runners.mine]\nendpoint = "{url}"\nheaders = {{X-Team = "red"}}\n'
    )
    done = zonda("runner", "check", "mine", "--workflow", "hook", "-f", "json", code=1)
    assert [row["Check"] for row in done.data if row["Verdict"] == "fail"] == ["credentials"]
    assert seen[0]["X-Team"] == "red"
    assert "many workflows" in zonda("runner", "check", "mine", code=2).err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        pytest.param(["nope"], "neither an http(s) URL nor a runner", id="no-such-runner"),
        pytest.param(["http://x.example", "--input", "{"], "--input is not JSON", id="no-json"),
        pytest.param(["http://x.example", "--input", "[]"], "must be a JSON object", id="a-list"),
        pytest.param(["http://x.example", "--header", "X"], "NAME: VALUE", id="no-header"),
        pytest.param(["http://u:p@x.example"], "hold no credentials", id="credentials-in-the-url"),
        pytest.param(["http://x.example", "--callback", "x"], "HOST:PORT", id="no-address"),
        pytest.param(["http://x.example", "-c", "nope"], "nope", id="no-column"),
    ],
)
def test_wrong_usage_ends_with_2_and_calls_nobody(zonda: Any, words: list[str], part: str) -> None:
    assert part in zonda("runner", "check", *words, code=2).err


def test_a_bundled_service_that_does_not_run_is_told(zonda: Any) -> None:
    done = zonda("runner", "check", "bundled", "--workflow", "x", code=1)
    assert "zonda runner serve FILE" in done.err


def test_what_an_endpoint_says_steers_no_terminal(zonda: Any, url: str) -> None:
    done = zonda("runner", "check", f"{url}/steer", "--failed", code=1)
    assert "\x1b" not in done.out + done.err
    assert "\\x1b[31mred" in done.out


def test_keys_of_callbacks_are_those_of_the_section_unless_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBACK_KEY", "shared s3cret")
    text = '[runners.far]\nendpoint = "http://x.example"\ncallback_key = "old"\n'
    (tmp_path / settings.FILE_NAME).write_text(text)
    known = settings.load_settings({"home": str(tmp_path)}, {})
    parser = argparse.ArgumentParser()
    add_arguments(runner_check.check, parser)
    for words, keys in (["far"], "old"), (["far", "--callback-key", "env:CALLBACK_KEY"], None):
        wanted = runner_check._parse_options(parser.parse_args([*words, "--workflow", "w"]))
        assert wanted.section(known)["callback_key"] == (keys or ["shared s3cret"])
