"""Who a request of the API speaks for, where it must be a person: a token of theirs, or a session.

A token is looked up by its readable part and compared by hash in constant time; nothing is cached.
A session counts only together with its CSRF token: a page elsewhere cannot speak for anybody.
"""

import re

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from runs.auth import in_force, parts_of
from runs.models import HostKey
from runs.refusal import Refusal
from verification.models import PersonalToken

_TOKEN = re.compile(r"owp_([0-9a-f]{12})_([A-Za-z0-9-]{43})")


class PersonalTokenAuthentication(BaseAuthentication):
    """Authenticates a request as the person whose token it carries."""

    def authenticate(self, request: Request) -> tuple[User, PersonalToken] | None:
        """Return the person and the token; None when the request carries another kind of key."""
        scheme, _, sent = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer" or not sent.strip().startswith("owp_"):
            return None
        token = token_named(sent.strip())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge that makes a refusal a 401."""
        return 'Bearer realm="openwop-console"'


class PersonAuthentication(SessionAuthentication):
    """Authenticates a request by the session of a signed-in person, with its CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """Pass when the request comes from a page of the Console. Raises Refusal."""
        try:
            # Django's own request: DRF's would parse the body, which views read strictly.
            super().enforce_csrf(request._request)  # type: ignore[arg-type]
        except PermissionDenied as denied:
            message = "Send the CSRF token of the session, from the Console's own origin."
            raise Refusal(403, "forbidden", message, {"reason": "csrf"}) from denied


def token_named(sent: str) -> PersonalToken:
    """Return the token in force that this text is. Raises KeyRefused, as `in_force` does."""
    token_id, secret = parts_of(sent, _TOKEN)
    token = PersonalToken.objects.select_related("user").filter(token_id=token_id).first()
    is_revoked = token is not None and (token.revoked_at is not None or not token.user.is_active)
    return in_force(token, secret, is_revoked=is_revoked)


def deciding_person(request: Request) -> User:
    """Return the person who makes a request. Raises Refusal (403) where it is a host's key."""
    caller: object = request.user
    if isinstance(caller, User):
        return caller
    if isinstance(caller, HostKey):
        message = "Only a person decides: by their session, or a personal token."
        raise Refusal(403, "forbidden", message, {"reason": "person_required"})
    raise NotAuthenticated
