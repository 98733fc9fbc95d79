"""Addresses of a filtered list: of a page of it, and of the list without one of its filters."""

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from runs.queries.filters import Filters

WITHIN = {
    "1h": "the last hour",
    "24h": "the last day",
    "7d": "the last 7 days",
    "30d": "the last 30 days",
}
"""Words for `within`."""


def list_address(page: str, filters: Filters, **changes: str) -> str:
    """Return the address of a list as its filters keep it, with some of them changed.

    Args:
        page: the name of the list's address.
        filters: in force.
        changes: values by name; an empty one takes its filter away.
    """
    query = {**filters.active, "before": filters.before, **changes}
    kept = {name: value for name, value in query.items() if value}
    return f"{reverse(page)}?{urlencode(kept)}" if kept else reverse(page)


def chips(page: str, filters: Filters) -> list[dict[str, Any]]:
    """Return the filters in force, each with the address without it."""
    return [
        {
            "label": "Search" if name == "q" else name.capitalize(),
            "value": value if name == "q" else WITHIN.get(value, value.replace("_", " ")),
            "clear_url": list_address(page, filters, before="", **{name: ""}),
        }
        for name, value in filters.active.items()
    ]
