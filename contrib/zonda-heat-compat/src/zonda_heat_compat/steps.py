"""The steps of an update that a service has taken already, though nobody has noted it.

Heat's updates of servers and volumes go step by step: a request, and polls until it shows. A
process that dies after the request leaves a token without it, and most services refuse the request
a second time (a resize of a server that waits for its confirmation). So what the cloud shows is
noted in the token before the next poll. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from heat.engine.clients import progress

#: The states of servers and volumes in which they carry out a request.
_BUSY: Final = ("extending", "retyping", "attaching", "detaching", "reserved", "maintenance")


def note_steps(heat: Any, token: Any) -> None:
    """Note in the token of an update what the cloud has done of it.

    A server whose earlier resize waits for a confirmation is confirmed first.
    """
    if not isinstance(token, list | tuple):
        return
    for step in list(token):
        if getattr(step, "called", True) or getattr(step, "complete", False):
            continue
        if isinstance(step, progress.ServerUpdateProgress):
            server = heat.client_plugin().fetch_server(step.server_id)
            note = _SERVER.get(step.handler)
            if server is not None and note is not None:
                note(heat, server, step, token)
        elif isinstance(step, progress.VolumeResizeProgress):
            volume = heat.client().volumes.get(heat.resource_id)
            step.called = volume.status == "extending" or volume.size >= step.size
        elif isinstance(step, progress.VolumeAttachProgress):
            volume = heat.client("cinder").volumes.get(step.vol_id)
            if step.srv_id in [each.get("server_id") for each in volume.attachments]:
                step.called = step.vol_id  # an attachment has the id of its volume


def is_busy(heat: Any) -> bool:
    """Whether a request of an earlier process is still carried out on the server or volume."""
    name, id = type(heat).__name__, heat.resource_id
    if id is None or name not in ("Server", "CinderVolume"):
        return False
    with heat.client_plugin().ignore_not_found:
        if name == "Server":
            return _get_task(heat.client().servers.get(id)) != ""
        return heat.client().volumes.get(id).status in _BUSY
    return False


def _get_task(server: Any) -> str:
    return str(getattr(server, "OS-EXT-STS:task_state", None) or "")


def _note_resize(heat: Any, server: Any, step: Any, token: Any) -> None:
    if server.status == "RESIZE" or _get_task(server).startswith("resize"):
        step.called = True
        return
    has_flavor = _find_flavor(heat, server) == str(step.handler_args[1])
    if server.status == "VERIFY_RESIZE":
        step.called = step.complete = has_flavor
        if not has_flavor:
            token.insert(0, progress.ServerUpdateProgress(step.server_id, "verify_resize"))
    elif has_flavor:
        step.called = step.complete = True


def _note_confirmation(heat: Any, server: Any, step: Any, token: Any) -> None:
    resized = next((each for each in token if getattr(each, "handler", "") == "resize"), None)
    if resized is None or not resized.complete:
        return
    step.called = server.status != "VERIFY_RESIZE" or _get_task(server) != ""


def _note_rebuild(heat: Any, server: Any, step: Any, token: Any) -> None:
    step.called = server.status == "REBUILD" or _get_task(server).startswith("rebuild")


def _note_attachment(heat: Any, server: Any, step: Any, token: Any) -> None:
    port = step.handler_kwargs.get("port_id")
    step.called = port in [each.port_id for each in server.interface_list()]


def _find_flavor(heat: Any, server: Any) -> str:
    """The id of a server's flavor; '' where that was removed meanwhile."""
    flavor: Mapping[str, Any] = server.flavor
    if "id" in flavor:
        return str(flavor["id"])
    plugin = heat.client_plugin()
    with plugin.ignore_not_found:
        return str(plugin.find_flavor_by_name_or_id(flavor["original_name"]))
    return ""


_SERVER: Final[Mapping[str, Callable[[Any, Any, Any, Any], None]]] = {
    "resize": _note_resize,
    "verify_resize": _note_confirmation,
    "rebuild": _note_rebuild,
    "interface_attach": _note_attachment,
}
