"""TCP ports on this machine: the one the Console serves and the free ones its servers get."""

import errno
import socket


class PortTaken(RuntimeError):
    """The wanted address cannot be bound."""

    def __init__(self, address: str, port: int, reason: str) -> None:
        self.port = port
        super().__init__(
            f"{address}:{port} cannot be served ({reason}). Choose another, such as "
            f"`make run PORT={port + 1}`."
        )


def bound(address: str, port: int) -> socket.socket:
    """Return a socket bound to the address, not yet listening; port 0 takes any free one.

    Raises:
        PortTaken: something else listens there, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((address, port))
    except OSError as error:
        sock.close()
        reason = "in use" if error.errno == errno.EADDRINUSE else str(error.strerror or error)
        raise PortTaken(address, port, reason) from error
    return sock


def free_port(preferred: int = 0) -> int:
    """Return a port of 127.0.0.1 that nobody listens on, the preferred one if it is free."""
    try:
        sock = bound("127.0.0.1", preferred)
    except PortTaken:
        sock = bound("127.0.0.1", 0)
    with sock:
        return int(sock.getsockname()[1])
