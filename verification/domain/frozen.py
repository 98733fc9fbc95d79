"""A decision as the exact bytes that every attempt sends.

The bytes are canonical JSON (RFC 8785) and are made once, in the transaction that records the
decision; their SHA-256 is kept with them. Nothing re-serializes a decision after that.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import rfc8785

from verification.domain.errors import VerificationError


class NotCanonical(VerificationError):
    """The value has no canonical JSON form. Never carries the value."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"The decision cannot be written as canonical JSON: {why}.")


@dataclass(frozen=True, slots=True)
class FrozenBody:
    """Bytes and their digest."""

    content: bytes
    sha256: str
    """In hex."""

    @property
    def resume_value(self) -> Any:
        """The value in a body that `resume_body` made."""
        return json.loads(self.content)["resumeValue"]


def canonical(value: object) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises:
        NotCanonical: a number beyond 2^53, not finite, a lone surrogate, or no JSON at all.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except rfc8785.IntegerDomainError:
        raise NotCanonical("a whole number is beyond 2^53") from None
    except rfc8785.FloatDomainError:
        raise NotCanonical("a number is not finite") from None
    except (rfc8785.CanonicalizationError, RecursionError):
        raise NotCanonical("a part of it is not JSON") from None


def frozen(body: object) -> FrozenBody:
    """Return the body as bytes that stay as they are.

    Raises:
        NotCanonical: as `canonical`.
    """
    content = canonical(body)
    return FrozenBody(content, hashlib.sha256(content).hexdigest())


def resume_body(value: object) -> FrozenBody:
    """Return the frozen body of a resolve request: `{"resumeValue": value}`, nothing else.

    Source: OpenWOP interrupt.md, resolve surfaces; the body is closed.
    """
    return frozen({"resumeValue": value})


def is_intact(content: bytes, sha256: str) -> bool:
    """Say whether stored bytes are still the ones that were frozen."""
    return hashlib.sha256(content).hexdigest() == sha256
