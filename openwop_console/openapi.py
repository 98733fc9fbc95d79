"""The API described by itself: its document, the page that shows it, and how callers sign in."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

document = login_not_required(SpectacularJSONAPIView.as_view())
page = SpectacularSwaggerSplitView.as_view(url_name="api:openapi")


class HostKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A host's key."""

    target_class = "runs.auth.HostKeyAuthentication"
    name = "hostKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "owc_<env>_<id>_<secret>"}


class PersonalTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A person's token: only people decide."""

    target_class = "verification.auth.PersonalTokenAuthentication"
    name = "personalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "owp_<id>_<secret>"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A signed-in person's session, with its CSRF token."""

    target_class = "verification.auth.PersonAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
