"""Where the Console may connect to: judged before every attempt, by address and not by name alone.

A URL is read once, strictly, into the parts that the connection is then made from, so that no
second parser can see another host in it. Every address that its name resolves to is judged; one
bad address refuses them all. Private addresses, plain HTTP, odd ports, literal addresses and local
names exist only within the ranges that the operator allowed, and a refusal names that setting.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from runs.domain.addresses import (
    Network,
    is_in_the_open,
    is_never_allowed,
    is_within,
    parsed,
)

SETTING = "OPENWOP_CONSOLE_ALLOW_PRIVATE"


class Reason(StrEnum):
    """Why a URL is refused."""

    UNREADABLE = "unreadable"
    SCHEME = "scheme"
    USERINFO = "userinfo"
    FRAGMENT = "fragment"
    HOST = "host"
    NUMERIC_HOST = "numeric_host"
    PORT = "port"
    UNRESOLVED = "unresolved"
    NEVER = "never"
    INSIDE = "inside"
    PLAIN_HTTP = "plain_http"
    LITERAL = "literal"
    LOCAL_NAME = "local_name"


@dataclass(frozen=True, slots=True)
class Refused:
    """A URL that the Console does not connect to."""

    reason: Reason
    words: str
    """One sentence. Never holds the URL."""
    setting: str = ""
    """What to change if the destination is meant; empty when nothing would help."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL taken apart; the connection is made from these parts."""

    scheme: str
    host: str
    """ASCII, lower case, without the root's dot; the name for TLS and the Host header."""
    port: int
    path: str
    """Path and query as given, at least `/`."""
    is_literal: bool


@dataclass(frozen=True, slots=True)
class Allowed:
    """A destination and the addresses that were judged; connect to these and no other."""

    destination: Destination
    addresses: tuple[str, ...]


PUBLIC_PORT = 443
"""The one port that is used on public addresses."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator allows beyond public HTTPS."""

    private: tuple[Network, ...] = ()


_WORDS = {
    Reason.UNREADABLE: "The address is not a plain URL.",
    Reason.SCHEME: "Only https addresses are used.",
    Reason.USERINFO: "An address must not hold a user name or password.",
    Reason.FRAGMENT: "An address must not hold a fragment.",
    Reason.HOST: "The host name is not a valid name.",
    Reason.NUMERIC_HOST: "The host is a number written in an unusual way.",
    Reason.PORT: "This port is not used on public addresses.",
    Reason.UNRESOLVED: "The host name resolves to no address.",
    Reason.NEVER: "This address is never used, whatever is allowed.",
    Reason.INSIDE: "The address is private.",
    Reason.PLAIN_HTTP: "Plain http is used within allowed private ranges only.",
    Reason.LITERAL: "A bare IP address is used within allowed private ranges only.",
    Reason.LOCAL_NAME: "A local name is used within allowed private ranges only.",
}
_NEEDS_PRIVATE = frozenset(
    {Reason.INSIDE, Reason.PLAIN_HTTP, Reason.LITERAL, Reason.LOCAL_NAME, Reason.PORT}
)
_PORTS = {"https": 443, "http": 80}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_LOCAL_SUFFIXES = (".internal", ".local", ".localhost", ".home.arpa", ".localdomain")


def judge(url: str, addresses: Sequence[str], private: Iterable[Network] = ()) -> Allowed | Refused:
    """Judge a URL together with what its name resolves to now.

    Args:
        url: where somebody wants the Console to connect.
        addresses: every address of the name; for a literal, that literal.
        private: ranges allowed by the operator.
    """
    destination = read_url(url)
    if isinstance(destination, Refused):
        return destination
    return judge_addresses(destination, addresses, Policy(tuple(private)))


def read_url(url: str) -> Destination | Refused:
    """Take a URL apart, refusing whatever two parsers could read differently."""
    if _FORBIDDEN.search(url):
        return refused(Reason.UNREADABLE)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return refused(Reason.UNREADABLE)
    if parts.scheme not in _PORTS:
        return refused(Reason.SCHEME)
    if "@" in parts.netloc:
        return refused(Reason.USERINFO)
    if "#" in url:
        return refused(Reason.FRAGMENT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if port == 0 or parts.netloc.endswith(":") or not path.isascii():
        return refused(Reason.UNREADABLE)
    host = _host(parts.hostname or "", is_bracketed="[" in parts.netloc)
    if isinstance(host, Refused):
        return host
    is_literal = parsed(host) is not None
    return Destination(parts.scheme, host, port or _PORTS[parts.scheme], path, is_literal)


def judge_addresses(
    destination: Destination, addresses: Sequence[str], policy: Policy
) -> Allowed | Refused:
    """Judge every address; what is special about the URL needs all of them in allowed ranges."""
    found = [parsed(text) for text in addresses]
    if not found or None in found:
        return refused(Reason.UNRESOLVED)
    known = [address for address in found if address is not None]
    if any(is_never_allowed(address) for address in known):
        return refused(Reason.NEVER)
    if all(is_within(address, policy.private) for address in known):
        return Allowed(destination, tuple(addresses))
    if not all(is_in_the_open(address) for address in known):
        return refused(Reason.INSIDE)
    special = _special(destination, policy)
    return refused(special) if special else Allowed(destination, tuple(addresses))


def refused(reason: Reason) -> Refused:
    """Return the refusal for a reason, with its words and the setting that would lift it."""
    setting = SETTING if reason in _NEEDS_PRIVATE else ""
    words = _WORDS[reason]
    if setting:
        words = f"{words} If it is meant, add its range to {setting}."
    return Refused(reason, words, setting)


def _special(destination: Destination, policy: Policy) -> Reason | None:
    """Return what makes a URL unfit for a public address."""
    if destination.scheme != "https":
        return Reason.PLAIN_HTTP
    if destination.is_literal:
        return Reason.LITERAL
    if "." not in destination.host or destination.host.endswith(_LOCAL_SUFFIXES):
        return Reason.LOCAL_NAME
    return Reason.PORT if destination.port != PUBLIC_PORT else None


def _host(name: str, *, is_bracketed: bool) -> str | Refused:
    """Return a host in the form it will be connected by: an address, or an ASCII name."""
    if not name or "%" in name:
        return refused(Reason.HOST)
    if is_bracketed or ":" in name:
        return name if ":" in name and parsed(name) else refused(Reason.HOST)
    ascii_name = _ascii(name)
    if ascii_name is None:
        return refused(Reason.HOST)
    labels = ascii_name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        is_dotted_quad = parsed(ascii_name) is not None
        return ascii_name if is_dotted_quad else refused(Reason.NUMERIC_HOST)
    if len(ascii_name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return refused(Reason.HOST)
    return ascii_name


def _ascii(name: str) -> str | None:
    """Return a name after IDNA, which also folds full-width and circled digits into plain ones."""
    try:
        folded = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    return folded.removesuffix(".")
