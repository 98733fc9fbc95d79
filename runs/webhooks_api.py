"""The address that hosts deliver signed webhooks to. It translates and nothing more."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.actions.ingest import count_refusals
from runs.actions.webhooks import receive
from runs.api_shapes import SIGNED
from runs.describing import answers, refer
from runs.domain.answers import message_of
from runs.domain.webhook_bodies import MEDIA_TYPES
from runs.flow import Sender, flow
from runs.limits import SETTINGS, limits
from runs.models import Host
from runs.refusal import Refusal


class WebhookView(APIView):
    """Where a host delivers what it signed."""

    authentication_classes = ()  # the signature over the body is the proof
    permission_classes = (AllowAny,)
    parser_classes = ()

    @extend_schema(
        operation_id="receiveWebhook",
        auth=SIGNED,
        parameters=[OpenApiParameter("host", str, "path", description="Slug of the host.")],
        request={"application/json": refer("WebhookDelivery")},
        responses=answers({200: "WebhookAnswer", 202: "WebhookPull"}, 403, 409, 415, 429),
    )
    def post(self, request: Request, host: str) -> Response:
        """Take one delivery: 200 committed, 202 noted and to be read from the host.

        Signed with the host's webhook secret in any spelling of OpenWOP v1 and v2, or by Standard
        Webhooks, within 300 seconds.
        """
        _check_form(request)
        raw = _body(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        found = Host.objects.filter(slug=host).first()
        answer = receive(host=found, headers=headers, raw=raw, admit=_admit)
        return Response(answer.body, status=answer.status)


def _admit(host: Host) -> None:
    """Let a proven delivery in if the host has not sent too many. Raises Refusal 429."""
    sender = Sender(host=host.pk)
    flow().enter(sender)
    if turned_back := flow().turned_back(host.pk):
        count_refusals(host, ["rate_exceeded"] * turned_back, timezone.now())
    flow().count(sender, 1)


def _check_form(request: Request) -> None:
    media_type = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    wrong = ""
    if media_type not in MEDIA_TYPES:
        wrong = "media_type"
    elif encoding not in ("", "identity"):  # what is signed is the body as it travels
        wrong = "content_encoding"
    if wrong:
        raise Refusal(415, "unsupported_media_type", message_of(wrong), {"reason": wrong})


def _body(request: Request) -> bytes:
    """Return the body, read no further than the limit, before anything is computed over it."""
    most = limits().webhook_bytes
    raw: bytes = request.read(most + 1)
    if len(raw) > most:
        reason = "body_too_large"
        details = {"reason": reason, "limit": most, "setting": SETTINGS["webhook_bytes"][1]}
        raise Refusal(413, "payload_too_large", message_of(reason), details)
    return raw
