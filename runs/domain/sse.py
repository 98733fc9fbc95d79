"""Server-sent events, read from bytes as they arrive.

A frame that grows beyond its limit ends the reading: what a host streams is data, and its size is
ours to bound. Source: HTML Living Standard, §9.2.6 (interpreting an event stream).
"""

from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"


class FrameTooLarge(Exception):
    """A frame is longer than is read."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream."""

    name: str
    """Of its `event:` field; empty if it had none."""
    data: bytes
    id: str


class Frames:
    """Splits a stream into frames, whatever pieces it arrives in."""

    def __init__(self, most: int) -> None:
        """Begin at the start of a stream; a frame may have `most` bytes."""
        self._most = most
        self._held = b""
        self._line: list[bytes] = []
        self._size = 0
        self._is_first = True
        self._name = self._id = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this piece completes.

        Raises:
            FrameTooLarge: the frame under way is longer than is read.
        """
        chunk, self._held = self._held + chunk, b""
        if chunk.endswith(b"\r"):  # perhaps the first half of one line end
            chunk, self._held = chunk[:-1], b"\r"
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        found = [frame for line in lines if (frame := self._end_line(line)) is not None]
        self._grow(rest)
        return found

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            raise FrameTooLarge
        if part:
            self._line.append(part)

    def _end_line(self, end: bytes) -> Frame | None:
        self._grow(end)
        line, self._line = b"".join(self._line), []
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._end_frame()
        field, _, value = line.partition(b":")
        self._take(field, value.removeprefix(b" "))
        return None

    def _take(self, field: bytes, value: bytes) -> None:
        match field:
            case b"event":
                self._name = value.decode("utf-8", "replace")
            case b"data":
                self._data.append(value)
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")

    def _end_frame(self) -> Frame | None:
        """Give the frame; one without data is a keep-alive. The last id stays for the next one."""
        name, data = self._name, self._data
        self._name, self._data, self._size = "", [], 0
        return Frame(name, b"\n".join(data), self._id) if data else None
