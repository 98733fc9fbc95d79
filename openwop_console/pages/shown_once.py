"""Secrets that are shown on the next page and on no other: redirecting after a post loses nothing.

Between the two requests they lie sealed in the session, and the page that shows them takes them
out: a reload shows nothing and makes nothing.
"""

import base64
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

_KEY = "shown_once"


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that a person has to copy now."""

    label: str
    text: str
    note: str = ""

    def __repr__(self) -> str:
        return f"<Secret {self.label}>"


def keep(request: HttpRequest, *, page: str, secrets: list[Secret]) -> None:
    """Keep secrets for the next time that a page is shown to this person.

    Args:
        request: of the person who made them.
        page: which page; another one shows nothing of it.
        secrets: what to show there.
    """
    sealed = [[each.label, _closed(each.text), each.note] for each in secrets]
    request.session[_KEY] = {"page": page, "secrets": sealed}


def taken(request: HttpRequest, *, page: str) -> list[Secret]:
    """Return what was kept for this page, and forget it."""
    held = request.session.get(_KEY)
    if not held or held["page"] != page:
        return []
    del request.session[_KEY]
    try:
        return [Secret(label, _opened(text), note) for label, text, note in held["secrets"]]
    except InvalidToken:  # SECRET_KEY has changed meanwhile
        return []


def _closed(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def _opened(text: str) -> str:
    return _fernet().decrypt(text.encode()).decode()


def _fernet() -> Fernet:
    """Return what seals by the key that signs sessions, which every Console has."""
    key = salted_hmac("shown once", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
