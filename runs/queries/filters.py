"""What the address of a list asks for: filters by name, and where its page begins."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Self

_LONGEST = 300
TIMES: Mapping[str, timedelta] = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
"""What `within` may say."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What every list has. Unknown values match nothing, not everything."""

    before: str = ""
    """The key of the row that the page begins below; empty: from the newest."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Read them from a query string."""
        return cls(
            **{each.name: query.get(each.name, "").strip()[:_LONGEST] for each in fields(cls)}
        )

    @property
    def active(self) -> dict[str, str]:
        """Return the filters that are set, by name."""
        named = {each.name: str(getattr(self, each.name)) for each in fields(self)}
        return {name: value for name, value in named.items() if value and name != "before"}
