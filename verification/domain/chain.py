"""The audit chain: each entry's hash covers the entry and the hash before it.

Entries are hashed in canonical form (RFC 8785), so that a verifier elsewhere needs only the rows.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

GENESIS = "0" * 64
"""What the first entry of a chain points back to."""


@dataclass(frozen=True, slots=True)
class Link:
    """One entry as it is hashed and verified."""

    seq: int
    prev_hash: str
    hash: str
    body: Mapping[str, Any]
    """Everything else of the entry: workspace, at, actor, action, subject, detail."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One place where the chain does not hold."""

    seq: int
    kind: str
    """`hash_mismatch`, `broken_link`, `missing` or `repeated`."""


def hash_of(seq: int, prev_hash: str, body: Mapping[str, Any]) -> str:
    """Return the hash of an entry, hex."""
    canonical = rfc8785.dumps({"seq": seq, "prevHash": prev_hash, **body})
    return hashlib.sha256(canonical).hexdigest()


def anomalies(links: Iterable[Link], *, start: int = 1, prev: str = GENESIS) -> list[Anomaly]:
    """Return every place where a chain, read in order of `seq`, does not hold.

    It cannot show that the newest entries were cut off; a checkpoint kept elsewhere can.
    """
    found = []
    expected = start
    for link in links:
        if link.seq != expected:
            found.append(Anomaly(expected, "repeated" if link.seq < expected else "missing"))
        elif link.prev_hash != prev:
            found.append(Anomaly(link.seq, "broken_link"))
        if hash_of(link.seq, link.prev_hash, link.body) != link.hash:
            found.append(Anomaly(link.seq, "hash_mismatch"))
        expected, prev = link.seq + 1, link.hash
    return found
