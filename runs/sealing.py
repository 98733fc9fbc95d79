"""Seals secrets that we must be able to present again: host API keys and webhook secrets.

What is only ever compared (our own host keys, passwords) is hashed instead and never comes here.
"""

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class SealBroken(Exception):
    """A sealed value cannot be opened with the encryption key in force."""

    def __str__(self) -> str:
        return "A stored credential cannot be opened: OPENWOP_CONSOLE_ENCRYPTION_KEY has changed."


def seal(secret: str) -> bytes:
    """Return the secret, encrypted; empty stays empty."""
    return _fernet().encrypt(secret.encode()) if secret else b""


def unseal(sealed: bytes | memoryview) -> str:
    """Return the secret. Raises SealBroken when it was sealed under another key."""
    if not sealed:
        return ""
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken as error:
        raise SealBroken from error


def opens(sealed: bytes | memoryview) -> bool:
    """Say whether a sealed secret can be opened with the encryption key in force."""
    try:
        unseal(sealed)
    except (SealBroken, ImproperlyConfigured, ValueError):  # ValueError: it is no key at all
        return False
    return True


def _fernet() -> Fernet:
    if not settings.ENCRYPTION_KEY:
        raise ImproperlyConfigured("OPENWOP_CONSOLE_ENCRYPTION_KEY must be set.")
    return Fernet(settings.ENCRYPTION_KEY)
