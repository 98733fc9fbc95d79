"""Signs evidence with the installation's own key.

The key is made once, when it is first needed, and kept sealed; OPENWOP_CONSOLE_SIGNING_KEY replaces
it where several installations must sign as one.
"""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from runs.sealing import seal, unseal
from verification.domain.evidence import ALGORITHM, key_from_seed, key_id_of, signed
from verification.models import SigningKey

PURPOSE = "evidence"


def signed_evidence(document: Mapping[str, Any], now: datetime | None = None) -> dict[str, Any]:
    """Return what a finding rests on, with who issued it, when, and a signature over it all."""
    issued = (now or timezone.now()).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    issue = {"issuedAt": issued, "issuer": settings.CONSOLE_URL}
    return signed({**issue, **document}, signing_key())


def signing_key() -> Ed25519PrivateKey:
    """Return the key that evidence is signed with, made now if there is none yet."""
    if settings.SIGNING_KEY:
        return key_from_seed(settings.SIGNING_KEY)
    held = SigningKey.objects.filter(purpose=PURPOSE).first() or _made()
    return key_from_seed(unseal(held.sealed_private_key))


def public_keys() -> list[dict[str, str]]:
    """Return the public halves of the keys that this Console signs with."""
    public = signing_key().public_key()
    return [
        {
            "keyId": key_id_of(public),
            "algorithm": ALGORITHM,
            "publicKey": base64.b64encode(public.public_bytes_raw()).decode(),
        }
    ]


def _made() -> SigningKey:
    """Make the key; where two processes do so at once, both end with the same one."""
    private = Ed25519PrivateKey.generate()
    public = private.public_key()
    try:
        with transaction.atomic():
            return SigningKey.objects.create(
                purpose=PURPOSE,
                key_id=key_id_of(public),
                public_key=base64.b64encode(public.public_bytes_raw()).decode(),
                sealed_private_key=seal(base64.b64encode(private.private_bytes_raw()).decode()),
            )
    except IntegrityError:
        return SigningKey.objects.get(purpose=PURPOSE)
