"""Evidence that can be checked far from the Console: one JSON document with a signature inside.

What is signed is the document's canonical form (RFC 8785) with everything of the signature but its
value, so that whitespace and the order of keys do not matter and nothing else may differ. The key
inside the file only proves that the file is whole; whose key it is must be learned elsewhere, which
is why a caller may name the key it expects.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from runs.domain.readers import fields, text
from runs.domain.strict_json import DEEPEST_READABLE, JsonRefused, parse
from verification.domain.errors import VerificationError
from verification.domain.frozen import NotCanonical, canonical

FORMAT = "openwop-console.evidence/1"
ALGORITHM = "Ed25519"


class NotEvidence(VerificationError):
    """A file is not evidence at all: nothing can be said about it."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"This is not an evidence file: {why}.")


class SignatureBroken(VerificationError):
    """The signature does not fit the document: one of the two was changed."""

    def __str__(self) -> str:
        return "The signature does not fit: the file was changed after it was signed."


class OtherKey(VerificationError):
    """The document is whole, and signed with another key than the one expected."""

    def __init__(self, key_id: str) -> None:
        self.key_id = key_id
        super().__init__(f"The file is signed with key {key_id}, which is not the one expected.")


@dataclass(frozen=True, slots=True)
class Checked:
    """Evidence whose signature fits."""

    document: Mapping[str, Any]
    key_id: str
    public_key: str
    """Base64 of the 32 raw bytes."""


def signed(document: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """Return the document with a signature over all of it.

    Raises:
        NotCanonical: it holds a number or text that RFC 8785 cannot write.
    """
    public = key.public_key()
    signature = {
        "algorithm": ALGORITHM,
        "keyId": key_id_of(public),
        "publicKey": _base64(public.public_bytes_raw()),
    }
    whole = {"format": FORMAT, **document, "signature": signature}
    value = _base64(key.sign(canonical(whole)))
    return {**whole, "signature": {**signature, "value": value}}


def check(raw: bytes, expected: str = "") -> Checked:
    """Return the evidence in a file, once its signature has been found to fit.

    Args:
        raw: the file.
        expected: key id or public key, in base64, that it must be signed with; empty: any.

    Raises:
        NotEvidence: it cannot be read as evidence.
        SignatureBroken: it was changed.
        OtherKey: it was signed by somebody else.
    """
    document, signature = _read(raw)
    public, value = _key(signature), _bytes(signature, "value")
    unsigned = {name: part for name, part in signature.items() if name != "value"}
    try:
        public.verify(value, canonical({**document, "signature": unsigned}))
    except InvalidSignature:
        raise SignatureBroken from None
    except NotCanonical as error:
        raise NotEvidence("it holds what canonical JSON cannot") from error
    key_id, public_key = key_id_of(public), _base64(public.public_bytes_raw())
    if signature.get("keyId") != key_id:
        raise SignatureBroken
    if expected and expected not in (key_id, public_key):
        raise OtherKey(key_id)
    return Checked(document, key_id, public_key)


def writable(value: object) -> object:
    """Return the value; where RFC 8785 cannot write it, its size and digest stand for it."""
    try:
        canonical(value)
    except NotCanonical:
        packed = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode()
        digest = hashlib.sha256(packed).hexdigest()
        return {"omitted": True, "reason": "not_canonical", "bytes": len(packed), "sha256": digest}
    return value


def key_id_of(public: Ed25519PublicKey) -> str:
    """Return the short name of a key: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:16]


def key_from_seed(seed: str) -> Ed25519PrivateKey:
    """Return the private key that a base64 seed of 32 bytes stands for. Raises ValueError."""
    padded = seed.strip() + "=" * (-len(seed.strip()) % 4)
    return Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(padded))


def _read(raw: bytes) -> tuple[Mapping[str, Any], Mapping[str, object]]:
    try:
        document = parse(raw, max_depth=DEEPEST_READABLE)
    except JsonRefused as error:
        raise NotEvidence(f"no plain JSON ({error.reason})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotEvidence(f"its format is not {FORMAT}")
    return document, fields(document.get("signature"))


def _key(signature: Mapping[str, object]) -> Ed25519PublicKey:
    if signature.get("algorithm") != ALGORITHM:
        raise NotEvidence(f"its signature is not {ALGORITHM}")
    try:
        return Ed25519PublicKey.from_public_bytes(_bytes(signature, "publicKey"))
    except ValueError as error:
        raise NotEvidence("its public key cannot be read") from error


def _bytes(signature: Mapping[str, object], name: str) -> bytes:
    try:
        return base64.b64decode(text(signature.get(name)) or "", validate=True)
    except binascii.Error as error:
        raise NotEvidence(f"its {name} is not base64") from error


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
