"""Answers a request that is sent twice with one `Idempotency-Key` once, and again word for word."""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from verification.models import Replay

KEY = re.compile(r"[A-Za-z0-9._~-]{8,128}")
"""Source: OpenWOP idempotency.md; v2 asks for 22 characters, which is advice here."""


class KeyUsedForAnother(Exception):
    """The key stands for a request with other content."""

    def __str__(self) -> str:
        return "This Idempotency-Key was used for a request with other content."


def once(
    *, caller: str, key: str, about: bytes, do: Callable[[], dict[str, Any]],
    now: datetime | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return what `do` returns, or what it returned when the same request came before.

    Args:
        caller: whose keys.
        key: as sent; empty: nothing is remembered.
        about: address and body: what makes a request the same.
        do: carries it out; what it writes commits together with the memory of it.
        now: our clock.

    Raises:
        KeyUsedForAnother: the key was used for something else.
    """
    if not key:
        return do()
    digest = hashlib.sha256(about).hexdigest()
    known = _known(caller, key, digest)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            answer = do()
            Replay.objects.create(
                caller=caller, key=key, digest=digest, status=200, answer=answer,
                at=now or timezone.now(),
            )  # fmt: skip
            return answer
    except IntegrityError:
        known = _known(caller, key, digest)
        if known is None:
            raise
        return known


def _known(caller: str, key: str, digest: str) -> dict[str, Any] | None:
    row = Replay.objects.filter(caller=caller, key=key).first()
    if row is None:
        return None
    if row.digest != digest:
        raise KeyUsedForAnother
    answer = row.answer
    return answer if isinstance(answer, dict) else {}
