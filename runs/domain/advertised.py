"""Whether two discovery documents advertise the same.

Some hosts write into theirs when they answered, for whom, or for how long they have been up. The
protocol has no such member, so what goes by these names is left out of the comparison, wherever it
stands. Dates that the protocol has (`since`, `until`, `experimentalUntil`) promise something and
count. Documents themselves are kept as they were read.

Source: OpenWOP capabilities.md, v1 and v2: the members of the root and of its families.
"""

from collections.abc import Mapping
from typing import Any

_OF_THE_MOMENT = frozenset(
    {
        *("timestamp", "time", "date", "now", "servertime", "currenttime", "localtime"),
        *("generatedat", "servedat", "respondedat", "checkedat", "fetchedat", "requestedat"),
        *("updatedat", "lastupdated", "lastmodified", "issuedat", "asof", "expiresat"),
        *("requestid", "correlationid", "traceid", "spanid", "responseid", "nonce", "etag"),
        *("uptime", "uptimems", "uptimes", "uptimesec", "uptimeseconds", "startedat", "bootid"),
        *("durationms", "elapsedms", "responsetimems", "latencyms"),
    }
)
"""Names of members that say something of the answer and nothing of the host's promises."""


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two documents advertise the same, whenever they were written."""
    return bool(one == other) or _lasting(one) == _lasting(other)


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _lasting(each) for name, each in value.items() if not _is_of_the_moment(name)}
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    return value


def _is_of_the_moment(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _OF_THE_MOMENT
