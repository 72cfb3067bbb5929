"""Streams of live events: who gets which, and what a client that comes back gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from zonda.core.api.live import hub as hub_module
from zonda.core.api.live import stream as stream_module

EMPTY = {"heat_template_version": "2018-08-31"}
ONE = {
    **EMPTY,
    "resources": {"a": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
}
GROUP = {
    **EMPTY,
    "resources": {
        "g": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": 1,
                "resource_def": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}},
            },
        }
    },
}


def create(api: Any, name: str, template: Any = ONE) -> Any:
    """Create a stack in a thread."""
    return asyncio.to_thread(api.create, name, template)


def list_seqs(api: Any, project: str = "p1", root: str = "", after: int = 0) -> list[int]:
    """The numbers of the events of a project, from the table."""
    reader = api.dispatcher.service.reader
    return [event.seq for event in reader.list_events_after(after, project, root, -1)]


def test_a_client_gets_every_event_as_it_is_stored(api: Any, with_clients: Any) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        client = await connect("p1/events")
        assert client.status == 200
        assert client.headers["content-type"].startswith("text/event-stream")
        assert client.headers["cache-control"] == "no-store"
        assert client.headers["x-accel-buffering"] == "no"
        await client.read(lambda frames: frames)
        path = await create(api, "s")
        frames = await client.read_states(4)
        assert [int(frame.id) for frame in frames] == list_seqs(api)
        stack_id = path.rpartition("/")[2]
        first, second = frames[0].data, frames[1].data
        assert {"stack_id": stack_id, "stack_name": "s", "root_id": stack_id}.items() <= (
            first.items()
        )
        assert (first["path"], first["state"], first["root_name"]) == (
            "",
            "CREATE_IN_PROGRESS",
            "s",
        )
        assert (second["path"], second["resource_name"]) == ("a", "a")
        assert (second["action"], second["status"]) == ("CREATE", "IN_PROGRESS")
        assert second["resource_type"] == "OS::Heat::TestResource"
        assert frames[-1].data["state"] == "CREATE_COMPLETE"
        assert {"physical_id", "reason", "time", "id", "seq", "generation"} <= set(first)

    with_clients(scenario)


def test_events_of_another_project_reach_nobody_else(api: Any, with_clients: Any) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        mine, theirs = await connect("p1/events"), await connect("p2/events", token="p2")
        for client in (mine, theirs):
            await client.read(lambda frames: frames)
        await create(api.become("p2"), "other")
        await create(api, "s")
        shown = await mine.read_states(4)
        assert {frame.data["stack_name"] for frame in shown} == {"s"}
        assert {frame.data["stack_name"] for frame in await theirs.read_states(4)} == {"other"}
        late = await connect("p1/events?after=0")
        assert {frame.data["stack_name"] for frame in await late.read_states(4)} == {"s"}

    with_clients(scenario)


def test_a_stack_of_another_project_is_not_there(api: Any, with_clients: Any) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        path = await create(api.become("p2"), "other", EMPTY)
        for wanted in (path.rpartition("/")[2], "other", "nobody"):
            client = await connect(f"p1/events?stack={wanted}")
            await client.end()
            assert client.status == 404
        forbidden = await connect("p2/events")
        await forbidden.end()
        assert forbidden.status == 403
        unknown = await connect("p1/events", token="")
        await unknown.end()
        assert unknown.status == 401

    with_clients(scenario)


def test_the_stream_of_a_stack_has_its_whole_tree_and_nothing_else(
    api: Any, with_clients: Any
) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        path = await create(api, "tree", GROUP)
        root = path.rpartition("/")[2]
        client = await connect("p1/events?stack=tree")
        await client.read(lambda frames: frames)
        before = await connect(f"p1/events?stack={root}&after=0")
        await create(api, "beside", EMPTY)
        await asyncio.to_thread(api, "DELETE", path)
        await asyncio.to_thread(api.wait, root)
        wanted = list_seqs(api, root=root)
        frames = await before.read_states(len(wanted))
        assert [frame.data["seq"] for frame in frames] == wanted
        assert {frame.data["root_id"] for frame in frames} == {root}
        assert {"g", "g/0"} <= {frame.data["path"] for frame in frames}
        last = await client.read(
            lambda frames: any(frame.id == str(wanted[-1]) for frame in frames)
        )
        assert {frame.data["root_id"] for frame in last if frame.kind} == {root}

    with_clients(scenario)


def test_a_client_that_comes_back_gets_what_it_has_missed(api: Any, with_clients: Any) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        first = await connect("p1/events")
        place = await first.read(lambda frames: frames)
        await first.leave()
        await create(api, "s")
        wanted = list_seqs(api)
        # the header counts, since the URL stays what it was
        for query, since in (("", int(place[0].id)), ("?after=0", wanted[1]), ("", wanted[-2])):
            again = await connect(f"p1/events{query}", **{"last-event-id": str(since)})
            missed = [seq for seq in wanted if seq > since]
            frames = await again.read_states(len(missed))
            assert [frame.data["seq"] for frame in frames] == missed

    with_clients(scenario)


def test_nothing_is_missed_or_doubled_between_the_table_and_what_happens(
    api: Any, with_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["during", "after"])
    read_page = stream_module.EventStream._read_page

    def read_in_between(self: Any, limit: int) -> Any:
        """A stack is made before the table is read, and one after that."""
        api.create(next(names), ONE)
        found = read_page(self, limit)
        api.create(next(names), ONE)
        monkeypatch.setattr(stream_module.EventStream, "_read_page", read_page)
        return found

    async def scenario(connect: Any, hub: Any) -> None:
        await create(api, "before")
        monkeypatch.setattr(stream_module.EventStream, "_read_page", read_in_between)
        client = await connect("p1/events?after=0")
        frames = await client.read_states(12)
        assert [frame.data["seq"] for frame in frames] == list_seqs(api)
        assert len(frames) == 12

    with_clients(scenario)


def test_behind_the_most_that_is_replayed_there_is_a_gap(
    api: Any, with_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "PAGE", 2)
    monkeypatch.setattr(stream_module, "MOST_REPLAYED", 4)

    async def scenario(connect: Any, hub: Any) -> None:
        for name in ("s1", "s2"):
            await create(api, name)
        seqs = list_seqs(api)
        client = await connect("p1/events?after=0")
        frames = await client.read(lambda frames: any(frame.kind == "gap" for frame in frames))
        assert [frame.id for frame in frames] == [*map(str, seqs[:4]), str(seqs[-1])]
        assert frames[-1].data == {"after": seqs[3], "last": seqs[-1]}
        await create(api, "s3")
        assert len(await client.read_states(8)) == 8
        exact = await connect(f"p1/events?after={seqs[-5]}")
        assert [frame.kind for frame in await exact.read_states(4)] == ["state"] * 4
        assert not any(frame.kind == "gap" for frame in exact.frames[:4])

    with_clients(scenario)


def test_events_that_are_kept_no_more_and_numbers_of_another_database_are_a_gap(
    api: Any, with_clients: Any
) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        await create(api, "s")
        last = list_seqs(api)[-1]
        ahead = await connect("p1/events?after=99999")
        frames = await ahead.read(lambda frames: frames)
        assert (frames[0].kind, frames[0].id) == ("gap", str(last))
        await create(api, "t")
        assert len(await ahead.read_states(4)) == 4
        now = api.app.clock.now()
        api.app.engine.keep(lambda tx: tx.forget(now + 1, now - 1, now - 1))
        await create(api, "u")
        behind = await connect("p1/events?after=1")
        frames = await behind.read(lambda frames: len(frames) >= 5)
        assert frames[0].kind == "gap"
        assert frames[0].data["after"] == 1
        assert {frame.data["stack_name"] for frame in frames[1:5]} == {"u"}

    with_clients(scenario)


def test_a_client_that_does_not_read_is_sent_away_and_gets_all_when_it_comes_back(
    api: Any, with_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "QUEUE", 3)

    async def scenario(connect: Any, hub: Any) -> None:
        slow = await connect("p1/events")
        place = (await slow.read(lambda frames: frames))[0].id
        slow.reads.clear()
        for name in ("s1", "s2"):
            await create(api, name)
        await slow.end()
        assert hub.count == 0
        monkeypatch.setattr(hub_module, "QUEUE", 1000)  # late events of a cluster come now
        again = await connect("p1/events", **{"last-event-id": place})
        frames = await again.read_states(8)
        assert [frame.data["seq"] for frame in frames] == list_seqs(api)

    with_clients(scenario)


def test_a_server_that_stops_says_goodbye_and_takes_nobody_else(
    api: Any, with_clients: Any
) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        client = await connect("p1/events")
        await client.read(lambda frames: frames)
        hub.close()
        await client.end()
        assert client.body.endswith(b"retry: 1000\n\n")
        late = await connect("p1/events")
        await late.end()
        assert late.status == 503
        assert late.headers["retry-after"] == "1"

    with_clients(scenario)


def test_whose_token_counts_no_more_hears_nothing_more(
    api: Any, with_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = api.dispatcher.interfaces[0].identity
    known = type(identity).authenticate
    refused: set[str] = set()

    def authenticate(self: Any, headers: Any) -> Any:
        return None if headers.get("x-auth-token") in refused else known(self, headers)

    monkeypatch.setattr(type(identity), "authenticate", authenticate)

    async def scenario(connect: Any, hub: Any) -> None:
        stays, goes = await connect("p1/events"), await connect("p1/events", token="p1/reader")
        for client in (stays, goes):
            await client.read(lambda frames: frames)
        refused.add("p1/reader")
        for each in hub._list_all():
            each.check_at = 0.0
        hub.tick()
        await goes.end()
        await create(api, "s")
        assert len(await stays.read_states(4)) == 4
        assert not any(frame.kind for frame in goes.frames)
        assert hub.count == 1

    with_clients(scenario)


def test_a_project_has_so_many_streams_and_no_more(
    api: Any, with_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        clients = [await connect("p1/events") for _ in range(hub_module.MOST_STREAMS)]
        refused = await connect("p1/events")
        await refused.end()
        assert refused.status == 429
        assert refused.headers["retry-after"] == "1"
        assert (await connect("p2/events", token="p2")).status == 200
        await clients[0].leave()
        assert (await connect("p1/events")).status == 200

    with_clients(scenario)


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 30, "٣"])
def test_a_position_that_is_no_number_is_refused(api: Any, with_clients: Any, after: str) -> None:
    async def scenario(connect: Any, hub: Any) -> None:
        client = await connect(f"p1/events?after={after}")
        await client.end()
        assert client.status == 400
        assert b"after" in client.body

    with_clients(scenario)


def test_hidden_values_are_in_no_stream(api: Any, with_clients: Any) -> None:
    template = {
        **EMPTY,
        "parameters": {"password": {"type": "string", "hidden": True}},
        "resources": {
            "a": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "password"}, "fail": True},
            }
        },
        "outputs": {"o": {"value": {"get_param": "password"}}},
    }
    made = {"stack_name": "s", "template": template, "parameters": {"password": "swordfish"}}

    async def scenario(connect: Any, hub: Any) -> None:
        client = await connect("p1/events")
        await client.read(lambda frames: frames)
        reply = await asyncio.to_thread(api, "POST", "/stacks", made)
        await asyncio.to_thread(api.wait, reply.body["stack"]["id"])
        await client.read(
            lambda frames: any(
                frame.data and frame.data["state"] == "CREATE_FAILED" and not frame.data["path"]
                for frame in frames
            )
        )
        assert b"swordfish" not in client.body

    with_clients(scenario)
