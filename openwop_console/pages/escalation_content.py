"""Content of a matter, fetched from its host for one reader: shown, stored nowhere, on record.

The audit entry is written before the host is asked: what cannot be put on record is not shown.
"""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from openwop_console.pages.escalation_evidence import artifacts_of
from openwop_console.pages.indented import indented
from runs.host_reader import Reading, segment
from runs.models import Role
from verification.actions.audit import actor_of, record
from verification.domain.host_errors import sentence
from verification.host import client_of
from verification.models import Escalation
from verification.situations import role_of

_READERS = (Role.REVIEWER.value, Role.ADMIN.value, Role.OPERATOR.value)
_LONGEST = 200_000
"""Characters that are shown."""


@require_GET
@never_cache
def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one artifact as the host has it now, or lead to the host's own view of it."""
    found = _visible(request, pk)
    person = request.user
    may_read = isinstance(person, User) and role_of(person, found.workspace_id) in _READERS
    if not isinstance(person, User) or not may_read:
        raise PermissionDenied
    artifact = request.GET.get("artifact", "")
    if artifact not in {each["id"] for each in artifacts_of(found)}:
        raise Http404
    record(
        workspace=found.workspace_id,
        actor=actor_of(person),
        action="content.viewed",
        subject=f"escalation:{found.pk}",
        detail={"artifact": artifact},
    )
    if settings.CONTENT_LINK:
        return HttpResponseRedirect(_link(found, artifact))
    reading = client_of(found.run.host).read_artifact(found.run.run_id, artifact)
    shown = {
        "artifact": artifact,
        "text": _text(reading),
        "failed": "" if reading.body else _why(reading),
        "back": reverse("escalation", args=[found.pk]),
        "host": found.run.host.slug,
    }
    status = HTTPStatus.OK if reading.body else HTTPStatus.BAD_GATEWAY
    response = render(request, "verification/content.html", shown, status=status)
    response["Cache-Control"] = "no-store, private"
    return response


def _link(found: Escalation, artifact: str) -> str:
    parts = {"runId": segment(found.run.run_id), "artifactId": segment(artifact)}
    link = str(settings.CONTENT_LINK)
    for name, value in parts.items():
        link = link.replace("{" + name + "}", value)
    return link


def _text(reading: Reading) -> str:
    """Return what the host sent as text: JSON as people read it."""
    document = reading.document
    if document is not None:
        return indented(document)[:_LONGEST]
    return reading.body.decode("utf-8", "replace")[:_LONGEST]


def _why(reading: Reading) -> str:
    if reading.is_too_large:
        return "It is larger than the Console reads."
    return sentence(reading.answer.status, reading.answer.code, reading.answer.why)


def _visible(request: HttpRequest, pk: int) -> Escalation:
    rows = Escalation.objects.visible_to(request.user).select_related("run", "run__host")
    found: Escalation | None = rows.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found
