"""The API described by itself: its document, the page that shows it, and how callers sign in.

What an operation takes and gives stands beside its view. Here is what all of them have in common:
the schemas by name, the ways to sign in, and the refusals that any request may meet, at whichever
edge, the thin one in front of Django included.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_not_required
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from openwop_console.errors import CHALLENGE, JSON, PROBLEM
from runs.api_shapes import SHAPES as FACTS
from runs.describing import Schema, refer, text, whole
from verification.api_shapes import SHAPES as JUDGEMENTS

document = login_not_required(SpectacularJSONAPIView.as_view())
page = SpectacularSwaggerSplitView.as_view(url_name="api:openapi")

_REFUSALS = {
    400: "Something of the request is not as it must be; `details` say what and where.",
    401: "Nobody who is known asks.",
    403: "Whoever asks may not do that.",
    404: "There is no such thing for whoever asks.",
    406: "This major of OpenWOP is not spoken.",
    408: "The body took too long to arrive.",
    409: "It contradicts what is held already.",
    410: "Its time is over.",
    413: "Larger than is taken; `details` say the limit and the setting that moves it.",
    415: "Neither the media type nor the encoding is one that is taken.",
    429: "More than is taken now.",
    431: "The headers are larger than is taken.",
    500: "The Console failed; it was logged.",
    503: "The Console, or what it needs, is away or too busy.",
}
_ANYBODY = (400, 408, 413, 431, 500, 503)
"""What any request may meet before it is known what it asks."""
_COME_AGAIN = {
    "Retry-After": {"description": "Seconds after which to send again.", "schema": whole(least=1)}
}
_SIGN_IN = {
    "WWW-Authenticate": {"description": "How to sign in.", "schema": text(examples=[CHALLENGE])}
}
_BUDGET = {
    "RateLimit": {
        "description": "What may still be sent at once (draft-ietf-httpapi-ratelimit-headers).",
        "schema": text(examples=['"requests";r=4999, "events";r=124990']),
    }
}
_AS_A_HOST = "as a host"
_SWITCHED = (
    "The Console as a host that OpenWOP clients know. Each address answers 404 unless "
    "`OPENWOP_CONSOLE_HOST_SURFACE=1`."
)
_HEADERS = {401: _SIGN_IN, 429: _COME_AGAIN, 503: _COME_AGAIN}


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add what all operations have in common. Called by drf-spectacular last.

    Args:
        result: the document as far as it follows from the views.
    """
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).update(FACTS | JUDGEMENTS)
    components["responses"] = {str(status): _refusal(status) for status in _REFUSALS}
    components.setdefault("securitySchemes", {})["webhookSignature"] = _SIGNATURE
    for path, methods in result["paths"].items():
        for operation in methods.values():
            _complete(operation, path)
    result["tags"] = _groups(result["paths"])
    return result


def _groups(paths: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the groups of operations by name; last the one that is not there unless wanted."""
    used = {operation["tags"][0] for methods in paths.values() for operation in methods.values()}
    last = [{"name": _AS_A_HOST, "description": _SWITCHED}] if _AS_A_HOST in used else []
    return [*({"name": name} for name in sorted(used - {_AS_A_HOST})), *last]


def _complete(operation: dict[str, Any], path: str) -> None:
    operation["tags"] = [path.split("/")[3] if path.startswith("/api/") else _AS_A_HOST]
    first = operation["description"].partition("\n")[0].partition(". ")[0]
    operation["summary"] = first.replace("`", "").rstrip(".")
    answers = operation["responses"]
    said = {int(status) for status in answers}
    refused = {*(status for status in said if status >= 400), *_ANYBODY}
    if any(operation["security"]):
        refused.add(401)
    if "{" in path:
        refused.add(404)  # what names nothing has no other answer
    for status in sorted(refused):
        answers.pop(str(status), None)
        answers[str(status)] = {"$ref": f"#/components/responses/{status}"}
    if operation["operationId"] == "sendEvents":
        for good in ("200", "201", "207"):
            answers[good]["headers"] = _BUDGET


def _refusal(status: int) -> dict[str, Any]:
    content = {JSON: {"schema": refer("Error")}, PROBLEM: {"schema": refer("Problem")}}
    headers: Schema = _HEADERS.get(status, {})
    return {"description": _REFUSALS[status], "content": content, "headers": headers}


_SIGNATURE = {
    "type": "apiKey",
    "in": "header",
    "name": "OpenWOP-Signature",
    "description": "HMAC-SHA256 with the host's webhook secret over `timestamp.body`, within 300 "
    "seconds. `X-openwop-Signature`, `t=…,v1=…` and Standard Webhooks are taken as well.",
}


class HostKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A host's key."""

    target_class = "runs.auth.HostKeyAuthentication"
    name = "hostKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "owc_<env>_<id>_<secret>",
            "description": "A host's key, with its scopes: it sends and reads what is the host's.",
        }


class PersonalTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A person's token: only people decide."""

    target_class = "verification.auth.PersonalTokenAuthentication"
    name = "personalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "owp_<id>_<secret>",
            "description": "A person's own token: it does what the person may do.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A signed-in person's session, with its CSRF token."""

    target_class = "verification.auth.PersonAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI says it."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A signed-in person; what changes anything needs `X-CSRFToken` too.",
        }
