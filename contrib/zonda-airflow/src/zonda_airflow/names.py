"""The DAG that a workflow's name means: ``DAG``, or ``DAG#TASK`` for the result of that task."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from zonda.hooks import UsageError


@dataclass(frozen=True, slots=True)
class Target:
    """A DAG and the task whose result is the output."""

    dag: str
    task: str

    @property
    def path(self) -> str:
        """The DAG's path below the API."""
        return f"dags/{quote(self.dag, safe='')}"

    def run(self, key: str) -> str:
        """The path of one run."""
        return f"{self.path}/dagRuns/{quote(key, safe='')}"

    def result(self, key: str) -> str:
        """The path of what the task of one run has returned."""
        task = quote(self.task, safe="")
        return f"{self.run(key)}/taskInstances/{task}/xcomEntries/return_value"


def target_of(workflow: str, task: str) -> Target:
    """The target of the name ``workflow``; ``task`` where it names none. Raises UsageError."""
    dag, hash_, named = workflow.partition("#")
    if not dag.strip(".") or (hash_ and not named.strip(".")):
        raise UsageError(
            f"{workflow!r} names no DAG of Airflow.",
            hint="Write DAG_ID, or DAG_ID#TASK_ID with the task whose result is the output.",
        )
    return Target(dag, named or task)
