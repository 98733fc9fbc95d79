"""How failures and tasks are written down and read back: closed words, no message."""

from collections.abc import Mapping
from typing import Any

from verification.domain.consensus.failures import Failure, FailureKind, Status


def failure_document(failure: Failure) -> dict[str, Any]:
    """Return a failure as it is stored."""
    return {
        "status": failure.status.value,
        "kind": failure.kind.value,
        "retryable": failure.is_retryable,
        "code": failure.code,
        "name": failure.name,
        "http": failure.http_status,
    }


def failure_of(document: Mapping[str, Any]) -> Failure:
    """Return a failure as it was stored."""
    return Failure(
        status=Status(document["status"]),
        kind=FailureKind(document["kind"]),
        is_retryable=bool(document["retryable"]),
        code=document["code"],
        name=document["name"],
        http_status=document["http"],
    )


def number_of(task: str) -> int:
    """Return the number of a task by the name that the rules give it: 3 of `task-3`, 0 of none."""
    return int(task.removeprefix("task-")) if task else 0
