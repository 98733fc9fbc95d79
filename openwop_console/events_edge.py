"""`POST /api/v1/events`, in front of Django: the address that is asked thousands of times a second.

It asks what Django's edge asks, of the same functions (`runs.door`), and gives the same answers. It
leaves out what is of no use there: sessions, forgery tokens, messages, and the hops between threads
that Django's handler makes for each request. Whatever is not plainly such a request goes to Django.
See docs/adr/0008.
"""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial

import orjson
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http.request import split_domain_port, validate_host

from openwop_console.bodies import (
    Answer,
    App,
    BodyTooSlow,
    ClientGone,
    Receive,
    Scope,
    Send,
    Upload,
    answer_to,
    headers_by_name,
    send_answer,
)
from openwop_console.database_threads import DatabaseThreads
from openwop_console.errors import JSON, internal_error, refusal_of
from openwop_console.lanes import LaneFull, Lanes, NoTurn
from runs import door
from runs.models import HostKey
from runs.refusal import Refusal, refused_because

logger = logging.getLogger(__name__)

PATH = "/api/v1/events"
SMALL_BYTES = 64 * 1024
"""A body that says it is no larger is read before its key is known to be good."""
TURN_S = 10.0
"""How long a request waits for its turn."""
ANSWER_S = 30.0
"""How long a request is worked on before the client is told to come again."""
KEYS_REMEMBERED = 4096
_STRANGERS = "strangers"
"""The lane of every request whose key has not yet been seen to be good."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What the edge knows of a request before anybody is asked."""

    headers: door.Headers
    claimed: int
    """Bytes of the body, as the headers say; the most, where they do not."""
    digest: bytes
    """Stands for the credentials, so that these are kept nowhere."""


class EventsEdge:
    """Answers what hosts send; passes on everything else."""

    def __init__(self, app: App) -> None:
        """Stand before an app."""
        self.app = app
        self._threads = DatabaseThreads(settings.INGEST_THREADS, name="ingest", most_s=ANSWER_S)
        self._lanes = Lanes(
            abreast=settings.HOST_CONCURRENCY,
            most_bytes=settings.HOST_WAITING_BYTES,
            wait_s=TURN_S,
        )
        self._hosts: OrderedDict[bytes, int] = OrderedDict()

    def let_go(self) -> None:
        """Close the database connections that are kept between requests."""
        self._threads.let_go()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take events, or pass the request on."""
        if not _is_ours(scope):
            await self.app(scope, receive, send)
            return
        headers = headers_by_name(scope)
        upload = Upload(receive, seconds=settings.BODY_DEADLINE_S)
        try:
            _check_host(headers)
            answer = await self._answer(_request_of(headers), upload)
        except ClientGone:
            return
        except Exception as error:  # the outermost edge: whatever happened has an answer
            answer = answer_to(_refusal_of(error), _text(headers, b"accept"))
        await send_answer(send, answer, upload)

    async def _answer(self, request: _Request, upload: Upload) -> Answer:
        """Answer in one go where the body is small, else let the key in before it is read."""
        lane = self._lane_of(request)
        if request.claimed <= SMALL_BYTES:
            await upload.read(SMALL_BYTES)
            with self._lanes.room(lane, upload.size):
                async with self._lanes.turn(lane):
                    return await self._work(request, None, upload.take())
        async with self._lanes.turn(lane):
            key = await self._threads.run(partial(door.admit, request.headers))
        self._remember(request, key)
        most = settings.MAX_BODY_BYTES
        with self._lanes.room(key.host_id, min(request.claimed, most)):
            if request.claimed <= most:
                await upload.read(most)
            raw = upload.take() if upload.is_within(most) else None
            async with self._lanes.turn(key.host_id):
                return await self._work(request, key, raw)

    async def _work(self, request: _Request, key: HostKey | None, raw: bytes | None) -> Answer:
        admitted, answer = await self._threads.run(partial(_taken, request.headers, key, raw))
        self._remember(request, admitted)
        return answer

    def _lane_of(self, request: _Request) -> Hashable:
        """Return the lane of the host whose key this was when it was last let in.

        Only to know where to wait: whether the key is good now is asked of the database each time.
        """
        return self._hosts.get(request.digest, _STRANGERS)

    def _remember(self, request: _Request, key: HostKey) -> None:
        self._hosts[request.digest] = key.host_id
        self._hosts.move_to_end(request.digest)
        if len(self._hosts) > KEYS_REMEMBERED:
            self._hosts.popitem(last=False)


def _taken(headers: door.Headers, key: HostKey | None, raw: bytes | None) -> tuple[HostKey, Answer]:
    """Let a request in, unless it was, and take its events."""
    if key is None:
        key = door.admit(headers)
    receipt = door.take(key, headers, raw)
    body = orjson.dumps(receipt.body())
    return key, Answer(receipt.status, JSON, body, door.budget_headers(key))


def _is_ours(scope: Scope) -> bool:
    """Say whether a request is one to answer here. What must be redirected to TLS is Django's."""
    if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
        return False
    if not settings.SECURE_SSL_REDIRECT or scope["scheme"] == "https":
        return True
    return headers_by_name(scope).get(b"x-forwarded-proto") == b"https"


def _request_of(headers: Mapping[bytes, bytes]) -> _Request:
    authorization = _text(headers, b"authorization")
    length = headers.get(b"content-length", b"")
    key = headers.get(b"idempotency-key")
    return _Request(
        headers=door.Headers(
            authorization=authorization,
            content_type=_text(headers, b"content-type"),
            content_encoding=_text(headers, b"content-encoding"),
            idempotency_key=None if key is None else key.decode("latin-1"),
        ),
        claimed=int(length[:18]) if length.isdigit() else settings.MAX_BODY_BYTES,
        digest=hashlib.sha256(authorization.encode("latin-1")).digest(),
    )


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")


def _check_host(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a request to a name that is not ours. Raises DisallowedHost."""
    domain, _ = split_domain_port(_text(headers, b"host"))
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise DisallowedHost


def _refusal_of(error: Exception) -> Refusal:
    match error:
        case BodyTooSlow():
            return refused_because("body_too_slow", 408, "validation_error")
        case LaneFull():
            return refused_because("too_many_at_once", 429, "rate_limited", 1)
        case NoTurn():
            return refused_because("overloaded", 503, "service_unavailable", 2)
    refusal = refusal_of(error)
    if refusal is None:
        logger.error("taking events failed", exc_info=error)
        return internal_error()
    return refusal
