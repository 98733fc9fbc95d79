"""Whether a webhook delivery really is from the host that it names: its signature, and its time.

Hosts spell the same proof in several ways, and each is verified in full: HMAC-SHA256 over
`{timestamp}.{body}` as the bytes arrived, within five minutes, compared in constant time. A
delivery that carries more than one proof must pass them all. A secret that is empty or short never
verifies anything. What the unsigned headers say (event type, id) is believed nowhere.

Source: OpenWOP webhooks.md, v1 and v2; Standard Webhooks 1.0; deliveries recorded from live hosts.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

WINDOW_S = 300
"""How far a signature's time may be from ours, before or after."""
LEAST_SECRET = 24
"""Bytes of a secret."""
STANDARD_PREFIX = "whsec_"
_TIMESTAMP = re.compile(r"[1-9][0-9]{9,10}", re.ASCII)
_HEX = r"([0-9a-fA-F]+)"
_DELIVERY_ID = re.compile(r"[A-Za-z0-9_-]{16,128}")
_NOBODYS_KEY = b"a delivery that no secret is known for is checked all the same"


class Reason(StrEnum):
    """Why a delivery is not believed."""

    MISSING = "signature_missing"
    MALFORMED_SIGNATURE = "malformed_signature_header"
    MALFORMED_TIMESTAMP = "malformed_timestamp_header"
    ALGORITHM = "unsupported_signature_algorithm"
    EXPIRED = "timestamp_expired"
    FUTURE = "timestamp_too_far_in_future"
    MISMATCH = "signature_mismatch"
    CONFLICT = "signature_conflict"


class Unverified(Exception):
    """A delivery is not believed."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(f"delivery not believed: {reason}")


@dataclass(frozen=True, slots=True)
class Verified:
    """What is known of a delivery that is believed."""

    spelling: str
    """How its host signs, such as `x-openwop hex`; several are joined by ` + `."""
    subscription: str
    """What the host calls the subscription. Not signed: for people to read, not to rely on."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """One proof, read but not checked."""

    spelling: str
    timestamp: str
    signed_before_body: bytes
    signatures: tuple[str, ...]
    is_standard: bool = False


@dataclass(frozen=True, slots=True)
class _Family:
    """The headers of one OpenWOP major."""

    name: str
    timestamps: tuple[str, ...]
    needs_algorithm: bool

    @property
    def signature(self) -> str:
        return f"{self.name}-signature"

    @property
    def algorithm(self) -> str:
        return f"{self.name}-signature-algorithm"


_FAMILIES = (
    _Family("openwop", ("openwop-timestamp",), needs_algorithm=True),
    _Family(
        "x-openwop",
        ("x-openwop-timestamp", "x-openwop-signature-timestamp"),
        needs_algorithm=False,
    ),
)
_STANDARD = "webhook-signature"
_VALUES = (
    ("sha256", re.compile(rf"sha256={_HEX}")),
    ("hex", re.compile(_HEX)),
    ("t,v1", re.compile(rf"t=(?P<t>[^,]*),v1={_HEX}")),
)
"""Spellings of a signature's value: the published one, the reference hosts', openwop-app's."""
_SUBSCRIPTIONS = (
    "openwop-webhook-id",
    "x-openwop-webhook-id",
    "x-openwop-subscription-id",
    "openwop-subscription-id",
)


def verify(
    headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str], now: datetime
) -> Verified:
    """Believe a delivery, or say why not.

    Args:
        headers: by lower-case name.
        body: the bytes as they arrived; their number is limited before.
        secrets: every one that is in force; two while one is replaced.
        now: our clock.

    Raises:
        Unverified: no proof, or one of the proofs does not hold.
    """
    checked = [_checked(read, headers, body, secrets, now) for read in _readers(headers)]
    if not checked:
        raise Unverified(Reason.MISSING)
    failures = [each for each in checked if isinstance(each, Reason)]
    if failures:
        raise Unverified(failures[0] if len(failures) == len(checked) else Reason.CONFLICT)
    return Verified(" + ".join(checked), _subscription(headers))


def key_of_standard_secret(secret: str) -> bytes | None:
    """The key in `whsec_<base64>`; None if there is none, or it is too short.

    Source: Standard Webhooks 1.0: 24 to 64 bytes.
    """
    if not secret.startswith(STANDARD_PREFIX):
        return None
    try:
        key = base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) >= LEAST_SECRET else None


def _readers(headers: Mapping[str, str]) -> list[_Family | None]:
    """Return which proofs a delivery carries; None stands for the standard one."""
    found: list[_Family | None] = [each for each in _FAMILIES if each.signature in headers]
    return [*found, None] if _STANDARD in headers else found


def _checked(
    family: _Family | None,
    headers: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    now: datetime,
) -> str | Reason:
    """Return the spelling of a proof that holds, or why it does not."""
    try:
        claim = _standard_claim(headers) if family is None else _claim(family, headers)
        _check_time(claim.timestamp, now)
    except Unverified as unverified:
        return unverified.reason
    return claim.spelling if _matches(claim, body, secrets) else Reason.MISMATCH


def _claim(family: _Family, headers: Mapping[str, str]) -> _Claim:
    spelling, given, inside = _value(headers[family.signature])
    algorithm = headers.get(family.algorithm)
    # `v1=` names the algorithm, so openwop-app sends no header for it.
    is_named = inside is not None or not family.needs_algorithm
    if algorithm != "v1" and not (algorithm is None and is_named):
        raise Unverified(Reason.ALGORITHM)
    stated = {headers[name] for name in family.timestamps if name in headers}
    stated |= set() if inside is None else {inside}
    if len(stated) != 1:
        raise Unverified(Reason.MALFORMED_TIMESTAMP)
    timestamp = stated.pop()
    signed = timestamp.encode("utf-8", "replace") + b"."
    return _Claim(f"{family.name} {spelling}", timestamp, signed, (given.lower(),))


def _value(header: str) -> tuple[str, str, str | None]:
    """Return a signature's spelling, its hex digits, and the time if it stands beside them."""
    for spelling, pattern in _VALUES:
        if found := pattern.fullmatch(header):
            return spelling, found.groups()[-1], found.groupdict().get("t")
    raise Unverified(Reason.MALFORMED_SIGNATURE)


def _standard_claim(headers: Mapping[str, str]) -> _Claim:
    """Read the proof of Standard Webhooks, which signs the delivery's id too."""
    entries = headers[_STANDARD].split(" ")
    signatures = tuple(each.removeprefix("v1,") for each in entries if each.startswith("v1,"))
    delivery_id = headers.get("webhook-id", "")
    if not signatures or not _DELIVERY_ID.fullmatch(delivery_id):
        raise Unverified(Reason.MALFORMED_SIGNATURE)
    timestamp = headers.get("webhook-timestamp", "")
    signed = f"{delivery_id}.{timestamp}.".encode("utf-8", "replace")
    return _Claim("standard", timestamp, signed, signatures, is_standard=True)


def _check_time(timestamp: str, now: datetime) -> None:
    if not _TIMESTAMP.fullmatch(timestamp):
        raise Unverified(Reason.MALFORMED_TIMESTAMP)
    age_s = (now - datetime.fromtimestamp(int(timestamp), UTC)).total_seconds()
    if age_s > WINDOW_S:
        raise Unverified(Reason.EXPIRED)
    if age_s < -WINDOW_S:
        raise Unverified(Reason.FUTURE)


def _matches(claim: _Claim, body: bytes, secrets: Sequence[str]) -> bool:
    """Compare with what every secret makes of the bytes; each comparison is made."""
    keys = [key for secret in secrets if (key := _key(secret, claim)) is not None]
    signed = claim.signed_before_body + body
    macs = [hmac.digest(key, signed, "sha256") for key in keys or [_NOBODYS_KEY]]
    expected = [_spelled(mac, claim) for mac in macs]
    results = [
        hmac.compare_digest(mac.encode(), given.encode("utf-8", "replace"))
        for mac in expected
        for given in claim.signatures
    ]
    return bool(keys) and any(results)


def _key(secret: str, claim: _Claim) -> bytes | None:
    if claim.is_standard:
        return key_of_standard_secret(secret)
    key = secret.encode()
    return key if len(key) >= LEAST_SECRET else None


def _spelled(mac: bytes, claim: _Claim) -> str:
    return base64.b64encode(mac).decode() if claim.is_standard else mac.hex()


def _subscription(headers: Mapping[str, str]) -> str:
    found = next((headers[name] for name in _SUBSCRIPTIONS if name in headers), "")
    return found if found.isprintable() and len(found) <= 128 else ""
