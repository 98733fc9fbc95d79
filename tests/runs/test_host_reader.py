"""What is asked of a host, word for word, and what its streams are read as."""

import time

import pytest

from runs.domain.host_answer import Answer, Reached
from runs.host_reader import HostReader
from tests.local_servers import http, serving


def reader(server, **more):
    known = {"api_key": "key", "allow_private": ["127.0.0.0/8"], "deadline_s": 2.0}
    return HostReader(server.url, **{**known, **more})


def asked(request):
    head = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in head[1:])
    return head[0], {name.lower(): value for name, value in headers.items()}


def stream_of(*chunks, status=b"200 OK", kind=b"text/event-stream", stays=True):
    def answer(connection, request, over):
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Type: %s\r\n\r\n" % (status, kind))
        for chunk in chunks:
            connection.sendall(chunk)
        if stays:
            over.wait(60)

    return answer


@pytest.mark.parametrize(
    ("major", "path", "version"),
    [
        (1, "/v1/runs/a%2Fb/events?streamMode=debug", None),
        (2, "/runs/a~2Fb/events?streamMode=debug", "2.0"),
    ],
)
@pytest.mark.parametrize(("after", "header"), [(None, None), (-1, None), (0, "0"), (7, "7")])
def test_a_stream_is_asked_for_in_full_and_from_a_sequence(major, path, version, after, header):
    with (
        serving(stream_of(stays=False)) as server,
        reader(server, major=major).stream_events("a/b", after, seconds=1) as stream,
    ):
        assert list(stream.chunks) == []

    first, headers = asked(server.requests[0])
    assert first == f"GET {path} HTTP/1.1"
    assert headers.get("last-event-id") == header
    assert headers.get("openwop-version") == version
    assert (headers["accept"], headers["authorization"]) == ("text/event-stream", "Bearer key")


@pytest.mark.parametrize(("major", "prefix"), [(1, "/v1"), (2, "")])
def test_runs_are_listed_in_pages(major, prefix):
    with serving(http(body=b'{"runs":[]}')) as server:
        host = reader(server, major=major)
        assert host.list_runs(limit=100).body == b'{"runs":[]}'
        host.list_runs(limit=5, cursor="a&b=c")

    assert [asked(each)[0].split()[1] for each in server.requests] == [
        f"{prefix}/runs?limit=100",
        f"{prefix}/runs?limit=5&cursor=a%26b%3Dc",
    ]


def test_a_stream_comes_in_pieces_and_ends_by_its_deadline():
    with serving(stream_of(b"data: 1\n\n", b"data: 2\n\n")) as server:
        began = time.monotonic()
        with reader(server).stream_events("r", seconds=0.4) as stream:
            assert b"".join(stream.chunks) == b"data: 1\n\ndata: 2\n\n"

    assert 0.3 < time.monotonic() - began < 15


def test_a_stream_is_read_up_to_the_limit():
    with (
        serving(stream_of(b"x" * 5000)) as server,
        reader(server, read_limit=1000).stream_events("r", seconds=5) as stream,
    ):
        assert len(b"".join(stream.chunks)) == 1000


@pytest.mark.parametrize(
    ("status", "kind", "read"),
    [
        (b"200 OK", b"application/json", 200),
        (b"404 Not Found", b"application/json", 404),
        (b"503 No", b"text/event-stream", 503),
        (b"302 Found", b"text/event-stream", 302),
    ],
)
def test_what_is_no_stream_is_an_answer(status, kind, read):
    with (
        serving(stream_of(b"{}", status=status, kind=kind)) as server,
        reader(server).stream_events("r", seconds=2) as stream,
    ):
        assert isinstance(stream, Answer)
        assert (stream.reached, stream.status) == (Reached.ANSWERED, read)


def test_a_host_that_is_not_there_is_an_answer_too():
    with serving(http()) as server:
        pass
    with reader(server).stream_events("r", seconds=1) as stream:
        assert isinstance(stream, Answer)
        assert stream.reached is Reached.NOT_SENT


def test_what_goes_wrong_while_reading_is_the_readers_own():
    def read(server):
        with reader(server).stream_events("r", seconds=5):
            raise ZeroDivisionError

    with serving(stream_of(b"data: 1\n\n")) as server, pytest.raises(ZeroDivisionError):
        read(server)


def test_a_long_answer_says_that_it_is_too_large():
    with serving(http(body=b"x" * 100)) as server:
        reading = reader(server, read_limit=50).read_run("r")

    assert (reading.is_too_large, reading.body, reading.document) == (True, b"", None)
