"""The service that the tests register with a real Restate: disks, and a ledger of what was done."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import restate

disk = restate.Service("Disk")
flow = restate.Workflow("Flow")


def _note(line: str) -> None:
    with Path(os.environ["LEDGER"]).open("a") as ledger:
        ledger.write(line + "\n")


@disk.handler()
async def create(ctx: restate.Context, request: dict[str, Any]) -> dict[str, Any]:
    """Make a disk; ``seconds`` to wait before, ``fail`` to fail for good."""
    inputs = request["inputs"]
    name = f"disk-{inputs['size']}"
    await ctx.run("begin", lambda: _note(f"CREATE {request['request_id']}"))
    if inputs.get("seconds"):
        await ctx.sleep(timedelta(seconds=inputs["seconds"]))
    if inputs.get("fail"):
        raise restate.TerminalError("no capacity", status_code=507)
    await ctx.run("end", lambda: _note(f"made {name}"))
    return {"resource_id": name, "size": inputs["size"]}


@disk.handler()
async def change(ctx: restate.Context, request: dict[str, Any]) -> dict[str, Any]:
    """Give a disk another size."""
    was, size = request["data"]["size"], request["inputs"]["size"]
    await ctx.run("change", lambda: _note(f"UPDATE {was} -> {size}"))
    return {"size": size}


@disk.handler()
async def remove(ctx: restate.Context, request: dict[str, Any]) -> dict[str, Any]:
    """Remove a disk."""
    gone = (request.get("data") or {}).get("resource_id")
    await ctx.run("remove", lambda: _note(f"DELETE {gone}"))
    return {}


@flow.main()
async def run(ctx: restate.WorkflowContext, request: dict[str, Any]) -> int:
    """A workflow of Restate, once for each key; what it gives is no object."""
    key = ctx.key()
    await ctx.run("note", lambda: _note(f"FLOW {key} {request['action']}"))
    return 5


app = restate.app([disk, flow])
