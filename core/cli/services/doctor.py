"""``zonda doctor``: check this installation, and give hints."""

from __future__ import annotations

import argparse

from zonda.core.app.doctor import check_packages, list_findings
from zonda.core.diagnostics.finding import FAULT, OK, Finding
from zonda.hooks.errors import UsageError

from ..arguments import takes
from ..console import formats
from ..session import Session

COLUMNS = ("Check", "Status", "Finding", "What to do")


@takes(formats.add_arguments)
def doctor(session: Session, arguments: argparse.Namespace) -> int:
    """Show every finding; exit code 1 if any of them is an error."""
    try:
        settings = session.settings
    except UsageError as error:
        hint = error.hint or "Correct zonda.toml, --set or the variable that it names."
        found = [*check_packages(), Finding("settings", FAULT, str(error), hint)]
    else:
        found = [Finding("settings", OK, f"{settings.home / 'zonda.toml'} and the environment")]
        found += list_findings(session.local)
    rows = [(each.check, each.status, each.text, each.hint) for each in found]
    session.show_rows(arguments, COLUMNS, rows)
    return int(any(each.status == FAULT for each in found))
