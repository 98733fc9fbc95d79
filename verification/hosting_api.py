"""The Console as a host: what an OpenWOP client may read and answer. Off unless it is switched on.

Only the Console's own runs are here, and of them those that the caller sees as jobs. Each view
translates and nothing more; both majors go through the same ones. See docs/adr/0012.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from django.conf import settings
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api_shapes import RUN
from runs.auth import check_scope
from runs.describing import answers, refer
from runs.limits import limits
from runs.live import run_group
from runs.refusal import Refusal
from verification.actions import hosting
from verification.actions.askers import MayNotAsk, WorkspaceUnclear, asker_of
from verification.actions.jobs import DayIsSpent
from verification.actions.replays import once
from verification.api_bodies import idempotency_key, json_object
from verification.api_refusals import translated
from verification.api_shapes import PEOPLE, key_parameter
from verification.auth import deciding_person
from verification.domain.hosting.discovery import discovery
from verification.domain.hosting.majors import HEADER, SERVED, Major, major_of
from verification.domain.hosting.proofs import verdict_asked_for
from verification.domain.jobs.refusals import JobRefused
from verification.models import Job
from verification.patience import LONGEST_WAIT_S, is_seconds, patience_of
from verification.queries.hosting import (
    asked_of,
    id_of,
    job_named,
    poll_page,
    proof_document,
    snapshot,
    was_asked,
)
from verification.run_stream import RunStream

_MODES = frozenset({"values", "updates", "messages", "debug"})
_CURSOR = OpenApiParameter("lastSequence", int, description="Only events above it; unset: all.")
_NOT_HERE = (404, 406)
"""Switched off, or a major that is not spoken."""
_TIMEOUT = OpenApiParameter("timeout", int, description="Seconds to wait for one, 60 at most.")


class HostingView(APIView):
    """Any address of the Console as a host: not there unless it is switched on."""

    major: ClassVar[Major | None] = Major.V1
    """Which major its addresses belong to; None: what the header says."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Be nowhere when off, before anybody is asked who they are; speak no unknown major."""
        if not settings.HOST_SURFACE:
            raise Http404
        self.speaks = self._agreed(request)
        self.headers |= {HEADER: f"{self.speaks.value}.0", "Cache-Control": "no-store"}
        super().initial(request, *args, **kwargs)

    def _agreed(self, request: Request) -> Major:
        asked = major_of(request.headers.get(HEADER))
        if asked is None:
            details = {"reason": "major", "protocolVersions": list(SERVED)}
            message = "This major of the protocol is not spoken here."
            raise Refusal(406, "protocol_version_unsupported", message, details)
        return asked if self.major is None else self.major

    def find(self, request: Request, run: str) -> Job:
        """Return the job of a run. Raises Http404, Refusal."""
        check_scope(request.user, "runs:read")
        found = job_named(request.user, run)
        if found is None:
            raise Http404
        return found


class DiscoveryView(HostingView):
    """What the Console does as a host; for everybody."""

    major = None
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="discoverHost", responses=answers({200: "HostDocument"}, *_NOT_HERE)
    )
    def get(self, request: Request) -> Response:
        """Return the discovery document, of v1 or, where the header asks for it, of v2."""
        document = discovery(
            self.speaks,
            version=console_version(),
            longest_run_s=settings.JOB_DEADLINE_S,
            most_body_bytes=limits().body_bytes,
        )
        return Response(document, headers={"Vary": HEADER})


class HostedRunView(HostingView):
    """One run of the Console."""

    @extend_schema(
        operation_id="getHostedRun",
        parameters=[RUN],
        responses=answers({200: "HostedRun"}, 403, *_NOT_HERE),
    )
    def get(self, request: Request, run: str) -> Response:
        """Return its snapshot, with what a person is asked about it."""
        return Response(snapshot(self.find(request, run), self.speaks))


class HostedPollView(HostingView):
    """A run's events, for whoever asks again and again."""

    @extend_schema(
        operation_id="pollHostedRun",
        parameters=[RUN, _CURSOR, _TIMEOUT],
        responses=answers({200: "HostedPoll"}, 403, *_NOT_HERE),
    )
    def get(self, request: Request, run: str) -> Response:
        """Return the events above a sequence; wait for one where there is none yet."""
        above = _number(request, "lastSequence" if self.speaks is Major.V1 else "afterSequence")
        wait = request.query_params.get("timeout", "0")
        if not is_seconds(wait) or int(wait) > LONGEST_WAIT_S:
            raise _invalid("/timeout", f"Wait 0 to {LONGEST_WAIT_S} whole seconds.")
        job = self.find(request, run)
        page = poll_page(job, self.speaks, above)
        patience = patience_of(getattr(request._request, "scope", None))
        is_early = patience is not None and not page["events"] and not job.run.is_terminal
        if is_early and patience and patience.asks_again(run_group(job.run_id)):
            return Response(status=202)  # never sent: the request is asked again
        return Response(page)


class HostedEventsView(HostingView):
    """A run's events, as they come."""

    @extend_schema(
        operation_id="streamHostedRun",
        parameters=[
            RUN,
            OpenApiParameter("streamMode", str, description="Every mode shows all."),
            OpenApiParameter("Last-Event-ID", str, "header", description="Only what came after."),
        ],
        responses={
            (200, "application/json"): OpenApiResponse(refer("HostedPoll")),
            (200, "text/event-stream"): OpenApiTypes.STR,
            **answers({}, 403, *_NOT_HERE),
        },
    )
    def get(self, request: Request, run: str) -> HttpResponseBase:
        """Stream the events after `Last-Event-ID`; as JSON where that is what is accepted."""
        modes = request.query_params.get("streamMode", "updates").split(",")
        if not set(modes) <= _MODES or ("values" in modes and len(modes) > 1):
            details = {"reason": "stream_mode", "supported": sorted(_MODES)}
            message = "There is no such stream mode."
            raise Refusal(400, "unsupported_stream_mode", message, details)
        job = self.find(request, run)
        above = _whole(request.headers.get("Last-Event-ID"))
        if "application/json" in request.headers.get("Accept", ""):
            return Response(poll_page(job, self.speaks, above))
        stream = RunStream(job, self.speaks, above)
        if not stream.has_room:
            message = "Too many streams are open; poll, or come again after a moment."
            raise Refusal(503, "service_unavailable", message, {"reason": "streams"}, 5)
        return StreamingHttpResponse(stream.frames(), content_type="text/event-stream")


class HostedInterruptView(HostingView):
    """What a person is asked about a run of the Console."""

    @extend_schema(
        operation_id="resolveHostedInterrupt",
        auth=PEOPLE,
        parameters=[
            RUN,
            OpenApiParameter("node", str, "path", description="The node that asks."),
            key_parameter("8 to 128 letters, digits, `.`, `_`, `~` or `-`."),
        ],
        request={"application/json": refer("HostedAnswer")},
        responses=answers({200: "HostedAnswered"}, 403, 409, 410, 415, *_NOT_HERE),
    )
    def post(self, request: Request, run: str, node: str) -> Response:
        """Decide, as a person: `{"resumeValue": {"action": "accept", "feedback": "…"}}`."""
        person = deciding_person(request)
        job = self.find(request, run)
        key = idempotency_key(request, is_required=False)
        raw, body = json_object(request)
        if set(body) != {"resumeValue"}:
            raise _invalid("/resumeValue", 'Send exactly {"resumeValue": …}.')

        def carry_out() -> dict[str, Any]:
            asked = asked_of(job).get(node)
            if asked is None:
                raise _nothing_asked(job, node)
            hosting.answer(asked=asked, by=person, value=body["resumeValue"])
            return {"runId": id_of(job, self.speaks), "nodeId": node, "status": job.run.status}

        with translated():
            about = f"{job.uid}/{node}".encode() + raw
            return Response(once(caller=f"person:{person.pk}", key=key, about=about, do=carry_out))


class ProofView(HostingView):
    """The conformance seam: a real run of the Console that comes to the verdict asked for."""

    @extend_schema(
        operation_id="proveGate",
        request={"application/json": refer("ProofRequest")},
        responses=answers({200: "Proof"}, 403, 415, 429, *_NOT_HERE),
    )
    def post(self, request: Request) -> Response:
        """Run a job that ends in `simulateVerdict` and say what its gate did with the result."""
        _, body = json_object(request)
        task = body.get("task", "")
        if not isinstance(task, str):
            raise _invalid("/task", "A text is expected here.")
        try:
            verdict = verdict_asked_for(body.get("simulateVerdict"))
            asker = asker_of(request.user)
            job = hosting.prove_gate(asker=asker, verdict=verdict, task=task.strip())
        except MayNotAsk as error:
            raise Refusal(403, "forbidden", str(error), {"reason": "scope"}) from error
        except WorkspaceUnclear as error:
            raise _invalid("/workspace", str(error)) from error
        except JobRefused as error:
            raise _invalid("/task", str(error)) from error
        except DayIsSpent as error:
            details = {"reason": "daily_tokens", "limit": error.limit}
            raise Refusal(429, "token_budget_exceeded", str(error), details, 3600) from error
        except hosting.ProofPending as error:
            raise Refusal(
                503, "service_unavailable", str(error), {"reason": "pending"}, 5
            ) from error
        return Response(proof_document(job))


def _nothing_asked(job: Job, node: str) -> Refusal:
    if was_asked(job, node):
        message = "This was decided already, or is no longer asked."
        return Refusal(409, "interrupt_already_resolved", message, {"reason": "settled"})
    message = "Nobody is asked anything there."
    return Refusal(404, "interrupt_not_found", message, {"reason": "no_interrupt"})


def _number(request: Request, name: str) -> int:
    sent = request.query_params.get(name)
    above = _whole(sent)
    if sent is not None and str(above) != sent:
        raise _invalid(f"/{name}", "A whole number is expected here.")
    return above


def _whole(text: str | None) -> int:
    """Return the sequence that a cursor names; -1, before every event, where it names none."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 16
    return int(text) if text is not None and is_number else -1


def _invalid(pointer: str, message: str) -> Refusal:
    return Refusal(400, "validation_error", message, {"reason": "invalid", "pointer": pointer})


def console_version() -> str:
    """Return the version of this Console."""
    try:
        return version("openwop-console")
    except PackageNotFoundError:
        return "0"
