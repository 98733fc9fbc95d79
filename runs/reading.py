"""Makes the reader of a host from its row and the settings."""

from django.conf import settings

from runs.host_reader import HostReader
from runs.models import Host
from runs.sealing import unseal


def reader_of(host: Host, *, major: int | None = None) -> HostReader:
    """Return a reader of the host.

    Args:
        host: one with an address.
        major: to speak another protocol major than is known of it.

    Raises:
        SealBroken: our key for it cannot be opened.
    """
    return HostReader(
        host.base_url,
        unseal(host.sealed_api_key),
        major=major or host.protocol_major,
        allow_private=settings.ALLOW_PRIVATE,
        deadline_s=settings.PULL_DEADLINE_S,
        read_limit=settings.PULL_MAX_BYTES,
    )
