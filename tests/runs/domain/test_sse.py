"""Frames of an event stream, whatever pieces they arrive in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.sse import Frame, Frames, FrameTooLarge

STREAM = (
    b"\xef\xbb\xbf: open\n\n"
    b'id: 0\nevent: run.started\ndata: {"seq":0}\n\n'
    b": keep-alive\n\n"
    b"id: 1\r\nevent:node.started\r\ndata: one\r\ndata:two\r\n\r\n"
    b"event: x\rdata:  spaced\r\r"
    b"retry: 100\nunknown\ndata\n\n"
    b"id: bad\0id\ndata: last\n\n"
    b"data: cut off"
)
FRAMES = [
    Frame("run.started", b'{"seq":0}', "0"),
    Frame("node.started", b"one\ntwo", "1"),
    Frame("x", b" spaced", "1"),
    Frame("", b"", "1"),
    Frame("", b"last", "1"),
]


def test_a_stream_is_read_as_the_standard_says():
    assert Frames(1000).feed(STREAM) == FRAMES


@given(st.lists(st.integers(1, 40), max_size=60))
def test_pieces_do_not_matter(sizes):
    frames, found, at = Frames(1000), [], 0
    for size in [*sizes, len(STREAM)]:
        found += frames.feed(STREAM[at : at + size])
        at += size

    assert found == FRAMES


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 200, b"data: xxxxxxxx\n" * 30])
def test_a_frame_beyond_the_limit_ends_the_reading(piece):
    with pytest.raises(FrameTooLarge):
        Frames(100).feed(piece)


def test_a_frame_that_grows_in_small_pieces_is_noticed_too():
    frames = Frames(100)
    for _ in range(100):
        assert frames.feed(b"x") == []

    with pytest.raises(FrameTooLarge):
        frames.feed(b"x")


def test_many_small_frames_are_no_large_one():
    frames = Frames(100)

    assert sum(len(frames.feed(b"data: 1234567890\n\n")) for _ in range(100)) == 100
