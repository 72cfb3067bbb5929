"""What a DAG run is given as its ``conf``: the body of zonda's HTTP contract, version 1."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from zonda.hooks.runner import StartRequest

CONTRACT = 1


def body_of(request: StartRequest) -> bytes:
    """The same bytes for every send of one operation. Raises ValueError for NaN and the like."""
    body: dict[str, Any] = {
        "contract": CONTRACT,
        "action": request.action,
        "request_id": request.key,
        "deadline": f"{datetime.fromtimestamp(request.deadline, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "stack": {
            "id": request.stack.id,
            "name": request.stack.name,
            "project": request.stack.project,
        },
        "resource": {
            "id": request.resource.id,
            "name": request.resource.name,
            "type": request.resource.type,
            "physical_id": request.resource.physical_id,
        },
        "inputs": request.inputs,
        "params": request.params,
        "description": request.description,
    }
    optional = {
        "old_inputs": request.old_inputs,
        "data": request.data,
        "create_request_id": request.create_key,
    }
    body.update({name: value for name, value in optional.items() if value is not None})
    return json.dumps(body, sort_keys=True, allow_nan=False).encode()
