"""A server that is killed as soon as an action is committed, and the next one of its home."""

from __future__ import annotations

import json
import os
import signal
import sys

from zonda.core.api.http.requests import Request
from zonda.core.api.identity.no_identity import NoIdentity
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.project import Project
from zonda.core.api.service.service import Service
from zonda.core.app.app import build_app
from zonda.core.engine import actions
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle

TEMPLATE = "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::RandomString}}\n"


def main(home: str, mode: str) -> None:
    """Send the same action; in mode ``kill`` no answer comes."""
    app = build_app(settings.load_settings({"home": home, "log": "off"}, {}))
    assert app.engine.run()
    service = Service(app)
    dispatcher = Dispatcher(service, make_interfaces(service, NoIdentity("ann", "default")))
    if mode == "kill":
        submit = Project.submit

        def submit_and_die(*given: object, **more: object) -> object:
            submit(*given, **more)  # type: ignore[arg-type]
            os.kill(os.getpid(), signal.SIGKILL)
            return None

        Project.submit = submit_and_die  # type: ignore[assignment, method-assign]
    body = actions.to_json(actions.CreateStack("one", Bundle(TEMPLATE))).encode()
    headers = {"idempotency-key": "the-same-key"}
    path = "/zonda/v1/default/actions"
    request = Request("POST", path, "", headers, body, "http://x", "req-1")
    answer = dispatcher.answer(request, dispatcher.find_target("POST", path))
    accepted = json.loads(answer.format_body())["accepted"]
    found = app.engine.look(accepted["stack_id"], 60.0)
    print(answer.status, accepted["generation"], found.state, len(app.stacks.list_all()))
    app.close()


main(*sys.argv[1:])
