"""The models that jobs may name: where each is reached, with which key, and what it costs.

Keys come from settings or from the admin and are opened only for the call.
"""

import logging
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings

from runs.sealing import SealBroken, unseal
from verification.calls import Endpoint
from verification.domain.consensus.history import Usage
from verification.domain.jobs.given import GIVEN
from verification.domain.jobs.request import RULE
from verification.models import CataloguedModel

logger = logging.getLogger(__name__)


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


def cost_of(endpoint: Endpoint, usage: Usage) -> Decimal | None:
    """Return what a call cost in US dollars by the public price list; None where none is known."""
    if endpoint.provider == "compatible":
        return None
    from genai_prices import Usage as PricedUsage  # heavy: loaded where something has a price
    from genai_prices import calc_price

    try:
        return calc_price(
            PricedUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
            model_ref=endpoint.model,
            provider_id=endpoint.provider,
        ).total_price
    except LookupError:
        return None


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by model name; every name is looked up once."""

    _known: dict[str, Endpoint | None] = field(default_factory=dict)

    def price_of(self, model: str, usage: Usage) -> Decimal | None:
        """Return US dollars; None where no price is known. Rules and given replies are free."""
        if not model or model == GIVEN or model.startswith(RULE):
            return Decimal(0)
        if model not in self._known:
            self._known[model] = endpoint_named(model)
        endpoint = self._known[model]
        return None if endpoint is None else cost_of(endpoint, usage)
