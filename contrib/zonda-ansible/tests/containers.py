"""Containers of podman for tests, whose root is this machine's with a layer of their own above."""

from __future__ import annotations

import os
import resource
import secrets
import select
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

ABSENT: Final = "no podman with runc: apt-get install --no-install-recommends podman runc"


def find_podman() -> str | None:
    """The program; None where it or what runs its containers is not installed."""
    return shutil.which("podman") if shutil.which("runc") else None


def wait_for_end(pid: int) -> None:
    """Wait for a process that is not our child: what watches a container tidies up behind it."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = select.poll()
    ended.register(watched)
    ended.poll(60_000)
    os.close(watched)


class Container:
    """A container that does nothing, without a network; no image is needed."""

    def __init__(self) -> None:
        """Raises RuntimeError with the reason where none can be started."""
        self.name = f"zonda-{secrets.token_hex(4)}"
        # The layer must be on another file system than what lies below.
        self._folder = Path(mkdtemp(prefix="zonda-podman-", dir="/dev/shm"))
        # Unlike crun, runc works where both versions of cgroups are mounted.
        words = ("--root", str(self._folder / "root"), "--runroot", str(self._folder / "run"))
        self._options = [*words, "--runtime", "runc"]
        limits = [
            f"--ulimit={name}={min(1024, resource.getrlimit(kind)[1] % 2**31)}"
            for name, kind in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
        ]
        begin = ["run", "--detach", "--network=none", "--name", self.name, *limits]
        begun = self._podman(*begin, "--rootfs", "/:O", "sleep", "infinity")
        if begun.returncode:
            self.stop()
            raise RuntimeError(begun.stderr.strip())

    def run(self, *words: str) -> str:
        """The output of a command inside."""
        return self._podman("exec", self.name, *words).stdout

    def has(self, path: Path) -> bool:
        """Whether a file is there inside."""
        return self._podman("exec", self.name, "test", "-e", str(path)).returncode == 0

    def stop(self) -> None:
        """Remove it."""
        shown = self._podman("inspect", "--format={{.State.ConmonPid}}", self.name)
        self._podman("rm", "--force", "--time=0", "--ignore", self.name)
        if shown.returncode == 0:
            wait_for_end(int(shown.stdout))
        # podman leaves its store mounted on itself
        umount = ["umount", str(self._folder / "root" / "overlay")]
        subprocess.run(umount, capture_output=True, check=False)
        shutil.rmtree(self._folder)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a host, as templates give them."""
        return {
            "address": self.name,
            "connection": "containers.podman.podman",
            "python": "/usr/bin/python3",
            "variables": {"ansible_podman_extra_args": " ".join(self._options)},
        }

    def _podman(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["podman", *self._options, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)
