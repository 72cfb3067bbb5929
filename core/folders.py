"""Folders of zonda's state: made for their owner alone, since names and logs lie in them too."""

from __future__ import annotations

from pathlib import Path

from zonda.hooks.errors import StoreError


def make_folder(folder: Path) -> None:
    """Make ``folder`` with mode 0700, unless it is there; raises StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            hint="Choose another with --home or ZONDA_HOME.",
        ) from error
