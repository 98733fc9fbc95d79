"""What went wrong with a call, as closed vocabulary: no message, so no content can leak.

Source: open-multi-agent status codes and error kinds, as golden vectors record them.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

_RETRYABLE_CLIENT_ERRORS = frozenset({408, 409, 429})


class Status(StrEnum):
    """How a call, a consensus or a whole run ended."""

    OK = "ok"
    ERROR = "error"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    BUDGET_EXHAUSTED = "budget_exhausted"


class FailureKind(StrEnum):
    """Where a failure came from."""

    PROVIDER = "provider"
    TIMEOUT = "timeout"
    CANCELLATION = "cancellation"
    BUDGET = "budget"
    VALIDATION = "validation"
    FRAMEWORK = "framework"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure, classified."""

    status: Status
    kind: FailureKind
    is_retryable: bool
    code: str | None = None
    name: str = "Error"
    http_status: int | None = None

    @property
    def is_cancellation(self) -> bool:
        """True when the work was called off."""
        return self.kind is FailureKind.CANCELLATION


def raised(name: str = "Error", http_status: int | None = None) -> Failure:
    """Classify an error that a model provider raised.

    Args:
        name: the error's class; `AbortError` means that the caller cancelled.
        http_status: the provider's answer, where there was one.
    """
    if name == "AbortError":
        return replace(CANCELLED, http_status=http_status)
    return Failure(
        status=Status.ERROR,
        kind=FailureKind.PROVIDER,
        is_retryable=_may_succeed_later(http_status),
        name=name,
        http_status=http_status,
    )


def _may_succeed_later(http_status: int | None) -> bool:
    if http_status is None or http_status in _RETRYABLE_CLIENT_ERRORS:
        return True
    return not 400 <= http_status < 500


def seen_after_abort(failure: Failure) -> Failure:
    """Reclassify a failure that arrived after the caller had asked to stop."""
    if failure.kind is FailureKind.TIMEOUT:
        return failure
    return replace(failure, status=Status.CANCELLED, kind=FailureKind.CANCELLATION)


CANCELLED = Failure(Status.CANCELLED, FailureKind.CANCELLATION, False, name="AbortError")
CALL_TIMEOUT = Failure(
    Status.TIMEOUT, FailureKind.TIMEOUT, True, "LLM_CALL_TIMEOUT", "LLMCallTimeoutError"
)
"""One model call took longer than it may."""
TOKEN_BUDGET_EXCEEDED = Failure(
    Status.BUDGET_EXHAUSTED,
    FailureKind.BUDGET,
    False,
    "TOKEN_BUDGET_EXCEEDED",
    "TokenBudgetExceededError",
)
COST_BUDGET_EXCEEDED = Failure(
    Status.BUDGET_EXHAUSTED,
    FailureKind.BUDGET,
    False,
    "COST_BUDGET_EXCEEDED",
    "CostBudgetExceededError",
)
COST_UNKNOWN = Failure(Status.ERROR, FailureKind.BUDGET, True)
"""The estimator gave something that is not a price."""
OUTPUT_INVALID = Failure(
    Status.ERROR,
    FailureKind.VALIDATION,
    False,
    "STRUCTURED_OUTPUT_VALIDATION_FAILED",
    "StructuredOutputValidationError",
)
PLAN_REFUSED = Failure(Status.ERROR, FailureKind.VALIDATION, False, "PLAN_REFUSED")
"""A person did not let the plan run."""
PLAN_INVALID = Failure(Status.ERROR, FailureKind.VALIDATION, True, "COORDINATOR_PLAN_INVALID")
DEPENDENCY_NOT_STRUCTURED = Failure(
    Status.ERROR,
    FailureKind.VALIDATION,
    True,
    "DEPENDENCY_STRUCTURED_RESULT_MISSING",
    "DependencyPayloadError",
)
DEPENDENCY_TOO_LARGE = Failure(
    Status.ERROR,
    FailureKind.VALIDATION,
    True,
    "DEPENDENCY_PAYLOAD_TOO_LARGE",
    "DependencyPayloadError",
)
BROKEN_OFF = Failure(Status.ERROR, FailureKind.FRAMEWORK, False, "SPAN_NOT_CLOSED")
"""A span that ends because the run broke, not because its work was done."""
