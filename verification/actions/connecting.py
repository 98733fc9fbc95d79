"""Tries a host's connection in every direction, and writes down line by line how it went.

The Console plays the host at its own doors, at the address that hosts know them by, with a key that
is good for a minute. What it sends there is a canary: it goes the way of every event and is taken
back (`runs.actions.ingest`). At the host it asks for what cannot be there, so that nothing changes.
Every call goes to judged addresses only. No secret and no answer is written down.
"""

import hashlib
import logging
import secrets
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from runs import live
from runs.domain.addresses import networks
from runs.domain.canary import canary_run, sent_by_us
from runs.domain.host_answer import Answer
from runs.domain.host_documents import Unreadable, document_in, major_of
from runs.host_reader import with_code
from runs.models import ConnectionTest, Host, HostKey, Run
from runs.pinned import Call, Line, Received, send
from runs.reading import reader_of
from runs.sealing import SealBroken, unseal
from verification import bells
from verification.actions.host_settings import put_on_record
from verification.domain import connection as told
from verification.domain.connection import Tried
from verification.domain.outgoing import openwop_signature, signed_headers
from verification.host import HostClient, client_of, post_webhook
from verification.models import ReviewWebhook

logger = logging.getLogger(__name__)

KEY_GOOD_FOR = timedelta(minutes=2)
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


@transaction.atomic
def ask_for_test(*, host: Host, by: str, now: datetime | None = None) -> ConnectionTest:
    """Have a worker try a host's connection; one that is under way is left alone.

    Args:
        host: which one.
        by: how the audit log names whoever asks.
        now: our clock; tests give it.

    Raises:
        OwnHost: it is the Console's.
    """
    host.check_is_foreign()
    now = now or timezone.now()
    Host.objects.select_for_update(no_key=True).get(pk=host.pk)
    known = ConnectionTest.objects.filter(host=host).first()
    if known is not None and told.is_under_way(known.asked_at, known.ended_at, now):
        return known
    asked, _ = ConnectionTest.objects.update_or_create(
        host=host,
        defaults={
            "run_id": canary_run(secrets.token_hex(16), host.tenant),
            "asked_at": now,
            "begun_at": None,
            "ended_at": None,
            "heard_at": None,
            "lines": [],
        },
    )
    bells.ring(bells.CONNECT, host.pk)
    put_on_record(host, "host.tested", by)
    return asked


def try_connection(*, host: int) -> None:
    """Try everything, if that was asked for and nobody does it."""
    now = timezone.now()
    if not ConnectionTest.objects.filter(pk=host, begun_at=None).update(begun_at=now):
        return
    trying = _Trying(ConnectionTest.objects.select_related("host").get(pk=host))
    try:
        trying.run()
    finally:
        trying.end()


class _Trying:
    """A test under way."""

    def __init__(self, test: ConnectionTest) -> None:
        self._test = test
        self._host = test.host
        self._lines: list[dict[str, str]] = []
        self._ours = sent_by_us(test.run_id)
        self._line = Line(networks(settings.ALLOW_PRIVATE))

    def run(self) -> None:
        """Try one thing after the other, each written down as soon as it is known."""
        tries = {
            "discovery": self._discovery,
            "reading": self._reading,
            "ping_in": self._ping_in,
            "ping_out": self._ping_out,
        }
        for name, what in tries.items():
            self._write(self._tried(name, what))
        self._try_events()
        self._write(self._tried("interrupt", self._interrupt))

    def end(self) -> None:
        """Write down that it is over, whatever happened."""
        self._save(ended_at=timezone.now())

    def _tried(self, name: str, what: Any) -> told.Line:
        try:
            line: told.Line = what()
        except SealBroken:
            fix = "Rotate the secret, or connect the host again with its key."
            return told.Line(name, Tried.FAILS, told.SEAL_BROKEN, fix)
        except Exception as error:  # the edge of one try: the others go on
            logger.error("a try of host %s broke off: %s", self._host.pk, type(error).__name__)  # noqa: TRY400
            words = "The Console failed while it tried this; its log says where."
            return told.Line(name, Tried.NOT_PROVEN, words, "Try again.")
        return line

    def _write(self, line: told.Line) -> None:
        self._lines.append(line.document())
        self._save(lines=self._lines)

    def _save(self, **what: Any) -> None:
        """Save, unless another test has begun meanwhile, and ring for the page."""
        rows = ConnectionTest.objects.filter(pk=self._test.pk, run_id=self._test.run_id)
        if rows.update(**what):
            live.ring(live.host_group(self._host.pk))

    # --- At the host ---

    def _discovery(self) -> told.Line:
        if not self._host.base_url:
            return told.without_address("discovery")
        reading = reader_of(self._host).discovery()
        if reading.answer.status == 406:
            reading = reader_of(self._host, major=3 - self._host.protocol_major).discovery()
        document = _object_in(reading.body)
        major = None if document is None else major_of(document)
        return told.discovery_line(reading.answer, document, major)

    def _reading(self) -> told.Line:
        if not self._host.base_url:
            return told.without_address("reading")
        return told.reading_line(reader_of(self._host).read_run(self._test.run_id).answer)

    def _interrupt(self) -> told.Line:
        if not self._host.base_url:
            return told.without_address("interrupt")
        client: HostClient = client_of(self._host)
        body = orjson.dumps({"resumeValue": {"action": "reject"}})
        node = "console-canary"
        return told.interrupt_line(
            client.resolve_interrupt(self._test.run_id, node, body, str(uuid.uuid4()))
        )

    def _ping_out(self) -> told.Line:
        hook = ReviewWebhook.objects.filter(host=self._host).first()
        if hook is None:
            return told.NO_WEBHOOK
        now = timezone.now()
        body = orjson.dumps({"type": "console.ping", "timestamp": now.isoformat(), "data": {}})
        headers = signed_headers(
            body,
            secrets=[unseal(hook.sealed_secret)],
            delivery_id=uuid.uuid4().hex,
            at=now,
        )
        headers = {**headers, "OpenWOP-Event-Type": "console.ping"}
        return told.ping_out_line(post_webhook(hook.url, body, headers, self._line))

    # --- At the Console's own doors ---

    def _ping_in(self) -> told.Line:
        word = secrets.token_hex(16)
        body = orjson.dumps({"challenge": word})
        timestamp = str(int(timezone.now().timestamp()))
        secret = unseal(self._host.sealed_webhook_secret)
        headers = {
            "OpenWOP-Webhook-Id": f"console-ping-{word}",
            "OpenWOP-Timestamp": timestamp,
            "OpenWOP-Signature": openwop_signature(secret, timestamp, body),
            "OpenWOP-Signature-Algorithm": "v1",
        }
        answer, document = self._post(delivery_path(self._host), body, headers)
        return told.ping_in_line(answer, is_echoed=document.get("challenge") == word)

    def _try_events(self) -> None:
        """Send an event, then a verdict with content, with a key that ends with them."""
        key_id, secret = secrets.token_hex(6), secrets.token_hex(22)[:43]
        key = HostKey.objects.create(
            host=self._host,
            key_id=key_id,
            digest=hashlib.sha256(secret.encode()).hexdigest(),
            scopes=["events:write"],
            expires_at=timezone.now() + KEY_GOOD_FOR,
            is_canary=True,
        )
        headers = {"Authorization": f"Bearer owc_test_{key_id}_{secret}"}
        try:
            self._write(self._tried("canary", lambda: self._canary(headers)))
            self._write(self._tried("leak", lambda: self._leak(headers)))
        finally:
            HostKey.objects.filter(host=self._host, is_canary=True, pk__lte=key.pk).delete()

    def _canary(self, headers: Mapping[str, str]) -> told.Line:
        body = orjson.dumps(canary_event(self._ours, timezone.now()))
        answer, _ = self._post(reverse("api:events"), body, headers)
        is_kept = Run.objects.filter(host=self._host, run_id=self._ours).exists()
        return told.canary_line(answer, is_kept=is_kept)

    def _leak(self, headers: Mapping[str, str]) -> told.Line:
        word = secrets.token_hex(16)
        payload = {"agentId": "console.canary", "target": "console-canary", "verdict": "pass"}
        event = canary_event(self._ours, timezone.now()) | {
            "type": "agent.verified",
            "payload": {**payload, "content": word},
        }
        answer, document = self._post(reverse("api:events"), orjson.dumps(event), headers)
        details = document.get("details")
        reason = str(details.get("reason", "")) if isinstance(details, dict) else ""
        return told.leak_line(answer, reason=reason, is_repeated=word in str(document))

    def _post(
        self, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[Answer, Mapping[str, Any]]:
        url = f"{settings.CONSOLE_URL}{path}"
        answer, received = send(Call("POST", url, {**_JSON, **headers}, body), self._line)
        return with_code(answer, received), _said(received)


def canary_event(run_id: str, now: datetime) -> dict[str, Any]:
    """Return an event that begins a canary run."""
    return {
        "eventId": f"{run_id.rpartition('/')[2]}-0",
        "runId": run_id,
        "type": "run.started",
        "payload": {"workflowId": "console.canary"},
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "sequence": 0,
        "schemaVersion": 1,
    }


def delivery_path(host: Host) -> str:
    """Return the path that a host delivers its webhooks to."""
    return reverse("api:webhook", args=[host.slug])


def _object_in(raw: bytes) -> dict[str, Any] | None:
    try:
        return document_in(raw)
    except Unreadable:
        return None


def _said(received: Received | None) -> Mapping[str, Any]:
    document = _object_in(received.body) if received is not None and received.is_whole else None
    return document or {}
