"""What a call to a model is: whom to ask, what, and how it ended."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from verification.domain.consensus.failures import Failure
from verification.domain.consensus.history import Usage
from verification.domain.consensus.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model that jobs may name, with what it takes to reach it."""

    name: str
    provider: str
    model: str
    base_url: str
    key: str
    has_schemas: bool = True

    def __repr__(self) -> str:
        return f"Endpoint({self.name})"

    @property
    def limited_as(self) -> str:
        """What shares one limit of calls at once: a provider's address."""
        return f"{self.provider} {self.base_url}"


@dataclass(frozen=True, slots=True)
class Said:
    """A model's reply. Content."""

    text: str
    usage: Usage
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that brought no reply."""

    failure: Failure
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to ask a model, and for how long."""

    prompt: Prompt
    schema: dict[str, Any] | None
    """The form of the reply, for models that can be held to one."""
    reply_tokens: int
    timeout_s: float
