"""How a stored failure is written down and read back: closed words, no message."""

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
