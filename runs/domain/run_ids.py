"""Run ids as one segment of an address.

Ids may hold any character, `/` among them. Each UTF-8 byte outside `A-Za-z0-9._-` travels as `~`
and two upper-case hex digits, as OpenWOP v2 projects tenant-bound ids (`acme/r-1` as `acme~2Fr-1`).
"""

import re

LONGEST_RUN_ID = 272
"""Characters; no run is kept under a longer one."""

_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_NOT_IN_ADDRESSES = re.compile(r"(?:^|/)\.\.?(?:/|$)|\ufffd")
_BYTE = re.compile(rb"~([0-9A-Fa-f]{2})")


class BadSegment(ValueError):
    """A segment that no id projects to."""

    def __str__(self) -> str:
        return "A ~ in a run id must be followed by two hex digits that make UTF-8."


def to_segment(run_id: str) -> str:
    """Return the id as one path segment, and never as one that would leave the path."""
    if run_id in {".", ".."}:
        return run_id.replace(".", "~2E")
    return "".join(chr(b) if b in _KEPT else f"~{b:02X}" for b in run_id.encode())


def from_segment(segment: str) -> str:
    """Return the id that a segment stands for. Raises BadSegment.

    Characters that need no projection, a decoded `%2F` among them, are taken as they are; but not
    dot segments, which are no part of an address, nor what stands for bytes that were not UTF-8.
    """
    if _NOT_IN_ADDRESSES.search(segment):
        raise BadSegment
    raw = segment.encode()
    if b"~" in _BYTE.sub(b"", raw):
        raise BadSegment
    try:
        run_id = _BYTE.sub(lambda found: bytes([int(found[1], 16)]), raw).decode()
    except UnicodeDecodeError as error:
        raise BadSegment from error
    if "\0" in run_id:  # which no id has, and no text of the database can hold
        raise BadSegment
    return run_id
