"""One request, one deadline, one judged address."""

import json
import re
import socket
import threading
import time
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import httpcore
import pytest

from runs import pinned
from runs.domain.addresses import networks
from runs.domain.host_answer import Reached
from runs.pinned import ANSWER_LIMIT, Call, Line, addresses_of, send
from tests.local_servers import certificate_for, closed_port, http, serving

IN_TIME_S = 20
"""Less than what never ends, and far more than a deadline, on a machine that is busy."""
LOCAL = networks(["127.0.0.0/8"])


def line(**more):
    return Line(**{"private": LOCAL, "deadline_s": 0.5, **more})


def post(url, body=b"{}", **more):
    return Call("POST", url, {"Content-Type": "application/json"}, body, **more)


def test_a_request_arrives_byte_for_byte_and_its_answer_comes_back():
    with serving(http("201 Created", b'{"a":1}', ("X-Note: hi",))) as server:
        answer, received = send(post(server.url + "/p?q=1", b'{"b":"\xc3\xa9"}'), line())

    assert (answer.reached, answer.status) == (Reached.ANSWERED, 201)
    assert (received.body, received.is_whole, received.headers["x-note"]) == (
        b'{"a":1}', True, "hi",
    )  # fmt: skip
    (request,) = server.requests
    assert request.startswith(b"POST /p?q=1 HTTP/1.1\r\n")
    assert request.endswith(b'\r\n\r\n{"b":"\xc3\xa9"}')
    assert f"Host: 127.0.0.1:{server.port}".encode() in request
    assert b"Accept-Encoding: identity" in request


def test_a_redirect_is_an_answer_and_not_a_place_to_go():
    with serving(http()) as elsewhere:
        location = (f"Location: {elsewhere.url}/secret",)
        with serving(http("302 Found", b"", location)) as server:
            answer, _ = send(post(server.url), line())

    assert answer.status == 302
    assert elsewhere.connections == 0


def test_an_endless_answer_is_read_up_to_the_limit_and_its_status_counts():
    sent = []

    def flood(connection, request, over):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(16384):
            sent.append(connection.send(b"x" * 65536))

    with serving(flood) as server:
        answer, received = send(post(server.url), line(deadline_s=5))

    assert (answer.status, received.is_whole) == (200, False)
    assert len(received.body) == ANSWER_LIMIT
    assert sum(sent) < 16 * 1024 * 1024


def drip(first, part, pause=0.05):
    def answer(connection, request, over):
        connection.sendall(first)
        while not over.wait(pause):
            connection.sendall(part)

    return answer


@pytest.mark.parametrize(
    ("first", "part"),
    [(b"", b"H"), (b"HTTP/1.1 200 OK\r\n", b"X-More: a\r\n")],
    ids=["status", "headers"],
)
def test_a_host_that_drips_gains_nothing_by_it(first, part):
    with serving(drip(first, part)) as server:
        started = time.monotonic()
        answer, received = send(post(server.url), line())
        took = time.monotonic() - started

    assert (answer.reached, answer.why, received) == (Reached.NO_ANSWER, "timeout", None)
    assert took < IN_TIME_S


def test_a_body_that_drips_is_cut_and_the_status_counts():
    with serving(drip(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"x")) as server:
        answer, received = send(post(server.url), line())

    assert (answer.reached, answer.status, received.is_whole) == (Reached.ANSWERED, 200, False)


def test_a_host_that_says_nothing_times_out():
    with serving(lambda connection, request, over: over.wait()) as server:
        answer, _ = send(post(server.url), line(deadline_s=0.3))

    assert (answer.reached, answer.why) == (Reached.NO_ANSWER, "timeout")


def test_a_host_that_hangs_up_leaves_the_outcome_unknown():
    def reset(connection, request, over):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")

    with serving(reset) as server:
        answer, _ = send(post(server.url), line())

    assert answer.reached is Reached.NO_ANSWER
    assert answer.why in {"reset", "garbled"}


@pytest.mark.parametrize(
    "noise", [b"\x00\xff\xfe" * 100, b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b""]
)
def test_what_is_not_http_is_no_answer(noise):
    with serving(lambda connection, request, over: connection.sendall(noise)) as server:
        answer, _ = send(post(server.url), line())

    assert (answer.reached, answer.status) == (Reached.NO_ANSWER, None)


def test_a_closed_port_was_not_reached():
    with closed_port() as port:
        answer, _ = send(post(f"http://127.0.0.1:{port}"), line())

    assert (answer.reached, answer.why) == (Reached.NOT_SENT, "refused")


@pytest.mark.parametrize(
    ("resolver", "why"),
    [
        (lambda host, port: [], "name"),
        (lambda host, port: (_ for _ in ()).throw(OSError()), "name"),
    ],
    ids=["unknown", "error"],
)
def test_a_name_that_does_not_resolve_was_not_reached(resolver, why):
    answer, _ = send(post("https://host.example/"), line(resolver=resolver))

    assert (answer.reached, answer.why) == (Reached.NOT_SENT, why)


def test_a_name_is_not_waited_for_beyond_the_deadline():
    over = threading.Event()

    def resolver(host, port):
        over.wait(60)
        return ["127.0.0.1"]

    started = time.monotonic()
    answer, _ = send(post("https://host.example/"), line(resolver=resolver, deadline_s=0.2))
    took = time.monotonic() - started
    over.set()

    assert (answer.reached, answer.why) == (Reached.NOT_SENT, "name")
    assert took < IN_TIME_S


def test_the_systems_resolver_knows_this_machine():
    assert "127.0.0.1" in addresses_of("localhost", 80)


@contextmanager
def canary():
    """A listener on this machine that nobody may reach."""
    with serving(http()) as server:
        yield server
        assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://0177.0.0.1:{port}/",
        "http://0:{port}/",
        "http://１２７.0.0.1:{port}/",
        "http://good.example@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}#@good.example/",
        "https://rebound.example:{port}/",
        "http://rebound.example:{port}/",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    ],
)
def test_nothing_on_this_machine_is_reached_without_leave(url):
    with canary() as server:
        call = post(url.format(port=server.port))
        answer, received = send(call, Line(resolver=lambda h, p: ["127.0.0.1"], deadline_s=0.5))

    assert (answer.reached, received) == (Reached.FORBIDDEN, None)


TRICKS = Path(__file__).parents[1] / "fixtures/decisions/urls.jsonl"
URLS = [json.loads(line) for line in TRICKS.read_text().splitlines()]


@pytest.mark.parametrize("record", URLS, ids=lambda record: record["name"])
def test_no_known_trick_reaches_this_machine_nor_anything_else(record, monkeypatch):
    """As recorded, and aimed at a port that listens here; every name resolves to this machine."""
    tried = []
    inner = httpcore.SyncBackend.connect_tcp
    monkeypatch.setattr(
        httpcore.SyncBackend, "connect_tcp",
        lambda self, *to, **more: (tried.append(to), inner(self, *to, **more))[1],
    )  # fmt: skip
    with canary() as server:
        aimed = re.sub(r"^([a-z+]+://[^/?#]*?)(:[0-9]+)?([/?#]|$)", rf"\1:{server.port}\3",
                       record["url"], count=1)  # fmt: skip
        for url in (record["url"], aimed):
            here = cycle([["127.0.0.1"], ["::ffff:127.0.0.1"], ["10.9.9.9"]])
            for _ in range(3):
                look = Line(resolver=lambda h, p, here=here: next(here), deadline_s=0.5)
                answer, received = send(post(url), look)
                assert (answer.reached, received) == (Reached.FORBIDDEN, None), url
    assert tried == []


def test_a_name_that_rebinds_between_two_looks_is_looked_at_once():
    asked = []

    def rebinding(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.9.9.9"]

    with serving(http()) as server:
        url = f"http://rebound.example:{server.port}/"
        answer, _ = send(post(url), line(resolver=rebinding))

    assert (answer.status, asked) == (200, ["rebound.example"])
    assert f"Host: rebound.example:{server.port}".encode() in server.requests[0]


def test_a_name_that_rebinds_between_two_attempts_is_judged_again():
    turns = iter([["93.184.216.34"], ["127.0.0.1"]])
    look = Line(resolver=lambda h, p: next(turns), deadline_s=0.2)

    with canary() as server:
        first, _ = send(post(f"https://rebound.example:{server.port}/"), look)
        second, _ = send(post(f"https://rebound.example:{server.port}/"), look)

    assert (first.reached, second.reached) == (Reached.FORBIDDEN, Reached.FORBIDDEN)
    assert first.why != second.why


def test_one_private_address_among_public_ones_refuses_them_all():
    with canary() as server:
        mixed = Line(resolver=lambda h, p: ["93.184.216.34", "127.0.0.1"], deadline_s=0.2)
        answer, _ = send(post(f"https://mixed.example:{server.port}/"), mixed)

    assert answer.reached is Reached.FORBIDDEN


def test_the_next_judged_address_is_tried_when_one_is_closed():
    with serving(http()) as server:
        both = line(resolver=lambda h, p: ["127.0.0.2", "127.0.0.1"])
        answer, _ = send(post(f"http://twice.example:{server.port}/"), both)

    assert answer.status == 200


def test_no_proxy_variable_is_read(monkeypatch):
    with canary() as proxy, serving(http()) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        answer, _ = send(post(server.url), line())

    assert answer.status == 200


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """Trust the certificate that the test makes."""
    context = certificate_for(["named.example"], tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    pinned._tls.cache_clear()
    yield context
    pinned._tls.cache_clear()


def test_tls_is_verified_for_the_name_while_the_address_is_pinned(trusted):
    here = line(resolver=lambda h, p: ["127.0.0.1"], deadline_s=2)
    with serving(http(), tls=trusted) as server:
        good, _ = send(post(f"https://named.example:{server.port}/"), here)
        other, _ = send(post(f"https://other.example:{server.port}/"), here)
        bare, _ = send(post(f"https://127.0.0.1:{server.port}/"), here)

    assert good.status == 200
    assert server.server_names[:2] == ["named.example", "other.example"]
    assert [(a.reached, a.why) for a in (other, bare)] == [(Reached.NOT_SENT, "tls")] * 2
    assert len(server.requests) == 1


def test_an_unknown_authority_is_not_trusted(tmp_path):
    context = certificate_for(["named.example"], tmp_path)
    here = line(resolver=lambda h, p: ["127.0.0.1"], deadline_s=2)
    with serving(http(), tls=context) as server:
        answer, _ = send(post(f"https://named.example:{server.port}/"), here)

    assert (answer.reached, answer.why) == (Reached.NOT_SENT, "tls")


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "sécret", "a\x00b"])
def test_a_header_that_cannot_be_sent_is_never_sent(value):
    with canary() as server:
        call = Call("POST", server.url, {"Authorization": f"Bearer {value}"}, b"{}")
        answer, _ = send(call, line())

    assert answer.reached is Reached.FORBIDDEN
    assert value not in answer.why


def test_nothing_secret_shows_in_what_is_printed():
    call = Call("POST", "https://x.example/", {"Authorization": "Bearer CANARY"}, b"CANARY")

    assert "CANARY" not in repr(call)


def test_no_thread_or_socket_is_left_behind():
    before = threading.active_count()
    with serving(http()) as server:
        for _ in range(5):
            send(post(server.url), line())

    assert threading.active_count() <= before
