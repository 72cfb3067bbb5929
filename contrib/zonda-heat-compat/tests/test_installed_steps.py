"""A step that a service has taken of an update, unnoted by us, is not asked for again."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda_heat_compat import plugin, steps

assert plugin, "it lends the name heat"

progress = steps.progress
TASK = "OS-EXT-STS:task_state"


def make_server(status: str, flavor: str = "old", task: str | None = None) -> Any:
    ports = [SimpleNamespace(port_id="p")]
    server = SimpleNamespace(status=status, flavor={"id": flavor}, interface_list=lambda: ports)
    setattr(server, TASK, task)
    return server


class Server:
    """A server of Heat's, as the notes see it; its class has the name of Heat's."""

    resource_id = "s"

    def __init__(self, server: Any) -> None:
        self.server = server

    def client_plugin(self) -> Any:
        return SimpleNamespace(
            fetch_server=lambda id: self.server, ignore_not_found=contextlib.nullcontext()
        )

    def client(self) -> Any:
        return SimpleNamespace(servers=SimpleNamespace(get=lambda id: self.server))


def make_resize() -> list[Any]:
    extra = {"args": ("new",)}
    return [
        progress.ServerUpdateProgress("s", "resize", handler_extra=extra, checker_extra=extra),
        progress.ServerUpdateProgress("s", "verify_resize"),
    ]


def note(server: Any, token: list[Any]) -> list[tuple[str, Any, Any]]:
    steps.note_steps(Server(server), token)
    return [(each.handler, bool(each.called), bool(each.complete)) for each in token]


@pytest.mark.parametrize(
    ("server", "resize", "confirmation"),
    [
        (make_server("ACTIVE"), (False, False), (False, False)),
        (make_server("ACTIVE", task="resize_prep"), (True, False), (False, False)),
        (make_server("RESIZE"), (True, False), (False, False)),
        (make_server("VERIFY_RESIZE", "new"), (True, True), (False, False)),
        (make_server("VERIFY_RESIZE", "new", "deleting"), (True, True), (True, False)),
        (make_server("ACTIVE", "new"), (True, True), (True, False)),
    ],
)
def test_a_resize_is_asked_for_once_and_confirmed_once(
    server: Any, resize: Any, confirmation: Any
) -> None:
    assert note(server, make_resize()) == [("resize", *resize), ("verify_resize", *confirmation)]


def test_a_resize_to_another_flavor_is_confirmed_first() -> None:
    assert note(make_server("VERIFY_RESIZE", "between"), make_resize()) == [
        ("verify_resize", False, False),
        ("resize", False, False),
        ("verify_resize", False, False),
    ]


def test_a_flavor_that_was_removed_meanwhile_is_another_one() -> None:
    class Gone(Exception):
        pass

    def find(name: str) -> str:
        raise Gone(name)

    plugin = SimpleNamespace(
        fetch_server=lambda id: server,
        find_flavor_by_name_or_id=find,
        ignore_not_found=contextlib.suppress(Gone),
    )
    server, token = make_server("ACTIVE"), make_resize()
    server.flavor = {"original_name": "m1.removed"}
    steps.note_steps(SimpleNamespace(client_plugin=lambda: plugin), token)
    assert [bool(each.called) for each in token] == [False, False]


@pytest.mark.parametrize(("status", "called"), [("ACTIVE", False), ("REBUILD", True)])
def test_a_rebuild_is_not_asked_for_while_it_runs(status: str, called: bool) -> None:
    token = [progress.ServerUpdateProgress("s", "rebuild", handler_extra={"args": ("i",)})]
    assert note(make_server(status), token) == [("rebuild", called, False)]


@pytest.mark.parametrize(("port", "called"), [("p", True), ("q", False), (None, False)])
def test_a_port_is_attached_once(port: str | None, called: bool) -> None:
    extra = {"kwargs": {"port_id": port}}
    token = [progress.ServerUpdateProgress("s", "interface_attach", handler_extra=extra)]
    assert note(make_server("ACTIVE"), token) == [("interface_attach", called, False)]


@pytest.mark.parametrize(
    ("status", "size", "extended", "attached"),
    [("available", 1, False, False), ("extending", 1, True, False), ("in-use", 2, True, "v")],
)
def test_a_volume_is_extended_and_attached_once(
    status: str, size: int, extended: bool, attached: Any
) -> None:
    attachments = [{"server_id": "s"}] if status == "in-use" else []
    volume = SimpleNamespace(status=status, size=size, attachments=attachments)
    cinder = SimpleNamespace(volumes=SimpleNamespace(get=lambda id: volume))
    heat = SimpleNamespace(client=lambda name=None: cinder, resource_id="v")
    resize = progress.VolumeResizeProgress(size=2)
    attach = progress.VolumeAttachProgress("s", "v", None)
    steps.note_steps(heat, (None, None, resize, None, attach))
    assert (resize.called, attach.called) == (extended, attached)


def test_a_token_of_another_kind_is_left_alone() -> None:
    for token in (None, "id", {"a": 1}, [1, None]):
        steps.note_steps(None, token)


def test_a_server_with_a_task_is_busy() -> None:
    assert steps.is_busy(Server(make_server("ACTIVE", task="suspending")))
    assert not steps.is_busy(Server(make_server("VERIFY_RESIZE")))
