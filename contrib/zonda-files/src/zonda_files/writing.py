"""Writing a file so that it is there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .paths import sync_directory
from .permissions import Permissions

_FLAGS = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def temporary(path: Path, tag: str) -> Path:
    """The name under which a resource (``tag``) makes what will stand at ``path``."""
    return path.with_name(f".{path.name}.zonda-{tag}")


def write(
    path: Path,
    tag: str,
    content: bytes,
    permissions: Permissions,
    note: Callable[[os.stat_result], None],
    *,
    replace: bool,
) -> None:
    """Write, sync and only then name the file. ``note`` stores its inode before it is named.

    Without ``replace`` a file that has appeared meanwhile raises FileExistsError and stays.
    """
    made = temporary(path, tag)
    made.unlink(missing_ok=True)
    try:
        note(_written(made, content, permissions))
        _name(made, path, replace)
    finally:
        made.unlink(missing_ok=True)
    sync_directory(path.parent)


def _written(made: Path, content: bytes, permissions: Permissions) -> os.stat_result:
    descriptor = os.open(made, os.O_WRONLY | _FLAGS, 0o600)
    with open(descriptor, "wb", closefd=True) as file:
        file.write(content)
        file.flush()
        permissions.apply(descriptor)
        os.fsync(descriptor)
        return os.fstat(descriptor)


def _name(made: Path, path: Path, replace: bool) -> None:
    if not replace:
        try:
            # A link fails where the name is taken; a rename would take it away.
            os.link(made, path, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError as error:  # a file system without hard links
            if os.path.lexists(path):
                raise FileExistsError(17, "it has appeared meanwhile", str(path)) from error
        else:
            return
    os.replace(made, path)


def read(path: Path, limit: int) -> bytes:
    """The content of the file itself; a link is not followed. At most ``limit`` + 1 bytes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        return file.read(limit + 1)
