"""The limits in force, with the settings that change them."""

from functools import cache
from typing import Any

from django.conf import settings

from runs.domain.limits import Limits

SETTINGS = {
    "body_bytes": ("MAX_BODY_BYTES", "OPENWOP_CONSOLE_MAX_BODY_BYTES"),
    "webhook_bytes": ("MAX_WEBHOOK_BYTES", "OPENWOP_CONSOLE_MAX_WEBHOOK_BYTES"),
    "batch_events": ("MAX_BATCH_EVENTS", "OPENWOP_CONSOLE_MAX_BATCH_EVENTS"),
    "payload_bytes": ("MAX_PAYLOAD_BYTES", "OPENWOP_CONSOLE_MAX_PAYLOAD_BYTES"),
    "depth": ("MAX_DEPTH", "OPENWOP_CONSOLE_MAX_DEPTH"),
}
"""Limit → Django setting and environment variable."""

FLOW = {
    "key_requests_per_second": ("RATE_KEY_REQUESTS", "OPENWOP_CONSOLE_RATE_KEY_REQUESTS"),
    "key_events_per_second": ("RATE_KEY_EVENTS", "OPENWOP_CONSOLE_RATE_KEY_EVENTS"),
    "host_requests_per_second": ("RATE_HOST_REQUESTS", "OPENWOP_CONSOLE_RATE_HOST_REQUESTS"),
    "host_events_per_second": ("RATE_HOST_EVENTS", "OPENWOP_CONSOLE_RATE_HOST_EVENTS"),
    "burst_seconds": ("RATE_BURST_S", "OPENWOP_CONSOLE_RATE_BURST_S"),
    "host_concurrency": ("HOST_CONCURRENCY", "OPENWOP_CONSOLE_HOST_CONCURRENCY"),
    "host_waiting_bytes": ("HOST_WAITING_BYTES", "OPENWOP_CONSOLE_HOST_WAITING_BYTES"),
    "body_seconds": ("BODY_DEADLINE_S", "OPENWOP_CONSOLE_BODY_DEADLINE_S"),
    "header_bytes": ("MAX_HEADER_BYTES", "OPENWOP_CONSOLE_MAX_HEADER_BYTES"),
}
"""How fast and how much at once, for each web process: setting and variable as above."""

LIMIT_BEHIND = {
    "body_too_large": ("body_bytes", SETTINGS["body_bytes"][1]),
    "batch_too_many": ("batch_events", SETTINGS["batch_events"][1]),
    "json_too_deep": ("depth", SETTINGS["depth"][1]),
}
"""Reason of a refusal → the limit it met and the variable that moves it."""


@cache
def limits() -> Limits:
    """Return the limits in force."""
    return Limits(**{name: getattr(settings, django) for name, (django, _) in SETTINGS.items()})


def limits_document() -> dict[str, Any]:
    """Return every limit with the variable that changes it, as the API serves it."""
    return {
        "limits": {
            camel(name): {"limit": getattr(settings, django), "setting": variable}
            for name, (django, variable) in (SETTINGS | FLOW).items()
        }
    }


def camel(name: str) -> str:
    """Return a name of several words as JSON writes it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
