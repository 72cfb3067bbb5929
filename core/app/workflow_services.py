"""The workflow services of a home, and the check of an endpoint. Made by ``App``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from zonda.core.settings.sections import read_callback_keys
from zonda.core.settings.table import BUNDLED
from zonda.core.system.folders import make_folder
from zonda.core.system.ids import make_token

from .parts import Parts
from .runners import runner_service

if TYPE_CHECKING:  # imported by the check alone
    from zonda.hooks.conformance import Report, Row

    from .runners.runner_endpoint import EndpointCheckOptions


class Runners:
    """The workflow services of one home."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list_services(self) -> list[runner_service.Service]:
        """List the services that run."""
        return runner_service.list_services(self._parts.settings)

    def serve(
        self,
        files: list[Path],
        address: str | None,
        ready: Callable[[str, str], None],
        name: str = "",
    ) -> None:
        """Run a workflow service until SIGTERM or Ctrl-C; ``ready`` gets its name and its address.

        Raises UsageError for files or an address that cannot be used, Conflict if it runs already,
        or another one serves a workflow of the same name.
        """
        from zonda.workflows.service import config, server

        settings, workflows = self._parts.settings, config.load_config(*files).workflows
        # what has no workflows only listens for callbacks, and one does
        name = (
            runner_service.choose_name(settings, files[0], name) if name or workflows else BUNDLED
        )
        host, port = runner_service.parse_host_and_port(address or settings.service_address)
        if address is None and name != BUNDLED:
            port = 0  # the setting is for one of them
        record, token = runner_service.get_record(settings, name), make_token()

        def publish(url: str) -> None:
            record.publish(url, token, [str(file.absolute()) for file in files], workflows)
            ready(name, url)

        record.check_free()
        runner_service.check_served_once(settings, name, workflows)
        state = runner_service.get_service_folder(settings, name)
        make_folder(settings.home)
        make_folder(state.parent)
        try:
            server.serve(
                *files,
                state_dir=state,
                host=host,
                port=port,
                token=token,
                callback_keys=read_callback_keys(settings),
                ready=publish,
            )
        finally:
            record.withdraw()

    def check_endpoint(
        self,
        options: EndpointCheckOptions,
        pause: Callable[[float], object],
        on_row: Callable[[Row], object],
    ) -> Report:
        """Check an endpoint against the http contract; ``on_row`` gets each row of the report."""
        from zonda.hooks.conformance.pytest_runner import run_with_pytest
        from zonda.workflows.endpoint_check import probe, suite

        parts = self._parts
        section = {
            "clock": parts.clock,
            "random": parts.random,
            **options.section(parts.settings),
        }
        target = probe.Target(**options.target())
        with suite.EndpointSuite(
            target, section, pause=pause, new_id=parts.ids, on_row=on_row
        ) as rules:
            run_with_pytest([rules])
        return rules.report
