"""Idempotency-Key: the same request twice is one effect and one answer.

Kept are answers that a repeat must see again: 2xx, and 4xx that will not change by trying. Bad
requests, missing credentials and overload are worked out anew. Source: OpenWOP idempotency.md.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from openwop_console.demo.asgi import Answer, Operation, Refused, Reply, Request

_KEY = re.compile(r"^[A-Za-z0-9._~-]{1,255}$")
_WORKED_OUT_ANEW = frozenset({400, 401, 403, 429})


@dataclass(slots=True)
class KeyRing:
    """The keys seen, per routed operation."""

    conflict_code: str
    is_forgetful: Callable[[], bool] = lambda: False
    _kept: dict[tuple[str, str], tuple[bytes, Reply]] = field(default_factory=dict)

    def once(self, operation: Operation) -> Operation:
        """The operation, done at most once for each key."""

        async def guarded(request: Request) -> Answer:
            key = request.headers.get("idempotency-key")
            if key is None or self.is_forgetful():
                return await operation(request)
            if not _KEY.match(key):
                raise Refused(400, "validation_error", "Idempotency-Key is not URL-safe.")
            return await self._replayed_or_done(request, (request.path, key), operation)

        return guarded

    async def _replayed_or_done(
        self, request: Request, slot: tuple[str, str], operation: Operation
    ) -> Answer:
        digest = hashlib.sha256(request.body).digest()
        kept = self._kept.get(slot)
        if kept is not None:
            if kept[0] != digest:
                raise Refused(409, self.conflict_code, "This key came with another body before.")
            return kept[1].with_header("openwop-Idempotent-Replay", "true")
        try:
            answer = await operation(request)
        except Refused as refused:
            answer = refused.reply()
        if isinstance(answer, Reply) and _is_kept(answer.status):
            self._kept[slot] = (digest, answer)
        return answer


def _is_kept(status: int) -> bool:
    return status < 500 and status not in _WORKED_OUT_ANEW
