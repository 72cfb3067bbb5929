"""The sending of a stream: its parts go out as they come, until one side ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.types import Receive, Send

from ..live.stream import EventStream, Run

_START, _BODY = "http.response.start", "http.response.body"


async def send_stream(
    stream: EventStream,
    headers: Sequence[tuple[bytes, bytes]],
    run: Run,
    receive: Receive,
    send: Send,
) -> None:
    """Send a stream that is open. ``run``: runs a function in a thread."""

    async def write(data: bytes) -> None:
        await send({"type": _BODY, "body": data, "more_body": True})

    watcher = asyncio.create_task(_end_with_client(stream, receive))
    try:
        await send({"type": _START, "status": 200, "headers": [*headers]})
        if await stream.run(run, write):
            await send({"type": _BODY, "body": b""})
    finally:
        watcher.cancel()
        stream.close()


async def _end_with_client(stream: EventStream, receive: Receive) -> None:
    """End the stream when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.end()
