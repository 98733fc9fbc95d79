"""Asks language models. Every detail of a provider ends here: addresses, keys, formats, errors.

Takes a prompt and returns a reply or a failure, both as the rules know them. A call runs in a
thread of its own, so that whoever waits for it can keep a lease alive and call it off. Keys come
from settings or from the admin, are opened only for the call, and are never logged or returned.
"""

import asyncio
import logging
import threading
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import anthropic
import httpx2
import openai
from django.conf import settings
from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from runs.sealing import SealBroken, unseal
from verification.domain.consensus import failures
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import Usage
from verification.domain.consensus.prompts import Prompt
from verification.domain.jobs.members import LONGEST_ANSWER
from verification.models import CataloguedModel

logger = logging.getLogger(__name__)

_ERRORS = (
    AgentRunError, UserError, openai.OpenAIError, anthropic.AnthropicError, httpx2.HTTPError,
    ValueError, TypeError, AttributeError, LookupError, OSError,
)  # fmt: skip
"""What a provider's client raises when a server answers with something that nobody expects."""


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


def catalogue() -> list[str]:
    """Return the names of the models that jobs may use, in order."""
    added = CataloguedModel.objects.filter(is_enabled=True).values_list("name", flat=True)
    return sorted({*added, *_in_settings()})


def endpoint_named(name: str) -> Endpoint | None:
    """Return the model of a name; None when there is none, or its key can no longer be opened."""
    row = CataloguedModel.objects.filter(name=name, is_enabled=True).first()
    if row is None:
        return _in_settings().get(name)
    try:
        key = unseal(row.sealed_key)
    except SealBroken:
        logger.warning("the key of model %s cannot be opened", row.pk)
        return None
    return Endpoint(
        name=row.name,
        provider=row.provider,
        model=row.model,
        base_url=row.base_url,
        key=key,
        has_schemas=row.has_schemas,
    )


def _in_settings() -> dict[str, Endpoint]:
    """Return the models of OPENWOP_CONSOLE_MODELS, each `provider:model`."""
    addresses = {
        "openai": ("", settings.OPENAI_KEY),
        "anthropic": ("", settings.ANTHROPIC_KEY),
        "compatible": (settings.COMPATIBLE_URL, settings.COMPATIBLE_KEY),
    }
    found = {}
    for name in settings.MODELS:
        provider, _, model = name.partition(":")
        if provider in addresses and model:
            found[name] = Endpoint(name, provider, model, *addresses[provider])
    return found


class Call:
    """One call under way."""

    def __init__(self, endpoint: Endpoint, question: Question) -> None:
        self._endpoint = endpoint
        self._question = question
        self._result: Future[Said | Failed] = Future()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="model call", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> Said | Failed | None:
        """Return how it ended; None when it still goes on after this time."""
        try:
            return self._result.result(timeout=seconds)
        except NotYet:
            return None
        except CancelledError:
            return Failed(failures.CANCELLED)

    def call_off(self) -> None:
        """Stop waiting for an answer and close the connection."""
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(self._ask())
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            self._settle(Failed(failures.CANCELLED))
        finally:
            self._settle(Failed(failures.raised("CallEnded")))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _settle(self, result: Said | Failed) -> None:
        if not self._result.done():
            self._result.set_result(result)

    async def _ask(self) -> None:
        async with _client(self._endpoint, self._question.timeout_s) as client:
            model = _model(self._endpoint, client)
            try:
                async with asyncio.timeout(self._question.timeout_s):
                    response = await model_request(
                        model,
                        _messages(self._question.prompt),
                        model_settings=ModelSettings(max_tokens=self._question.reply_tokens),
                        model_request_parameters=_parameters(model, self._question),
                    )
                self._settle(_said(self._endpoint, response))
            except TimeoutError:
                self._settle(Failed(failures.CALL_TIMEOUT))
            except _ERRORS as error:
                self._settle(_failed(error))


def _client(endpoint: Endpoint, timeout_s: float) -> Any:
    """Return the provider's own client; it does not retry, for every call is in the ledger."""
    options: dict[str, Any] = {
        "api_key": endpoint.key or "none",
        "base_url": endpoint.base_url or None,
        "max_retries": 0,
        "timeout": timeout_s,
    }
    if endpoint.provider == "anthropic":
        return anthropic.AsyncAnthropic(**options)
    return openai.AsyncOpenAI(**options)


def _model(endpoint: Endpoint, client: Any) -> Model:
    if endpoint.provider == "anthropic":
        return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))
    provider = OpenAIProvider(openai_client=client)
    if endpoint.provider == "openai":
        return OpenAIChatModel(endpoint.model, provider=provider)
    profile = OpenAIModelProfile(
        supports_json_schema_output=endpoint.has_schemas,
        openai_chat_supports_max_completion_tokens=False,  # what most such servers know
    )
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile)


def _messages(prompt: Prompt) -> list[Any]:
    system = [SystemPromptPart(prompt.system)] if prompt.system else []
    return [ModelRequest(parts=[*system, UserPromptPart(prompt.user)])]


def _parameters(model: Model, question: Question) -> ModelRequestParameters:
    can = bool(model.profile.get("supports_json_schema_output"))
    if question.schema is None or not can:
        return ModelRequestParameters()
    form = OutputObjectDefinition(json_schema=question.schema, name="verdict", strict=True)
    return ModelRequestParameters(output_mode="native", output_object=form)


def _said(endpoint: Endpoint, response: ModelResponse) -> Said | Failed:
    if response.finish_reason == "content_filter":
        return Failed(_permanent("CONTENT_FILTER", "ContentFilterError"))
    text = response.text or ""
    if len(text) > LONGEST_ANSWER:
        return Failed(_permanent("REPLY_TOO_LONG", "ReplyTooLong"))
    usage = Usage(max(0, response.usage.input_tokens), max(0, response.usage.output_tokens))
    return Said(_readable(text), usage, cost_of(endpoint, usage))


def _readable(text: str) -> str:
    """Return the text as the database can hold it: lone surrogates and NUL become marks."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _permanent(code: str, name: str) -> Failure:
    return Failure(Status.ERROR, FailureKind.PROVIDER, False, code, name)


def _failed(error: BaseException) -> Failed:
    if isinstance(error, ModelTimeoutError):
        return Failed(failures.CALL_TIMEOUT)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    asked = error.retry_after if isinstance(error, ModelAPIError) else None
    if isinstance(error, UserError):
        return Failed(_permanent("MODEL_UNUSABLE", "UserError"))
    return Failed(failures.raised(type(error).__name__, status), asked)


def cost_of(endpoint: Endpoint, usage: Usage) -> Decimal | None:
    """Return what a call cost in US dollars by the public price list; None where none is known."""
    if endpoint.provider == "compatible":
        return None
    try:
        return calc_price(
            PricedUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
            model_ref=endpoint.model,
            provider_id=endpoint.provider,
        ).total_price
    except LookupError:
        return None
