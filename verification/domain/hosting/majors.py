"""The two majors of the protocol, and which of them a request speaks.

v1 has `/v1` in its addresses; v2 has bare ones and says so in the `OpenWOP-Version` header.
Source: OpenWOP RFC 0172 §A.
"""

from enum import IntEnum

SERVED = ("1.0", "2.0")
HEADER = "OpenWOP-Version"


class Major(IntEnum):
    """A major version of the protocol."""

    V1 = 1
    V2 = 2


def major_of(header: str | None) -> Major | None:
    """Return the major that a header asks for, v1 where there is none; None: not one of ours."""
    if not header:
        return Major.V1
    major = header.partition(".")[0].strip()
    return {"1": Major.V1, "2": Major.V2}.get(major)
