"""Runs conformance cases: ``python tests/conformance/run.py PATH...`` (files or folders).

Prints a line per failing case with what differs, a count by area, and at the end one JSON line
``{"passed": n, "failed": n, "deviations": n}``. A case that passes by ``deviations.yaml`` counts
as a deviation; a case listed in ``later.yaml`` fails like any other, with the reason it is listed
for. The exit code is 0 only if nothing failed.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import load
from harness.compare import differences
from harness.play import Answer, play

STAGES = ("parse", "environment", "validate", "create")


def verdict(case: Mapping[str, Any]) -> list[str]:
    """What differs from the case's expectation; empty if it passes."""
    try:
        answer = play(case)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [
            f"crash: {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        ]
    if "expect_error" in case:
        return _error_differences(case["expect_error"], answer)
    if answer.error is not None:
        return [f"not created: {answer.error}"]
    return [
        line
        for part, expected in case["expect"].items()
        for line in _part_differences(part, expected, answer)
    ]


def _part_differences(part: str, expected: Any, answer: Answer) -> list[str]:
    given = answer.given.get(part)
    if part == "steps":
        given = [
            {key: value for key, value in step.items() if key in said or key == "error"}
            for said, step in zip(expected, given, strict=False)
        ]
        expected = [
            {key: value for key, value in step.items() if key != "resource"} for step in expected
        ]
        given = [{k: v for k, v in step.items() if k != "resource"} for step in given]
    elif part == "output_errors":
        return _output_error_differences(expected, given or {})
    elif part == "conditions":
        expected, given = _same_errors(expected, given)
    return list(differences(expected, given, answer.names, part))


def _same_errors(expected: Any, given: Any) -> tuple[Any, Any]:
    """Conditions whose evaluation fails: that it fails is compared, not how."""
    failing = {name for name, value in expected.items() if isinstance(value, dict)}
    wrong = {name for name in failing if not isinstance((given or {}).get(name), dict)}
    kept = {name: value for name, value in expected.items() if name not in failing - wrong}
    return kept, {k: v for k, v in (given or {}).items() if k not in failing - wrong}


def _output_error_differences(expected: Any, given: Any) -> list[str]:
    found = [f"output_errors.{name}: unexpected {given[name]}" for name in given.keys() - expected]
    for name, error in expected.items():
        if name not in given:
            found.append(f"output_errors.{name}: expected {error}, got a value")
            continue
        match = error.get("match", "message")
        for key in _compared(match, ("type", "message")):
            if given[name][key] != error[key]:
                found.append(
                    f"output_errors.{name}.{key}: expected {error[key]!r}, got {given[name][key]!r}"
                )
    return found


def _error_differences(expected: Mapping[str, Any], answer: Answer) -> list[str]:
    if answer.error is None:
        return [f"expected {expected['type']}: {expected['message']!r}, but it was created"]
    keys = ["stage", *_compared(expected.get("match", "message"), ("type", "message"))]
    return [
        f"{key}: expected {expected[key]!r}, got {answer.error[key]!r}"
        for key in keys
        if answer.error[key] != expected[key]
    ]


def _compared(match: str, keys: tuple[str, ...]) -> list[str]:
    return {"message": list(keys), "type": ["type"], "stage": []}[match]


def judge(case: Mapping[str, Any], deviations: Mapping[str, Any]) -> tuple[str, list[str]]:
    """``passed``, ``deviations`` or ``failed``, and what differs."""
    ours = deviations.get(case["id"])
    if ours is None:
        lines = verdict(case)
        return ("failed" if lines else "passed"), lines
    changed = {key: ours[key] for key in ("expect", "expect_error") if key in ours}
    kept = {key: value for key, value in case.items() if not key.startswith("expect")}
    lines = verdict({**kept, **changed})
    return ("failed" if lines else "deviations"), lines


def main(arguments: list[str]) -> int:
    """Run the cases of the given files and folders."""
    paths = [Path(argument) for argument in arguments] or [load.HERE / "cases"]
    deviations, later = load.deviations(), load.later()
    totals: Counter[str] = Counter()
    areas: dict[str, Counter[str]] = {}
    for case in load.cases(paths):
        result, lines = judge(case, deviations)
        totals[result] += 1
        areas.setdefault(case["area"], Counter())[result] += 1
        if result == "failed":
            why = f" [later: {later[case['id']]}]" if case["id"] in later else ""
            print(f"{case['id']}{why}: " + "; ".join(lines))
    for area, counts in sorted(areas.items()):
        print(
            f"{area}: "
            + ", ".join(
                f"{counts[key]} {key}" for key in ("passed", "failed", "deviations") if counts[key]
            )
        )
    print(json.dumps({key: totals[key] for key in ("passed", "failed", "deviations")}))
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
