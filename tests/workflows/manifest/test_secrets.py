"""Answers of workflows show no secret that the manifest names."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workflows.manifests import DISK, a_life, a_runner, ends, type_of

from zonda.hooks.errors import NotReady, ResourceFailure, TemplateError
from zonda.hooks.runners import Failed, Finished, Lost, Retry, Running, Succeeded
from zonda.hooks.testing import FakeContext, FakeOperation, FakeRunner, Lifecycle
from zonda.workflows.resources import secret_fingerprints

TOKEN = 'hush "hush"/1'
SECRET = DISK.replace(
    "input: {size: {get_property: size},",
    "input: {token: {secret: env:TOKEN}, size: {get_property: size},",
)


def a_secret_life(runner: FakeRunner, text: str = SECRET, token: str = TOKEN) -> Lifecycle:
    """A disk whose CREATE is told ``token``."""
    life = a_life(runner, text)
    life.context.secrets["env:TOKEN"] = token
    return life


def told(life: Lifecycle) -> str:
    """All that the engine was given to store or to show."""
    return repr((life.saved, life.saved.data, life.saved.metadata, life.context.messages))


@pytest.mark.parametrize("place", ["output", "field", "execution"])
def test_a_resource_id_with_a_secret_is_refused(place: str) -> None:
    text = f"disk-{TOKEN}"
    answers: dict[str, Any] = {
        "output": ends(resource_id=text),
        "field": [Finished(Succeeded({}, text))],
        "execution": [Finished(Succeeded({}), text)],
    }
    life = a_secret_life(a_runner(mk=answers[place]))
    if place == "execution":
        life.create()  # nobody chose that id; another stands for it
        assert life.resource_id
    else:
        with pytest.raises(ResourceFailure, match="resource_id that CREATE answered"):
            life.create()
    assert "hush" not in told(life) + str(life.resource_id)


def test_a_failed_create_whose_resource_id_is_a_secret_is_not_run_again() -> None:
    failed = Finished(Failed(f"no {TOKEN}", {"resource_id": TOKEN}))
    runner = a_runner(mk=[failed])
    life = a_secret_life(runner, SECRET.replace("CREATE: {", "CREATE: {retries: 3, "))
    with pytest.raises(ResourceFailure, match=r"holds a secret. no \(hidden\)"):
        life.create()
    assert len(runner.requests) == 1
    assert "hush" not in told(life)


def test_a_deletion_is_not_held_up_by_what_it_answers() -> None:
    life = a_secret_life(a_runner(rm=ends(resource_id=TOKEN)))
    life.create()
    life.delete()
    assert "hush" not in told(life)


@pytest.mark.parametrize(
    "written",
    [TOKEN, 'hush \\"hush\\"/1', "hush%20%22hush%22%2F1", "hush+%22hush%22%2F1"],
    ids=["plain", "json", "url", "form"],
)
def test_outputs_and_reasons_in_any_notation(written: str) -> None:
    life = a_secret_life(
        a_runner(mk=ends(resource_id="d1", path=f"/{written}"), up=failed(written))
    )
    life.create()
    assert life.attribute("path") == "/(hidden)"
    with pytest.raises(ResourceFailure, match=r"no: \(hidden\)"):
        life.update({"size": 4})  # which is not told the secret itself
    assert "hush" not in told(life)


def failed(text: str) -> list[Finished]:
    """A run that fails for the reason ``text``."""
    return [Finished(Failed(f"no: {text}"))]


def test_a_number_that_is_a_secret() -> None:
    life = a_secret_life(a_runner(mk=ends(resource_id="d1", path=987654321)), token="987654321")
    life.create()
    assert life.attribute("path") == "(hidden)"


def check_of(answer: Any) -> str:
    """All that a drift check is told of a CHECK with this answer."""
    text = SECRET.replace("workflow: look,", "workflow: look, input: {t: {secret: env:TOKEN}},")
    life = a_secret_life(a_runner(look=[answer]), text)
    life.create()
    life.context.operation = FakeOperation("c1", "CHECK", 0.0, 1e12)
    life.context.is_read_only = True
    said = []
    for _ in range(3):
        with pytest.raises(ResourceFailure) as caught:
            life.instance().get_live_state()
        said.append(f"{caught.value} {caught.value.hint}")
        if isinstance(caught.value, NotReady):
            life.context.clock.advance(caught.value.delay)
    return f"{said} {life.context.messages}"


@pytest.mark.parametrize(
    "answer",
    [
        Running(1.0, f"with {TOKEN}"),
        Retry(1.0, f"no {TOKEN} yet", answered=True),
        Lost(f"nobody knows {TOKEN}"),
        Failed(f"no {TOKEN}"),
        Finished(Failed(f"no {TOKEN}")),
    ],
    ids=["running", "retry", "lost", "failed", "finished"],
)
def test_a_drift_check_tells_no_secret(answer: Any) -> None:
    said = check_of(answer)
    assert "hush" not in said
    assert "(hidden)" in said


class Raising(FakeRunner):
    """One that raises what it was sent."""

    def start(self, request: Any) -> Any:
        """Refuse a CREATE."""
        raise ResourceFailure(f"cannot send {request.inputs}", hint=f"see {request.inputs}")


def test_what_a_runner_raises_holds_no_secret() -> None:
    context = FakeContext(runners={"default": Raising({})})
    life = Lifecycle(type_of(SECRET), {"size": 3}, context=context)
    life.context.secrets["env:TOKEN"] = "hushhush"
    with pytest.raises(ResourceFailure, match=r"\(hidden\)") as caught:
        life.create()
    assert "hush" not in f"{caught.value} {caught.value.args} {caught.value.hint}"


def test_what_a_cancelled_run_came_to_holds_no_secret() -> None:
    life = a_secret_life(a_runner(mk=[Failed(f"no {TOKEN}")]))
    life.context.operation = FakeOperation("op", "CREATE", 0.0, 1e12)
    token = life.instance().handle_create()
    token["cancel"] = "accepted"
    said = life.instance().check_cancel_complete(token)
    assert said == "it failed: no (hidden)"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{list_join: [" ", [Bearer, {secret: env:TOKEN}]]}', f"Bearer {TOKEN}"),
        ('{list_join: ["-", [{secret: env:TOKEN}, {get_property: pool}]]}', f"{TOKEN}-fast"),
        ('{list_join: ["-", [{get_property: tags}, 1, {secret: env:TOKEN}]]}', f"1-{TOKEN}"),
        ('{list_join: ["-", {secret: env:TOKEN}]}', TOKEN),
        (
            '{list_join: ["-", [a, {list_join: ["+", [b, {secret: env:TOKEN}]]}, c]]}',
            f"a-b+{TOKEN}-c",
        ),
        ('[x, {list_join: ["", [u, {secret: env:TOKEN}]]}]', ["x", f"u{TOKEN}"]),
    ],
)
@pytest.mark.parametrize("place", ["input", "params"])
def test_a_secret_in_a_text_is_joined_when_it_is_sent(place: str, written: str, sent: Any) -> None:
    old = "input: {size: {get_property: size}, tags: {get_property: tags}}"
    runner = a_runner(mk=ends(resource_id="d1", path=f"/{TOKEN}"))
    life = a_secret_life(runner, DISK.replace(old, f"{place}: {{it: {written}, q: 1}}"))
    life.create()
    request = runner.requests[0]
    given = dict(request.inputs if place == "input" else request.params)
    given.pop("env", None)
    assert given == {"it": sent, "q": 1}
    assert life.attribute("path") == "/(hidden)"
    assert "hush" not in told(life)


def going_on(answer: Any, after: Any, monkeypatch: pytest.MonkeyPatch, process: str) -> Lifecycle:
    """A disk whose CREATE was sent TOKEN and is polled once ``after`` is what its name says."""
    life = a_secret_life(a_runner(mk=[answer]))
    life.context.operation = FakeOperation("op", "CREATE", 0.0, 1e12)
    token = life.instance().handle_create()
    assert "hush" not in repr(token)
    if process == "another":
        monkeypatch.setattr(secret_fingerprints, "_sent", {})
    life.context.secrets.clear()
    life.context.secrets.update({} if after is None else {"env:TOKEN": after})
    life.instance().check_create_complete(token)
    return life


@pytest.mark.parametrize("after", [None, "rotated"])
@pytest.mark.parametrize(
    "answer",
    [Failed(f"bad {TOKEN}"), Lost(f"no {TOKEN}"), Running(1.0, f"with {TOKEN}")],
    ids=["failed", "lost", "running"],
)
@pytest.mark.parametrize("process", ["this", "another"])
def test_a_secret_that_has_changed_since_it_was_sent_is_told_by_nobody(
    answer: Any, after: Any, process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ResourceFailure) as caught:
        going_on(answer, after, monkeypatch, process)
    assert "hush" not in f"{caught.value} {caught.value.hint}"
    if process == "another" and not isinstance(answer, Running):
        assert "env:TOKEN is not what it was" in str(caught.value)


def test_outputs_that_repeat_a_secret_that_has_changed_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Succeeded({"resource_id": "d1", "path": f"/{TOKEN}"})
    life = going_on(answer, None, monkeypatch, "this")
    assert (life.resource_id, life.attribute("path")) == ("d1", "/(hidden)")
    with pytest.raises(ResourceFailure, match=r"CREATE ended well\. Its answer cannot be shown"):
        going_on(answer, None, monkeypatch, "another")


def test_a_secret_that_is_as_it_was_is_known_to_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ResourceFailure, match=r"bad \(hidden\)"):
        going_on(Failed(f"bad {TOKEN}"), TOKEN, monkeypatch, "another")


@pytest.mark.parametrize("place", ["input", "list_join", "params"])
def test_a_secret_that_may_not_be_named_is_told_before_anything_is_made(place: str) -> None:
    given = {
        "input": SECRET,
        "list_join": SECRET.replace(
            "{secret: env:TOKEN}", '{list_join: [" ", [B, {secret: env:TOKEN}]]}'
        ),
        "params": DISK.replace("mk, ", "mk, params: {t: {secret: env:TOKEN}}, "),
    }[place]
    assert "env:TOKEN" in given
    life = a_life(a_runner(), given)
    life.context.refused.add("env:TOKEN")
    with pytest.raises(TemplateError, match=r"CREATE of Acme::Disk .*env:TOKEN may not be read"):
        life.validate()
