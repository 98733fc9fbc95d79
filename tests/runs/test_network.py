"""What is left of a deadline, step by step."""

import httpcore
import pytest

from runs.network import Deadline, DeadlineStream, PinnedBackend


def test_a_deadline_that_is_over_stops_the_next_step():
    over = Deadline(-1)

    with pytest.raises(httpcore.ReadTimeout):
        over.remaining()
    with pytest.raises(httpcore.ConnectTimeout):
        over.remaining(httpcore.ConnectTimeout)
    assert 9 < Deadline(10).remaining() <= 10


class Slow(httpcore.NetworkStream):
    """A stream that notes how long each step was allowed to take."""

    def __init__(self):
        self.allowed = []

    def read(self, max_bytes, timeout=None):
        self.allowed.append(timeout)
        return b""

    def write(self, buffer, timeout=None):
        self.allowed.append(timeout)


def test_every_step_gets_what_is_left_whatever_it_was_offered():
    inner = Slow()
    stream = DeadlineStream(inner, Deadline(5))

    stream.read(10, timeout=600)
    stream.write(b"x" * 10_000, timeout=600)

    assert len(inner.allowed) == 4
    assert all(timeout <= 5 for timeout in inner.allowed)


def test_the_host_that_is_asked_for_is_never_connected_to():
    backend = PinnedBackend([], Deadline(5))

    with pytest.raises(httpcore.ConnectError):
        backend.connect_tcp("127.0.0.1", 22)


def test_no_address_is_tried_after_the_deadline():
    with pytest.raises(httpcore.ConnectTimeout):
        PinnedBackend(["127.0.0.1"], Deadline(-1)).connect_tcp("x.example", 443)
