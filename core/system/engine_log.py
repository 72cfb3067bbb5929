"""The engine log: one line for each plug-in call, to standard error or a file, text or JSON.

Opened by the command line from the settings; ``core/engine/plugins/call_log.py`` writes what there
is to tell. A file is opened anew once something else stands in its place (logrotate).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, TextIO

from zonda.hooks.errors import UsageError

from .folders import make_folder
from .log_masks import mask_fields

LOGGER = "zonda.calls"
OFF, STDERR = "off", "stderr"


def open_log(place: str, form: str, home: Path) -> None:
    """Open the log at ``place``: ``stderr``, a file (relative to the home), or ``off``."""
    logger = logging.getLogger(LOGGER)
    for handler in [each for each in logger.handlers if getattr(each, "is_engine_log", False)]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(logging.NOTSET)
    if place in ("", OFF):
        return
    if place == STDERR:
        made: logging.Handler = logging.StreamHandler(sys.stderr)
    else:
        make_folder(home)
        made = _open_file(home / Path(place).expanduser())
    made.setFormatter(_Json() if form == "json" else _Text())
    made.is_engine_log = True  # type: ignore[attr-defined]
    logger.addHandler(made)
    logger.setLevel(min(logging.INFO, logger.getEffectiveLevel()))  # DEBUG under --debug


def _open_file(path: Path) -> logging.Handler:
    try:
        return _PrivateFile(path, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            f"The engine log {path} cannot be written: {error.strerror}.",
            hint="The setting log names a file in a folder that is there, stderr or off.",
        ) from error


class _PrivateFile(WatchedFileHandler):
    """A log file that only its owner may read."""

    def _open(self) -> Any:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        handle = os.open(self.baseFilename, flags, 0o600)
        file: TextIO = os.fdopen(handle, "a", encoding=self.encoding, errors=self.errors)
        return file


def _format_time(record: logging.LogRecord) -> str:
    second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{second}.{int(record.msecs):03}Z"


def _get_fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return mask_fields(fields)


class _Json(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {"time": _format_time(record), "level": record.levelname, **_get_fields(record)}
        return json.dumps(shown, ensure_ascii=False)


class _Text(logging.Formatter):
    """Formats a record as ``key=value`` pairs; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(_get_fields(record))
        trace = fields.pop("traceback", "")
        pairs = (f"{key}={_quote(value)}" for key, value in fields.items())
        line = f"{_format_time(record)} {record.levelname} {' '.join(pairs)}"
        return "\n    ".join([line, *trace.splitlines()])


def _quote(value: Any) -> str:
    text = str(value)
    is_plain = text.isprintable() and not set(text) & set(' "=') and text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
