"""The service about itself: its build, its processes."""

from __future__ import annotations

import os
import socket

from ...http.calls import Answer, Call
from ..values import format_time


def show_build_info(call: Call) -> Answer:
    """The revisions; a stranger learns no version."""
    return Answer(200, {"api": {"revision": "unknown"}, "engine": {"revision": "unknown"}})


def list_services(call: Call) -> Answer:
    """The one engine, which is this process."""
    app = call.project.service.app
    host, now = socket.gethostname(), format_time(app.clock.now())
    row = {
        "id": str(os.getpid()),
        "hostname": host,
        "host": host,
        "binary": "zonda",
        "engine_id": str(os.getpid()),
        "topic": "engine",
        "status": "up",
        "created_at": now,
        "updated_at": now,
        "deleted_at": None,
        "report_interval": 60,
    }
    return Answer(200, {"services": [row]})
