"""Asks language models. Every detail of a provider ends here: addresses, keys, formats, errors.

Heavy: it loads every provider's library. Whoever may not need one imports it late. Keys are opened
only for the call, and are never logged or returned.
"""

import asyncio
from typing import Any

import anthropic
import httpx2
import openai
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

from verification.calls import Endpoint, Failed, Question, Said
from verification.domain.consensus import failures
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import Usage
from verification.domain.consensus.prompts import Prompt
from verification.domain.jobs.members import LONGEST_ANSWER
from verification.endpoints import cost_of

_ERRORS = (
    AgentRunError, UserError, openai.OpenAIError, anthropic.AnthropicError, httpx2.HTTPError,
    ValueError, TypeError, AttributeError, LookupError, OSError,
)  # fmt: skip
"""What a provider's client raises when a server answers with something that nobody expects."""


async def ask(endpoint: Endpoint, question: Question) -> Said | Failed:
    """Ask a model and return how that ended; a cancellation goes through."""
    async with _client(endpoint, question.timeout_s) as client:
        model = _model(endpoint, client)
        try:
            async with asyncio.timeout(question.timeout_s):
                response = await model_request(
                    model,
                    _messages(question.prompt),
                    model_settings=ModelSettings(max_tokens=question.reply_tokens),
                    model_request_parameters=_parameters(model, question),
                )
            return _said(endpoint, response)
        except TimeoutError:
            return Failed(failures.CALL_TIMEOUT)
        except _ERRORS as error:
            return _failed(error)


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
