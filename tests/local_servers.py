"""Hosts that behave and hosts that do not: real sockets, each served by a thread."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answerer = Callable[[socket.socket, bytes, threading.Event], None]
"""Gets the connection, the request, and an event that is set when the test is over."""


@dataclass
class Server:
    """A listening port, what was sent to it, and how often somebody connected."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    server_names: list[str | None] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def closed_port() -> Iterator[int]:
    """Hold a port on which nobody listens, so that nobody else comes to listen there meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def http(status: str = "200 OK", body: bytes = b"{}", headers: tuple[str, ...] = ()) -> Answerer:
    """Answer every request like this."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]

    def answer(connection: socket.socket, request: bytes, over: threading.Event) -> None:
        connection.sendall("\r\n".join(lines).encode() + body)

    return answer


@contextmanager
def serving(answer: Answerer, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve one connection at a time until the test is over."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener.getsockname()[1])
        if tls is not None:
            tls.sni_callback = lambda _socket, name, _context: server.server_names.append(name)
        thread = threading.Thread(target=_serve, args=(listener, server, answer, tls))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            thread.join(timeout=60)
    assert not thread.is_alive()


def _serve(
    listener: socket.socket, server: Server, answer: Answerer, tls: ssl.SSLContext | None
) -> None:
    while True:
        try:
            raw, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        with suppress(OSError), raw:
            raw.settimeout(5)
            connection = raw if tls is None else tls.wrap_socket(raw, server_side=True)
            with connection:
                request = _read_request(connection)
                if request:
                    server.requests.append(request)
                answer(connection, request, server.over)


def _read_request(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        part = connection.recv(65536)
        if not part:
            return request
        request += part
    head, _, body = request.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def certificate_for(names: list[str], folder: Path) -> ssl.SSLContext:
    """Return a server's context whose certificate is its own authority, kept in `ca.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test host")])
    now = datetime.now(UTC)
    alternatives = [
        x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
        for name in names
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(pem)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "server.pem").write_bytes(secret + pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context
