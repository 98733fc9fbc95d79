"""Which network addresses are out in the open, and which are somebody's inside.

The table is our own rather than the interpreter's, whose answers changed between releases. What is
not known to be globally reachable is not. Addresses that carry an IPv4 address inside (mapped,
NAT64, 6to4) are judged by that one. Source: IANA special-purpose address registries (RFC 6890 and
its updates); OpenWOP webhooks.md, delivery targets.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_INSIDE_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_OPEN_V6 = IPv6Network("2000::/3")
"""The only part of IPv6 that is routed between networks."""
_INSIDE_V6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254", "fd00:ec2::254",
        "169.254.170.2", "169.254.170.23", "fd00:ec2::23",  # of containers on Amazon
        "fd20:ce::254",  # Google
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle
    )
)  # fmt: skip
"""Where clouds hand out credentials. No setting opens these."""


def parsed(text: str) -> Address | None:
    """Return a plain address, with an embedded IPv4 address taken out; None for anything else."""
    if "%" in text:
        return None
    try:
        return unwrapped(ip_address(text))
    except ValueError:
        return None


def unwrapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address carries, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    bits = int(address)
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(bits & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address((bits >> 80) & 0xFFFFFFFF)
    return address


def is_in_the_open(address: Address) -> bool:
    """Say whether an address is globally reachable."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _INSIDE_V4)
    return address in _OPEN_V6 and not any(address in network for network in _INSIDE_V6)


def is_never_allowed(address: Address) -> bool:
    """Say whether no setting may open an address: cloud metadata, and nobody's or everybody's."""
    if address in _METADATA or address.is_multicast or address.is_unspecified:
        return True
    return address == IPv4Address("255.255.255.255")


def networks(ranges: Iterable[str]) -> tuple[Network, ...]:
    """Return address ranges such as `10.0.0.0/8`.

    Raises:
        ValueError: one is not a range.
    """
    return tuple(ip_network(text, strict=False) for text in ranges)


def is_within(address: Address, allowed: Iterable[Network]) -> bool:
    """Say whether an address lies in one of the ranges."""
    return any(address in network for network in allowed)
