"""Host timestamps: read strictly, never corrected.

Only the profile of ISO 8601 that names one instant is taken: date, time and an offset.
"""

import re
from datetime import UTC, datetime

_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,12})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def written(moment: datetime | None) -> str | None:
    """The text that names an instant, with `Z` for UTC; None for none."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def instant(text: object) -> datetime | None:
    """The instant that `text` names, in UTC to the microsecond; None if it does not name one.

    Source: RFC 3339 §5.6. A leap second names an instant that Python cannot hold: None.
    """
    if type(text) is not str or not _TIMESTAMP.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
