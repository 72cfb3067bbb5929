"""The engine log: plug-in calls, changes by requests, warnings; to standard error or a file.

Opened by the command line from the settings; ``core/engine/plugins/call_log.py`` and
``core/api/server/request_log.py`` write the calls and the requests. A line, text or JSON, has no
character that steers a terminal or looks like another line. A file is opened anew once something
else stands in its place (logrotate).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, TextIO

from zonda.hooks.errors import UsageError
from zonda.hooks.text.sanitize import escape_control_chars, truncate_middle

from .folders import make_folder
from .log_masks import mask_fields

LOGGER = "zonda.calls"
#: The loggers in it, all but the first from WARNING on. Plug-ins may log hidden values: not theirs.
LOGGERS = (LOGGER, "zonda.core", "uvicorn")
OFF, STDERR = "off", "stderr"


def open_log(place: str, form: str, home: Path) -> None:
    """Open the log at ``place``: ``stderr``, a file (relative to the home), or ``off``."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        for handler in [each for each in logger.handlers if getattr(each, "is_engine_log", False)]:
            logger.removeHandler(handler)
            handler.close()
    calls = loggers[0]
    calls.setLevel(logging.NOTSET)
    if place in ("", OFF):
        return
    if place == STDERR:
        made: logging.Handler = logging.StreamHandler(sys.stderr)
    else:
        make_folder(home)
        made = _open_file(home / Path(place).expanduser())
    made.setFormatter(_Json() if form == "json" else _Text())
    made.addFilter(lambda record: record.name == LOGGER or record.levelno >= logging.WARNING)
    made.is_engine_log = True  # type: ignore[attr-defined]
    for logger in loggers:
        logger.addHandler(made)
    calls.setLevel(min(logging.INFO, calls.getEffectiveLevel()))  # DEBUG under --debug


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
    """The fields of a record; those of a warning are made of its message and its exception."""
    fields: dict[str, Any] | None = getattr(record, "fields", None)
    if fields is None:
        fields = {"logger": record.name, "message": record.getMessage(), **_get_exception(record)}
    return {
        key: truncate_middle(value) if isinstance(value, str) and key != "traceback" else value
        for key, value in mask_fields(fields).items()
    }


def _get_exception(record: logging.LogRecord) -> dict[str, str]:
    """The kind of an exception and the way to it. Its text may hold anything."""
    kind, _, trace = record.exc_info or (None, None, None)
    if kind is None:
        return {}
    return {"reason": kind.__name__, "traceback": "".join(traceback.format_tb(trace))}


class _Json(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        return _dump(
            {"time": _format_time(record), "level": record.levelname, **_get_fields(record)}
        )


class _Text(logging.Formatter):
    """Formats a record as ``key=value`` pairs; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        fields = _get_fields(record)
        trace = fields.pop("traceback", "")
        pairs = (f"{key}={_quote(value)}" for key, value in fields.items())
        line = f"{_format_time(record)} {record.levelname} {' '.join(pairs)}"
        return "\n    ".join([line, *map(escape_control_chars, trace.splitlines())])


def _quote(value: Any) -> str:
    text = str(value)
    is_plain = text.isprintable() and not set(text) & set(' "=') and text
    return text if is_plain else _dump(text)


def _dump(value: Any) -> str:
    """JSON for a line: letters of all languages as they are, what is no letter as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
