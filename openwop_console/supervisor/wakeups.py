"""Signals turned into something a plain loop can wait for.

A handler does nothing but leave a byte in a pipe. So a signal never interrupts a step half-way; the
loop learns of it when it next waits.
"""

import os
import select
import signal
import socket
from types import FrameType, TracebackType
from typing import Self

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopAsked(Exception):
    """Somebody pressed Ctrl-C, sent SIGTERM, or closed the terminal."""


class Wakeups:
    """While entered, child deaths and stop signals end a `wait` early."""

    def __enter__(self) -> Self:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._previous = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._handlers = {
            number: signal.signal(number, _ignore)
            for number in (*STOP_SIGNALS, signal.SIGCHLD)
            # nohup means that a closed terminal is no reason to stop
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._previous)
        self._reader.close()
        self._writer.close()

    def wait(self, seconds: float) -> None:
        """Return after so many seconds, or as soon as a child has died.

        Raises:
            StopAsked: a stop signal came, now or since the last wait.
        """
        readable, _, _ = select.select([self._reader], [], [], max(0.0, seconds))
        if readable and not {int(number) for number in STOP_SIGNALS}.isdisjoint(
            os.read(self._reader.fileno(), 4096)
        ):
            raise StopAsked


def _ignore(number: int, frame: FrameType | None) -> None:
    """Keep Python's default from acting; the byte in the pipe is what counts."""
