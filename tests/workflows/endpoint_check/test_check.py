"""Results of ``zonda runner check`` for good and for broken endpoints."""

from __future__ import annotations

import random
import re
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.workflows import contract_endpoints as endpoints
from tests.workflows.contract_endpoints import SIGNING_KEY, Good, served

from zonda.core.system.clock import SystemClock
from zonda.hooks.conformance import HINT, NOT_APPLICABLE, PASSED, Report, Row
from zonda.workflows.endpoint_check.probe import Target
from zonda.workflows.endpoint_check.suite import RULES, EndpointSuite
from zonda.workflows.service import server

CLOCK = SystemClock()
DOCS = Path(__file__).resolve().parents[3] / "docs"
LISTENER = ("127.0.0.1", 0)


def checked(url: str, section: Mapping[str, Any] | None = None, **target: Any) -> Report:
    with EndpointSuite(
        Target(**{"workflow": url, "timeout": 20.0, **target}),
        {"clock": CLOCK, "random": random.Random(1), "endpoint": url, **(section or {})},
        pause=threading.Event().wait,
        new_id=lambda: str(uuid.uuid4()),
    ) as suite:
        return suite.try_all()


@pytest.fixture
def on_trial() -> Callable[..., Report]:
    def tried(endpoint: Good, section: Mapping[str, Any] | None = None, **target: Any) -> Report:
        endpoint.now = CLOCK.now
        with served(endpoint) as url:
            return checked(url, section, **target)

    return tried


def verdicts(report: Report) -> dict[str, str]:
    return {row.check: row.verdict for row in report.rows}


def named(report: Report, verdict: str) -> list[str]:
    return [row.check for row in report.rows if row.verdict == verdict]


def row_of(report: Report, name: str) -> Row:
    return next(row for row in report.rows if row.check == name)


# -- the documents --------------------------------------------------------------------------------


def test_every_rule_is_documented_as_it_is() -> None:
    page = (DOCS / "how-to" / "check-an-endpoint.md").read_text().split("## Rules")[1]
    written = dict(re.findall(r"^\| `(.*?)` \| (.*?) \|$", page, re.M))
    first = {name: (rule.check.__doc__ or "").split("\n\n")[0] for name, rule in RULES.items()}
    assert written == {name: " ".join(text.split()) for name, text in first.items()}


def test_what_a_row_refers_to_is_a_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", (DOCS / "reference" / "http-contract.md").read_text(), re.M)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    assert {rule.see for rule in RULES.values()} <= anchors


# -- those that keep it ---------------------------------------------------------------------------


def test_a_good_endpoint_passes_everything(on_trial: Callable[..., Report]) -> None:
    endpoint = endpoints.Signed()
    report = on_trial(
        endpoint,
        {"signing_keys": [SIGNING_KEY]},
        failing_inputs={"fail": True},
        listener=LISTENER,
    )
    assert [str(row) for row in report.failed] == []
    assert set(verdicts(report)) == set(RULES)
    assert named(report, NOT_APPLICABLE) == ["credentials", "unknown workflow"]
    assert endpoint.things == set()


def test_an_endpoint_that_signs_its_callbacks_passes(on_trial: Callable[..., Report]) -> None:
    endpoint = endpoints.Good()
    endpoint.callback_key = b"shared s3cret"
    report = on_trial(endpoint, {"callback_key": "shared s3cret"}, listener=LISTENER)
    assert row_of(report, "callback").verdict == PASSED, str(row_of(report, "callback"))


def test_an_endpoint_that_answers_at_once_passes(on_trial: Callable[..., Report]) -> None:
    endpoint = endpoints.Synchronous()
    report = on_trial(endpoint)
    assert [str(row) for row in report.failed] == []
    assert row_of(report, "place to poll").reason == "the first answer was the last"
    assert row_of(report, "cancel").verdict == NOT_APPLICABLE
    assert endpoint.things == set()


def test_a_strangers_webhook_passes_with_hints(on_trial: Callable[..., Report]) -> None:
    report = on_trial(endpoints.Naive())
    assert [str(row) for row in report.failed] == []
    assert named(report, HINT) == ["fields", "same key, other body", "past deadline"]
    assert "so that failures can be told with a reason" in row_of(report, "fields").text()


def test_the_bundled_service_passes(tmp_path: Path) -> None:
    (tmp_path / "flows.yaml").write_text(
        """
workflows:
  make:
    command: |
      if grep -q '"fail":true'; then echo "told to fail" >&2; exit 1; fi
      echo "{\\"resource_id\\": \\"$ZONDA_RESOURCE_ID\\", \\"run\\": \\"$$\\"}"
"""
    )
    with server.start(
        tmp_path / "flows.yaml", state_dir=tmp_path / "s", token="t", signing_keys=["k"]
    ) as handle:
        report = checked(
            handle.url,
            {"token": "t", "signing_keys": ["k"]},
            workflow="make",
            failing_inputs={"fail": True},
        )
    assert [str(row) for row in report.failed] == []
    assert named(report, HINT) == []
    quick = {"cancel", "place to poll", "Retry-After"}  # where a run ends before it is looked at
    assert set(named(report, NOT_APPLICABLE)) <= {"callback", *quick}


# -- those that do not ----------------------------------------------------------------------------

SIGNED = {"signing_keys": [SIGNING_KEY]}


@pytest.mark.parametrize(
    ("endpoint", "more", "failed", "came", "do"),
    [
        pytest.param(
            endpoints.Html, {}, "JSON", "a body that is not JSON (text/html)", "JSON", id="html"
        ),
        pytest.param(
            endpoints.NotJson, {}, "JSON", "a body that is not JSON", "Answer JSON", id="not-json"
        ),
        pytest.param(endpoints.AList, {}, "JSON", "with a list", "Answer JSON", id="a-list"),
        pytest.param(
            endpoints.Elsewhere,
            {},
            "no redirect",
            "HTTP 307 to https://elsewhere.example/hook",
            "a POST is not sent elsewhere",
            id="redirect-to-another-origin",
        ),
        pytest.param(
            endpoints.PollsElsewhere,
            {},
            "place to poll",
            "a status URL of another origin, http://elsewhere.example/runs/1",
            "poll_origins",
            id="status-url-of-another-origin",
        ),
        pytest.param(
            endpoints.PollRedirectsElsewhere,
            {},
            "end",
            "a redirect of another origin",
            "poll_origins",
            id="poll-redirects-to-another-origin",
        ),
        pytest.param(
            endpoints.Endless,
            {"timeout": 0.5},
            "end",
            "still running after 0.5 s",
            "Answer a final state",
            id="endless-202",
        ),
        pytest.param(
            endpoints.ForgetsRuns, {}, "end", "the run is lost", "Keep a run", id="run-is-forgotten"
        ),
        pytest.param(
            endpoints.WorksTwice,
            {},
            "same key again",
            "output.number is another than before",
            "instead of working again",
            id="key-without-effect",
        ),
        pytest.param(
            endpoints.WorksTwiceAtOnce,
            {},
            "same key at once",
            "the work was done twice",
            "instead of working again",
            id="two-at-once-work-twice",
        ),
        pytest.param(
            endpoints.RefusesTheSameKey,
            {},
            "same key again",
            "HTTP 409: duplicate",
            "give that again",
            id="same-key-refused",
        ),
        pytest.param(
            endpoints.OtherBodyWorks,
            {},
            "same key, other body",
            "the work was done again",
            "answer 409",
            id="another-body-under-a-known-key",
        ),
        pytest.param(
            endpoints.TakesAnySignature,
            {"section": SIGNED},
            "wrong signature",
            "it was taken",
            "HMAC-SHA256",
            id="wrong-signature-taken",
        ),
        pytest.param(
            endpoints.TakesOldSignatures,
            {"section": SIGNED},
            "old signature",
            "it was taken",
            "webhook-timestamp",
            id="old-signature-taken",
        ),
        pytest.param(
            endpoints.TakesUnsigned,
            {"section": SIGNED},
            "no signature",
            "it was taken",
            "HMAC-SHA256",
            id="unsigned-taken",
        ),
        pytest.param(
            endpoints.TakesOneSignature,
            {"section": SIGNED},
            "two signatures",
            "HTTP 401: the signature fits none of the keys",
            "--signing-key",
            id="only-the-first-signature",
        ),
        pytest.param(
            endpoints.LetsAnybodyIn,
            {"section": {"token": "a-token"}},
            "credentials",
            "it was taken",
            "before anything else",
            id="no-token-needed",
        ),
        pytest.param(
            endpoints.Huge,
            {},
            "size",
            "larger than 1048576 bytes",
            "not the things",
            id="oversized",
        ),
        pytest.param(
            endpoints.DeleteNotFound,
            {},
            "delete again",
            "HTTP 404: no such thing",
            "answer 204, or 410",
            id="404-on-delete",
        ),
        pytest.param(
            endpoints.EverythingIsGone,
            {"workflow": "thing"},
            "unknown workflow",
            "says that the thing is gone",
            "of things only",
            id="mistyped-name-looks-gone",
        ),
        pytest.param(
            endpoints.Drip,
            {"timeout": 0.4},
            "answers",
            "no whole answer within 0.4 s",
            "Answer 202",
            id="slow-drip",
        ),
        pytest.param(
            endpoints.Impatient, {}, "Retry-After", "soon", "Give seconds", id="retry-after-soon"
        ),
        pytest.param(
            endpoints.StrangeWords,
            {"timeout": 0.5},
            "fields",
            "the state 'RUNNING'",
            "others count as running",
            id="states-of-its-own",
        ),
        pytest.param(
            endpoints.StrangeFields, {}, "fields", "list", "an object", id="output-is-a-list"
        ),
        pytest.param(
            endpoints.FailsSilently,
            {"failing_inputs": {"fail": True}},
            "failure",
            "none",
            "in one sentence why",
            id="failure-without-reason",
        ),
        pytest.param(
            endpoints.CannotFail,
            {"failing_inputs": {"fail": True}},
            "failure",
            "it succeeded",
            "Answer state failed",
            id="failure-told-as-success",
        ),
        pytest.param(
            endpoints.CancelBreaks, {}, "cancel", "HTTP 500: oops", "Answer 202", id="cancel-breaks"
        ),
        pytest.param(
            endpoints.CancelElsewhere,
            {},
            "cancel",
            "a cancel_url of another origin",
            "Give a path",
            id="cancel-url-of-another-origin",
        ),
        pytest.param(
            endpoints.NeverCallsBack,
            {"listener": LISTENER, "timeout": 1.5},
            "callback",
            "none within 1.5 s",
            "Tell it there",
            id="no-callback",
        ),
        pytest.param(
            endpoints.Good,
            {"listener": LISTENER, "section": {"callback_key": "shared s3cret"}},
            "callback",
            "it is not signed (Zonda-Callback-Signature)",
            "Send Zonda-Callback-Signature: t=SECONDS,v1=HEX",
            id="callback-without-signature",
        ),
        pytest.param(
            endpoints.CallsBackWrongly,
            {"listener": LISTENER},
            "callback",
            '{"status": "done"}',
            "Send the answer object",
            id="callback-without-state",
        ),
        pytest.param(
            endpoints.Broken,
            {},
            "status",
            "HTTP 500: division by zero",
            "the endpoint's log",
            id="500",
        ),
    ],
)
def test_what_a_broken_endpoint_does_wrong_is_told(
    on_trial: Callable[..., Report],
    endpoint: type[Good],
    more: dict[str, Any],
    failed: str,
    came: str,
    do: str,
) -> None:
    report = on_trial(endpoint(), **more)
    assert report.failed[0].check == failed, [str(row) for row in report.rows]
    row = report.failed[0]
    assert came in row.came
    assert do in row.do
    assert row.expected
    assert row.see.startswith("docs/reference/http-contract.md#")


def test_what_needs_a_broken_rule_is_left_out(on_trial: Callable[..., Report]) -> None:
    endpoint = endpoints.Html()
    report = on_trial(endpoint)
    assert verdicts(report)["size"] == PASSED
    left = row_of(report, "same key again")
    assert (left.verdict, left.reason) == (NOT_APPLICABLE, "left out: 'JSON' failed")
    assert len(report.failed) == 1


def test_what_was_made_is_deleted_although_its_run_never_ends(
    on_trial: Callable[..., Report],
) -> None:
    endpoint = endpoints.Endless()
    report = on_trial(endpoint, timeout=0.3)
    assert "a DELETE was sent" in row_of(report, "tidied up").reason
    assert endpoint.things == set()


def test_nothing_is_deleted_where_that_is_not_wanted(on_trial: Callable[..., Report]) -> None:
    endpoint = endpoints.Good()
    report = on_trial(endpoint, delete=False)
    assert row_of(report, "tidied up").reason == "--no-delete is given"
    assert len(endpoint.things) > 1


def test_a_token_is_in_no_row(on_trial: Callable[..., Report]) -> None:
    class Tells(Good):
        def answer(self, method: str, path: str, headers: Any, body: bytes) -> Any:
            return 403, {}, {"reason": f"not with {headers.get('authorization')}"}

    report = on_trial(Tells(), {"token": "hush-hush"})
    assert report.failed[0].came == "HTTP 403: not with (hidden)"
