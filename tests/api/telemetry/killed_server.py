"""A server that is killed while a resource waits, created on behalf of a traced client."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence

from opentelemetry.sdk.trace import TracerProvider

from zonda.core.api.http.requests import Request
from zonda.core.api.identity.no_identity import NoIdentity
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.spans import Spans
from zonda.core.app.app import build_app
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.settings import settings


def main(home: str, request_id: str, traceparent: str, template: str) -> None:
    """Create the stack ``one``; print its id once its resource ``waiting`` is in progress."""
    app = build_app(settings.load_settings({"home": home, "log": "off"}, {}))
    assert app.engine.run()
    is_waiting = threading.Event()

    def watch(notices: Sequence[Notice]) -> None:
        if any(each.event and each.event.resource_name == "waiting" for each in notices):
            is_waiting.set()

    app.engine.subscribe(watch)
    service = Service(app)
    service.tracing = Spans(TracerProvider(), app.plugins.resource_types)
    dispatcher = Dispatcher(service, make_interfaces(service, NoIdentity("ann", "p1")))
    body = json.dumps({"stack_name": "one", "template": json.loads(template)}).encode()
    headers = {"traceparent": traceparent}
    request = Request("POST", "/v1/p1/stacks", "", headers, body, "http://x", request_id)
    answer = dispatcher.answer(request, dispatcher.find_target("POST", request.path))
    assert is_waiting.wait(60)
    print(json.loads(answer.format_body())["stack"]["id"], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


main(*sys.argv[1:])
