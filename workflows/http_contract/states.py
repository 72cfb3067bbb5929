"""The states of the ``http`` contract's answers.

Apart from ``http_answer``, which the bundled service does without: it starts quickly, and sends
nothing.
"""

from __future__ import annotations

FINAL = ("succeeded", "failed", "cancelled")
STATES = ("running", *FINAL)
#: The output that is the text of a command, where that is no JSON object.
TEXT = "stdout"
