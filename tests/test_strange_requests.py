"""Strange requests as bytes, to the web process of the product: each is answered, soon, in the
API's own words or the server's bare ones, never by a failure or a page; what is refused leaves no
row of a log."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from runs.actions.people import grant
from runs.actions.webhook_secrets import rotate_secret
from runs.models import Event, Host, Role, Workspace
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.raw_http import Reply, read_reply
from tests.raw_http import send as put
from tests.signing import SECRET, v2
from tests.web import serving_web
from verification.actions import escalations
from verification.actions.tokens import create_token
from verification.domain.decisions import Action, Decision
from verification.models import Escalation

EVENTS = "/api/v1/events"
TAKEN = {200, 201}
REFUSED = {400}


@dataclass(frozen=True)
class Strange:
    """One request and the statuses that may answer it."""

    statuses: set[int]
    body: bytes = b""
    method: str = "POST"
    path: str = EVENTS
    content_type: str = "application/json"
    more: tuple[str, ...] = ()
    """Header lines, `<key>` filled in."""
    is_framed: bool = False
    """The header lines say where the body ends."""
    has_key: bool = True

    def raw(self, key: str, port: int) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
        lines += ["Connection: close", f"Content-Type: {self.content_type}"]
        lines += [f"Authorization: Bearer {key}"] if self.has_key else []
        lines += [] if self.is_framed else [f"Content-Length: {len(self.body)}"]
        lines += [each.replace("<key>", key) for each in self.more]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body


def one(run: str, **more: Any) -> dict[str, Any]:
    return event(0, run=run) | more


def text(run: str, **more: Any) -> str:
    return json.dumps(one(run, **more))


def with_payload(run: str, payload: str) -> bytes:
    return text(run, payload="<p>").replace('"<p>"', payload).encode()


def nested(levels: int) -> str:
    return "[" * levels + "1" + "]" * levels


def chunked(*parts: bytes, end: bytes = b"0\r\n\r\n", size: str | None = None) -> bytes:
    return (
        b"".join((size or f"{len(part):x}").encode() + b"\r\n" + part + b"\r\n" for part in parts)
        + end
    )


CHUNKED = ("Transfer-Encoding: chunked",)
GZIP = ("Content-Encoding: gzip",)
GOOD = text("s-good").encode()

ENCODINGS = {
    "utf-16": Strange(REFUSED, text("s-1").encode("utf-16")),
    "utf-16-le without a mark": Strange(REFUSED, text("s-1").encode("utf-16-le")),
    "utf-32": Strange(REFUSED, text("s-1").encode("utf-32")),
    "utf-7 in its name": Strange({415}, GOOD, content_type="application/json; charset=utf-7"),
    "a quoted charset": Strange(
        TAKEN, text("s-2").encode(), content_type='application/json; charset="UTF-8"'
    ),
    "two charsets": Strange(
        {415, 200, 201},
        text("s-3").encode(),
        content_type="application/json; charset=utf-8; charset=utf-16",
    ),
    "overlong slash": Strange(REFUSED, b'{"a": "\xc0\xaf"}'),
    "cesu-8 surrogates": Strange(
        REFUSED, with_payload("s-4", '"#"').replace(b"#", b"\xed\xa0\xbd\xed\xb8\x80")
    ),
    "cut in a character": Strange(REFUSED, with_payload("s-4", '"#"').replace(b"#", b"\xe2\x82")),
    "beyond the last character": Strange(
        REFUSED, with_payload("s-4", '"#"').replace(b"#", b"\xf4\x90\x80\x80")
    ),
    "a mark before an array": Strange(REFUSED, b"\xef\xbb\xbf[" + GOOD + b"]"),
    "a mark before the second line": Strange(
        {207}, text("s-5").encode() + b"\n\xef\xbb\xbf" + GOOD, content_type="application/x-ndjson"
    ),
    "line separators": Strange(TAKEN, with_payload("s-6", '"\\u2028\u2029"')),
    "a noncharacter": Strange(TAKEN, with_payload("s-7", '"\uffff\U0010ffff"')),
}

JSON_TEXTS = {
    "a huge integer deep inside": Strange(
        REFUSED, with_payload("j-1", '{"a": [{"b": 1' + "0" * 400 + "}]}")
    ),
    "five thousand digits": Strange(REFUSED, with_payload("j-1", "9" * 5000)),
    "an exponent without end": Strange(REFUSED, with_payload("j-1", "1e" + "9" * 300)),
    "a tiny exponent": Strange(REFUSED, with_payload("j-2", "1e-400")),
    "minus zero": Strange(TAKEN, text("j-3").replace('"sequence": 0', '"sequence": -0').encode()),
    "a float for a sequence": Strange(
        REFUSED, text("j-4").replace('"sequence": 0', '"sequence": 0.0').encode()
    ),
    "an exponent for a sequence": Strange(
        REFUSED, text("j-4").replace('"sequence": 0', '"sequence": 1e2').encode()
    ),
    "true for a sequence": Strange(REFUSED, text("j-4", sequence=True).encode()),
    "two to the 53rd": Strange(REFUSED, text("j-4", sequence=2**53).encode()),
    "the last sequence": Strange(TAKEN, text("j-5", sequence=2**53 - 1).encode()),
    "a surrogate in a key": Strange(REFUSED, with_payload("j-6", '{"\\ud800": 1}')),
    "surrogates the wrong way round": Strange(REFUSED, with_payload("j-6", '"\\udc00\\ud800"')),
    "a surrogate in the type": Strange(
        REFUSED, text("j-6").replace("node.started", "node.\\ud83d").encode()
    ),
    "a pair of surrogates in a key": Strange(TAKEN, with_payload("j-7", '{"\\ud83d\\ude00": 1}')),
    "NUL in a key deep inside": Strange(REFUSED, with_payload("j-8", '[[{"a\\u0000": 1}]]')),
    "the same key twice, deep inside": Strange(
        REFUSED, with_payload("j-8", '[{"a": {"b": 1, "c": 2, "b": 3}}]')
    ),
    "the same key twice, spelled two ways": Strange(
        REFUSED, with_payload("j-8", '{"a": 1, "\\u0061": 2}')
    ),
    "the empty key twice": Strange(REFUSED, with_payload("j-8", '{"": 1, "": 2}')),
    "the run twice": Strange(REFUSED, GOOD.replace(b'"runId"', b'"runId": "j-9", "runId"')),
    "a run in Kelvin": Strange(TAKEN, text("j-\u212a").encode()),
    "NaN deep inside": Strange(REFUSED, with_payload("j-10", '{"a": [NaN]}')),
    "minus infinity": Strange(REFUSED, with_payload("j-10", "-Infinity")),
    "a comment": Strange(REFUSED, b"/* */" + GOOD),
    "a comma too many": Strange(REFUSED, with_payload("j-10", "[1,]")),
    "single quotes": Strange(REFUSED, b"{'a': 1}"),
    "two documents": Strange(REFUSED, GOOD + GOOD),
    "a document and NUL bytes": Strange(REFUSED, GOOD + b"\0\0"),
    "blanks only": Strange(REFUSED, b" \t\r\n "),
    "a vertical tab around it": Strange(REFUSED, b"\x0b" + GOOD),
    "a form feed in it": Strange(REFUSED, GOOD.replace(b", ", b",\x0c", 1)),
    "depth in the causing id": Strange(
        REFUSED, text("j-11", causationId="<p>").replace('"<p>"', nested(3000)).encode()
    ),
    "depth in a key nobody reads": Strange(
        REFUSED, text("j-11", vendor="<p>").replace('"<p>"', nested(100)).encode()
    ),
    "depth just within": Strange(TAKEN, with_payload("j-12", nested(62))),
    "depth just beyond": Strange(REFUSED, with_payload("j-13", nested(64))),
    "a hundred thousand levels": Strange(REFUSED, b"[" * 100_000),
    "objects a hundred thousand levels deep": Strange(REFUSED, b'{"a":' * 100_000),
    "brackets in strings are no depth": Strange(
        TAKEN, with_payload("j-14", '"' + "[" * 5000 + '"')
    ),
    "many keys": Strange(
        {400, 200, 201}, with_payload("j-15", json.dumps({f"k{n}": n for n in range(20_000)}))
    ),
    "events inside events": Strange(REFUSED, b'{"events": {"events": []}}'),
    "events is null": Strange(REFUSED, b'{"events": null}'),
    "an array of arrays": Strange(REFUSED, b"[[" + GOOD + b"]]"),
    "a string": Strange(REFUSED, b'"' + b"a" * 100 + b'"'),
    "null": Strange(REFUSED, b"null"),
    "prototype keys": Strange(
        TAKEN, with_payload("j-16", '{"__proto__": {"a": 1}, "constructor": {"prototype": 1}}')
    ),
}

GZIPPED = {
    "two members": Strange(REFUSED, gzip.compress(GOOD) + gzip.compress(GOOD), more=GZIP),
    "rubbish behind it": Strange(REFUSED, gzip.compress(GOOD) + b"rubbish", more=GZIP),
    "a wrong checksum": Strange(REFUSED, gzip.compress(GOOD)[:-8] + b"\0" * 8, more=GZIP),
    "cut off": Strange(REFUSED, gzip.compress(GOOD)[:-1], more=GZIP),
    "only a header": Strange(REFUSED, gzip.compress(GOOD)[:10], more=GZIP),
    "a reserved flag": Strange(REFUSED, b"\x1f\x8b\x08\xe0" + gzip.compress(GOOD)[4:], more=GZIP),
    "a name in the header": Strange(
        TAKEN,
        b"\x1f\x8b\x08\x08\0\0\0\0\0\xffname\0" + gzip.compress(text("g-1").encode())[10:],
        more=GZIP,
    ),
    "zlib and not gzip": Strange(REFUSED, zlib.compress(GOOD), more=GZIP),
    "said to be deflate": Strange({415}, zlib.compress(GOOD), more=("Content-Encoding: deflate",)),
    "said to be br": Strange({415}, GOOD, more=("Content-Encoding: br",)),
    "twice gzip": Strange(
        {415}, gzip.compress(gzip.compress(GOOD)), more=("Content-Encoding: gzip, gzip",)
    ),
    "gzip in two lines": Strange({415}, gzip.compress(GOOD), more=GZIP + GZIP),
    "nothing inside": Strange(REFUSED, gzip.compress(b""), more=GZIP),
    "a bomb": Strange({413}, gzip.compress(b" " * 50_000_000), more=GZIP),
    "a bomb of brackets": Strange({413}, gzip.compress(b"[" * 20_000_000), more=GZIP),
    "gzip unsaid": Strange(REFUSED, gzip.compress(GOOD)),
}

FRAMES = {
    "a chunk that lies long": Strange(
        {400, 408}, chunked(GOOD, size="fffff"), more=CHUNKED, is_framed=True
    ),
    "a chunk that lies short": Strange(
        REFUSED, chunked(GOOD, size="4"), more=CHUNKED, is_framed=True
    ),
    "a chunk of no size": Strange(REFUSED, b"\r\n" + GOOD, more=CHUNKED, is_framed=True),
    "a negative chunk": Strange(REFUSED, b"-5\r\nabcde\r\n0\r\n\r\n", more=CHUNKED, is_framed=True),
    "a chunk beyond any number": Strange(
        {400, 413}, b"f" * 40 + b"\r\n", more=CHUNKED, is_framed=True
    ),
    "chunks and a length": Strange(
        {400, 200, 201},
        chunked(text("f-1").encode()),
        more=(*CHUNKED, "Content-Length: 3"),
        is_framed=True,
    ),
    "two lengths": Strange(
        REFUSED, GOOD, more=("Content-Length: 5", "Content-Length: 6"), is_framed=True
    ),
    "a negative length": Strange(REFUSED, GOOD, more=("Content-Length: -1",), is_framed=True),
    "a length with a plus": Strange(
        REFUSED, GOOD, more=(f"Content-Length: +{len(GOOD)}",), is_framed=True
    ),
    "a length in hex": Strange(REFUSED, GOOD, more=("Content-Length: 0x10",), is_framed=True),
    "a length beyond any number": Strange(
        {400, 413}, GOOD, more=("Content-Length: " + "9" * 30,), is_framed=True
    ),
    "a byte a chunk": Strange(
        TAKEN, chunked(*(bytes([b]) for b in text("f-2").encode())), more=CHUNKED, is_framed=True
    ),
    "a chunk with an extension": Strange(
        TAKEN,
        chunked(text("f-3").encode()).replace(b"\r\n", b";a=b\r\n", 1),
        more=CHUNKED,
        is_framed=True,
    ),
    "trailers": Strange(
        {200, 201, 401},
        chunked(text("f-4").encode(), end=b"0\r\nAuthorization: x\r\n\r\n"),
        more=CHUNKED,
        is_framed=True,
    ),
    "a transfer coding nobody knows": Strange(
        {400, 501, 415}, GOOD, more=("Transfer-Encoding: cow",), is_framed=True
    ),
    "no length at all": Strange(REFUSED, b"", is_framed=True),
}

HEADERS = {
    "a folded header": Strange(REFUSED, GOOD, more=("X-A: b\r\n folded",)),
    "a blank before the colon": Strange(REFUSED, GOOD, more=("X-A : b",)),
    "a bare newline": Strange({400, 200, 201}, text("h-1").encode(), more=("X-A: b\nX-B: c",)),
    "a NUL in a header": Strange(REFUSED, GOOD, more=("X-A: a\0b",)),
    "the key in latin letters": Strange(
        {401}, GOOD, more=("Authorization: Bearer \xe9\xff",), has_key=False
    ),
    "two keys": Strange({401}, GOOD, more=("Authorization: Bearer <key>",)),
    "a key twice in one line": Strange(
        {401}, GOOD, more=("Authorization: Bearer <key>, Bearer <key>",), has_key=False
    ),
    "Basic": Strange({401}, GOOD, more=("Authorization: Basic YTpi",), has_key=False),
    "a bearer of nothing": Strange({401}, GOOD, more=("Authorization: Bearer",), has_key=False),
    "a bearer in capitals": Strange(
        TAKEN, text("h-2").encode(), more=("Authorization: BEARER <key>",), has_key=False
    ),
    "two types": Strange({415}, GOOD, more=("Content-Type: text/plain",)),
    "a type with a tab": Strange(
        {200, 201, 415}, text("h-3").encode(), content_type="application/json\t"
    ),
    "a type of 30,000 letters": Strange({415}, GOOD, content_type="application/" + "j" * 30_000),
    "no type": Strange({415}, GOOD, content_type=""),
    "another host's name": Strange(
        TAKEN, GOOD, more=("X-Forwarded-Host: evil",), path="http://evil/api/v1/events"
    ),
    "a second Host": Strange(REFUSED, GOOD, more=("Host: evil",)),
    "a thousand headers": Strange(
        {400, 431, 200, 201}, text("h-4").encode(), more=tuple(f"X-{n}: {n}" for n in range(1000))
    ),
    "an idempotency key of blanks": Strange(REFUSED, GOOD, more=("Idempotency-Key:  ",)),
    "an accept of 20,000 types": Strange(
        TAKEN, text("h-6").encode(), more=("Accept: " + "a/b," * 10_000,)
    ),
    "a method override": Strange(
        TAKEN, text("h-7").encode(), more=("X-HTTP-Method-Override: DELETE",)
    ),
    "an upgrade": Strange({400, 200, 201, 403, 404}, text("h-8").encode(), more=("Upgrade: h2c",)),
}

ADDRESSES = {
    "a slash behind": Strange({404}, GOOD, path=EVENTS + "/"),
    "two slashes": Strange({404}, GOOD, path="/api//v1/events"),
    "dots": Strange({404}, GOOD, path="/api/v1/../v1/events"),
    "escaped letters": Strange(TAKEN, text("a-1").encode(), path="/api/v1/%65vents"),
    "capitals": Strange({404}, GOOD, path="/api/v1/Events"),
    "a query": Strange(TAKEN, text("a-2").encode(), path=EVENTS + "?key=a&key=b&%zz"),
    "a fragment": Strange({400, 404, 200, 201}, text("a-3").encode(), path=EVENTS + "#x"),
    "a parameter": Strange({404}, GOOD, path=EVENTS + ";a=b"),
    "an escaped slash": Strange(TAKEN, GOOD, path="/api/v1%2Fevents"),
    "half an escape": Strange({404}, GOOD, path=EVENTS + "%"),
    "letters that are no UTF-8": Strange({400, 404}, GOOD, path=EVENTS + "%ff%fe"),
    "a newline in it": Strange({404}, GOOD, path=EVENTS + "%0d%0aX:%20y"),
    "4,000 letters": Strange({404, 414}, GOOD, path=EVENTS + "/" + "a" * 4000),
    "a run with a slash as %2F": Strange(
        {200}, method="GET", path="/api/v1/runs/acme%2Fr-1234567890abcdef"
    ),
    "a run with a slash as ~2F": Strange(
        {200}, method="GET", path="/api/v1/runs/acme~2Fr-1234567890abcdef"
    ),
    "a run with a slash as ~2f": Strange(
        {200, 404}, method="GET", path="/api/v1/runs/acme~2fr-1234567890abcdef"
    ),
    "its events": Strange(
        {200},
        method="GET",
        path="/api/v1/runs/acme~2Fr-1234567890abcdef/events?after_sequence=zz&limit=-3",
    ),
    "its gates": Strange({200}, method="GET", path="/api/v1/runs/acme%2Fr-1234567890abcdef/gates"),
    "a stray tilde": Strange({404}, method="GET", path="/api/v1/runs/acme~2"),
    "a tilde and no hex": Strange({404}, method="GET", path="/api/v1/runs/acme~ZZ"),
    "a tilde for half a character": Strange({404}, method="GET", path="/api/v1/runs/~E2~82"),
    "a tilde for NUL": Strange({400, 404}, method="GET", path="/api/v1/runs/a~00"),
    "an escaped tilde": Strange({404}, method="GET", path="/api/v1/runs/acme%7E2"),
    "a run of dots": Strange({404}, method="GET", path="/api/v1/runs/.."),
    "a run of nothing": Strange({404}, method="GET", path="/api/v1/runs//events"),
    "a cursor of nothing": Strange(
        {200}, method="GET", path="/api/v1/runs?cursor=%ff&limit=9" + "9" * 30
    ),
    "a cursor of digits": Strange({200}, method="GET", path="/api/v1/runs?cursor=" + "9" * 400),
    "a cursor that looks right": Strange(
        {200}, method="GET", path="/api/v1/runs?cursor=9999999999999999-99999999999999999999"
    ),
    "filters nobody has": Strange(
        {200}, method="GET", path="/api/v1/runs?status=x&q=" + "%25_" * 100
    ),
    "a wait of 1e9": Strange({400, 404}, method="GET", path="/api/v1/gates/r-1-e1?wait=1e9"),
    "a wait in Arabic digits": Strange(
        {400, 404}, method="GET", path="/api/v1/gates/r-1-e1?wait=%D9%A1"
    ),
    "a wait of 5,000 digits": Strange(
        {400, 404}, method="GET", path="/api/v1/gates/r-1-e1?wait=" + "1" * 5000
    ),
    "an escalation beyond any number": Strange(
        {404, 401, 403}, method="GET", path="/api/v1/escalations/" + "9" * 30
    ),
    "a finding beyond any number": Strange(
        {404}, method="GET", path="/api/v1/findings/" + "9" * 30 + "/evidence"
    ),
    "a delivery beyond any number": Strange(
        {403, 404}, path="/api/v1/deliveries/" + "9" * 30 + "/redrive"
    ),
    "a cursor of escalations": Strange(
        {200}, method="GET", path="/api/v1/escalations?cursor=" + "9" * 30
    ),
    "a cursor of deliveries": Strange({200}, method="GET", path="/api/v1/deliveries?cursor=-1"),
    "a cursor of jobs": Strange({200}, method="GET", path="/api/v1/jobs?cursor=" + "9" * 18),
    "a webhook of dots": Strange({404}, GOOD, path="/api/v1/webhooks/.."),
    "a job that is no UUID": Strange({404}, method="GET", path="/api/v1/jobs/1"),
}

METHODS = {
    name: Strange(statuses, GOOD, method=name)
    for name, statuses in {
        "GET": {405},
        "PUT": {405},
        "PATCH": {405},
        "DELETE": {405},
        "HEAD": {405},
        "TRACE": {405, 400},
        "OPTIONS": {200, 204, 405, 401},
        "post": {400, 405},
        "BREW": {400, 405},
        "CONNECT": {400, 404, 405},
    }.items()
}


def lines_of(*parts: bytes, end: bytes = b"\n") -> bytes:
    return end.join(parts) + end


def numbered(run: str, count: int) -> list[dict[str, Any]]:
    return [event(n, run=run) for n in range(count)]


def ndjson(statuses: set[int], body: bytes) -> Strange:
    return Strange(statuses, body, content_type="application/x-ndjson")


BATCHES = {
    "a thousand": Strange({200}, json.dumps(numbered("b-1", 1000)).encode()),
    "a thousand and one": Strange({413}, json.dumps(numbered("b-2", 1001)).encode()),
    "a thousand lines": ndjson(
        {200}, lines_of(*(json.dumps(e).encode() for e in numbered("b-3", 1000)))
    ),
    "a thousand and one lines": ndjson(
        {413}, lines_of(*(json.dumps(e).encode() for e in numbered("b-4", 1001)))
    ),
    "no line": ndjson(REFUSED, b""),
    "empty lines": ndjson(REFUSED, b"\n\n\n"),
    "lines that end in CR LF": ndjson({200}, lines_of(text("b-5").encode(), end=b"\r\n")),
    "lines that end in CR": ndjson(
        {400, 200}, lines_of(text("b-6").encode(), text("b-7").encode(), end=b"\r")
    ),
    "no end of the last line": ndjson({200}, text("b-8").encode()),
    "blank lines between": ndjson(
        {200, 207}, lines_of(text("b-9").encode(), b"", b"  ", text("b-10").encode())
    ),
    "an array on a line": ndjson({400}, b"[" + GOOD + b"]\n"),
    "a batch on a line": ndjson({400}, b'{"events": []}\n'),
    "an event over two lines": ndjson({400}, json.dumps(one("b-11"), indent=1).encode()),
    "one bad line of three": ndjson(
        {207}, lines_of(text("b-12").encode(), b"{", text("b-13").encode())
    ),
    "a line of NUL": ndjson({207}, lines_of(text("b-14").encode(), b"\0")),
    "record separators": ndjson({400}, b"\x1e" + GOOD + b"\n"),
    "a line of four megabytes": ndjson(
        {200, 400, 413}, with_payload("b-15", '"' + "x" * 4_000_000 + '"')
    ),
    "the same event a thousand times": Strange({200}, json.dumps([one("b-16")] * 1000).encode()),
    "one id with two contents": Strange(
        {207}, json.dumps([one("b-17"), one("b-17", payload={"a": 1})]).encode()
    ),
    "one id at two places": Strange(
        {207}, json.dumps([one("b-18"), one("b-18", sequence=1)]).encode()
    ),
    "all runs of the world": Strange(
        {200}, json.dumps([one(f"b-19-{n}") for n in range(300)]).encode()
    ),
    "a payload just above the limit": Strange(
        TAKEN, with_payload("b-20", '"' + "x" * (256 * 1024) + '"')
    ),
    "a batch of one in an array": Strange({200}, b"[" + text("b-21").encode() + b"]"),
    "something beside events": Strange(REFUSED, b'{"events": [' + GOOD + b'], "more": 1}'),
    "events twice": Strange(REFUSED, b'{"events": [], "events": [' + GOOD + b"]}"),
    "nulls": Strange(REFUSED, b"[null, null]"),
}

FAMILIES = {
    "encodings": ENCODINGS,
    "json": JSON_TEXTS,
    "gzip": GZIPPED,
    "frames": FRAMES,
    "headers": HEADERS,
    "addresses": ADDRESSES,
    "methods": METHODS,
    "batches": BATCHES,
}
SOON_S = 15


@pytest.fixture
def ask(transactional_db, settings) -> Iterator[Any]:
    """Sends one request on a connection of its own and reads the answer."""
    settings.BODY_DEADLINE_S = 2
    with serving_web() as web:
        host = add_host_named("alpha", workspace="acme")
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        send(host, event(0, "run.started", run="acme/r-1234567890abcdef"))

        def exchange(request: Strange) -> Reply:
            with web.connect() as connection:
                connection.settimeout(SOON_S)
                put(connection, request.raw(host.key_for_tests, web.port))
                return read_reply(connection)

        yield exchange


def stored() -> int:
    return Event.objects.filter(origin="host").count()


@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_comes_is_answered_and_what_is_refused_is_not_kept(ask, family):
    wrong = []
    for name, request in FAMILIES[family].items():
        before = stored()
        reply = ask(request)
        grown = stored() - before
        is_json = reply.media_type in ("application/json", "application/problem+json")
        is_bare = reply.status == 400 and reply.media_type.startswith("text/plain")
        faults = [
            reply.status not in request.statuses and f"{reply.status} {reply.body[:150]!r}",
            reply.status >= 400 and grown and f"{reply.status}, and {grown} rows",
            not (is_json or is_bare or request.method == "HEAD") and f"as {reply.media_type!r}",
            b"<html" in reply.body.lower() and "a page",
        ]
        wrong += [f"{name}: {fault}" for fault in faults if fault]
    assert not wrong, "\n".join(wrong)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\xff",
        "multipart/form-data; boundary=" + "a" * 500,
    ],
)
def test_a_form_without_a_usable_boundary_is_refused_and_no_failure(client, ada, content_type):
    client.force_login(ada)

    for path in ("/theme", "/login", "/jobs/new", "/queue/many", "/settings/profile"):
        answer = client.post(path, b"{}", content_type=content_type)

        assert answer.status_code == 400, path
        assert b"makes no sense here" in answer.content


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/theme", "/settings/notifications/read"])
@pytest.mark.parametrize(
    "to", ["null", "a:b", "\\x", "//evil.example", "/\\evil", "{", "1e999", "\0"]
)
def test_whoever_sends_no_address_of_ours_to_go_back_to_comes_home(client, ada, path, to):
    client.force_login(ada)

    answer = client.post(path, {"next": to})

    assert (answer.status_code, answer["Location"][:5]) in ((302, "/"), (302, "/queu"))


@pytest.mark.django_db
def test_nothing_is_handed_to_a_name_that_nobody_can_have(client, ada, host):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    found = Escalation.objects.get()
    client.force_login(ada)

    for name in ("\0", "a\0b", "\ud800", "a" * 70_000):
        to = name.encode("utf-8", "replace").decode()
        answer = client.post(f"/queue/{found.pk}/reassign", {"to": to}, follow=True)
        assert b"choose somebody who may decide" in answer.content

    assert Escalation.objects.get().claimed_by is None


@pytest.mark.django_db
def test_a_decided_matter_is_not_decided_again_by_rubbish(client, ada, host):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    found = escalations.claim(escalation=Escalation.objects.get().pk, by=ada)
    seen = escalations.view_of(found)
    escalations.resolve(escalation=found.pk, by=ada, decision=Decision(Action.UPHOLD), seen=seen)
    client.force_login(ada)

    for action in ("\0", "uphold\0", "override", "a" * 70_000):
        answer = client.post(f"/queue/{found.pk}/resolve", {"action": action}, follow=True)
        assert b"already decided" in answer.content, action


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/consensus",
        "/api/v1/jobs",
        "/api/v1/webhooks/alpha",
        "/api/v1/escalations/1/claim",
        "/api/v1/escalations/1/resolve",
        "/v1/host/sample/agents/verify-run",
        "/v1/runs/r-1/interrupts/gate",
    ],
)
def test_no_other_door_fails_over_a_strange_body(ask, settings, path):
    settings.HOST_SURFACE = True
    rotate_secret(host=Host.objects.get(slug="alpha"), secret=SECRET, overlap=timedelta(0))
    ada = person("ada")
    grant(user=ada, workspace=Workspace.objects.get(slug="acme"), role=Role.ADMIN)
    token = create_token(user=ada, name="strange")
    before = stored()
    wrong = []
    for name, each in {**ENCODINGS, **JSON_TEXTS, **GZIPPED}.items():
        signed = v2(each.body, SECRET, str(int(datetime.now(UTC).timestamp())))
        more = (
            *each.more,
            *(f"{name}: {value}" for name, value in signed.items()),
            f"Authorization: Bearer {token}",
            f"Idempotency-Key: {uuid4()}",
        )
        reply = ask(replace(each, path=path, more=more, has_key=False))
        is_json = reply.media_type == "application/json"
        if reply.status >= 500 or not is_json or (reply.status >= 400 and stored() > before):
            wrong.append(f"{name}: {reply.status} {reply.body[:200]!r}")
        before = stored()
    assert not wrong, "\n".join(wrong)
