"""The host's operations: one short function for each route of the v1 surface.

Every route but discovery and the token routes wants the API key. Checks come before effects, and
nothing waits in between.
"""

import asyncio
import hmac
from collections.abc import Sequence

from openwop_console.demo.asgi import (
    Answer,
    Operation,
    Refused,
    Reply,
    Request,
    Stream,
    json_object,
    no_route,
)
from openwop_console.demo.dialects.app import AppReplies
from openwop_console.demo.discovery import discovery
from openwop_console.demo.engine import Engine, RunIsTerminal
from openwop_console.demo.faults import Faults
from openwop_console.demo.idempotency import KeyRing
from openwop_console.demo.interrupts import AnswerRefused, check_resume_schema
from openwop_console.demo.store import Interrupt, InterruptState, Run, utc_now
from openwop_console.demo.stream import EventStream, cursor_from, events_after, modes_from, poll
from openwop_console.demo.webhooks import Webhooks


class Surface:
    """The v1 surface over one engine."""

    def __init__(
        self,
        engine: Engine,
        webhooks: Webhooks,
        faults: Faults,
        *,
        api_key: str,
        heartbeat_s: float,
        closing: asyncio.Event,
    ) -> None:
        self._engine = engine
        self._webhooks = webhooks
        self._faults = faults
        self._api_key = api_key.encode()
        self._heartbeat_s = heartbeat_s
        self._closing = closing
        self._replies = engine.dialect.replies
        self.keys = KeyRing(self._replies.key_conflict, lambda: faults.forgets_keys)

    def routes(self) -> Sequence[tuple[str, str, Operation]]:
        """Method, path and operation of everything the host offers."""
        guarded, once = self.guarded, self.keys.once
        routes: list[tuple[str, str, Operation]] = [
            ("GET", "/.well-known/openwop", self.discover),
            ("GET", "/v1/interrupts/{token}", self.inspect),
            ("POST", "/v1/interrupts/{token}", once(self.resolve_by_token)),
            ("POST", "/v1/runs", guarded(once(self.create))),
            ("GET", "/v1/runs", guarded(self.list_runs)),
            ("GET", "/v1/runs/{run}", guarded(self.show)),
            ("GET", "/v1/runs/{run}/events", guarded(self.events)),
            ("GET", "/v1/runs/{run}/events/poll", guarded(self.poll)),
            ("GET", "/v1/runs/{run}/artifacts/{artifact}", guarded(self.artifact)),
            ("POST", "/v1/runs/{run}/cancel", guarded(once(self.cancel))),
            ("POST", "/v1/runs/{run}/interrupts/{node}", guarded(once(self.resolve))),
            ("POST", "/v1/webhooks", guarded(once(self.subscribe))),
            ("DELETE", "/v1/webhooks/{webhook}", guarded(self.unsubscribe)),
        ]
        if isinstance(self._replies, AppReplies):
            path = "/v1/host/openwop-app/runs/{run}/interrupts"
            routes.append(("GET", path, guarded(self.list_interrupts)))
        return routes

    def guarded(self, operation: Operation) -> Operation:
        """The operation for callers with the API key; 401 for all others."""

        async def checked(request: Request) -> Answer:
            scheme, _, key = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not key:
                message = "Missing or malformed Authorization header."
                raise Refused(401, "unauthenticated", message)
            if not hmac.compare_digest(key.encode(), self._api_key):
                raise Refused(401, "unauthenticated", "The API key is not known.")
            return await operation(request)

        return checked

    def _run(self, request: Request) -> Run:
        run = self._engine.store.runs.get(request.params["run"])
        if run is None:
            raise Refused(404, "run_not_found", "No such run.")
        return run

    async def discover(self, request: Request) -> Answer:  # the signature of every operation
        """`GET /.well-known/openwop`."""
        return Reply(200, discovery(self._engine.dialect.name))

    async def create(self, request: Request) -> Answer:
        """`POST /v1/runs {workflowId, inputs?}`."""
        body = json_object(request)
        inputs = {} if body.get("inputs") is None else body["inputs"]
        if not isinstance(body.get("workflowId"), str) or not isinstance(inputs, dict):
            raise Refused(400, "validation_error", "workflowId is a string, inputs an object.")
        try:
            run = self._engine.start(body["workflowId"], inputs)
        except KeyError as error:
            raise Refused(404, "workflow_not_found", "No such workflow.") from error
        return Reply(201, self._replies.created(run, request.origin))

    async def list_runs(self, request: Request) -> Answer:
        """`GET /v1/runs?status=&limit=`, latest first."""
        limit = cursor_from(request.query.get("limit")) or 50
        wanted = request.query.get("status")
        runs = [
            run
            for run in reversed(self._engine.store.runs.values())
            if wanted is None or run.status == wanted
        ]
        shown = [self._replies.snapshot(run, request.origin) for run in runs[:limit]]
        return Reply(200, {"runs": shown, "nextCursor": None})

    async def show(self, request: Request) -> Answer:
        """`GET /v1/runs/{run}`."""
        return Reply(200, self._replies.snapshot(self._run(request), request.origin))

    async def events(self, request: Request) -> Answer:
        """`GET /v1/runs/{run}/events`: a stream, or JSON when that is what is accepted."""
        run = self._run(request)
        modes = modes_from(
            request.query.get("streamMode", "updates"),
            is_checked=self._replies.checks_stream_mode,
        )
        if "application/json" in request.headers.get("accept", ""):
            return Reply(200, self._replies.polled(run, list(run.events)))
        cursor = self._cursor(request.headers.get("last-event-id"))
        stream = EventStream(
            run=run,
            replies=self._replies,
            modes=modes,
            cursor=cursor,
            heartbeat_s=self._heartbeat_s,
            closing=self._closing,
            origin=request.origin,
        )
        return Stream(stream.pump)

    async def poll(self, request: Request) -> Answer:
        """`GET /v1/runs/{run}/events/poll?lastSequence=&timeout=`."""
        run = self._run(request)
        cursor = self._cursor(request.query.get("lastSequence"))
        timeout_s = cursor_from(request.query.get("timeout"))
        timeout_s = 30 if timeout_s is None else timeout_s
        if not 0 <= timeout_s <= 60:
            raise Refused(400, "validation_error", "timeout is 0 to 60 seconds.")
        await poll(run, cursor, timeout_s, self._closing)
        return Reply(200, self._replies.polled(run, list(events_after(run, cursor))))

    def _cursor(self, text: str | None) -> int | None:
        cursor = cursor_from(text)
        return cursor if self._replies.honours_cursor else None

    async def artifact(self, request: Request) -> Answer:
        """`GET /v1/runs/{run}/artifacts/{artifact}`: of the run or of one of its children."""
        run = self._run(request)
        kept = {key: item for one in (*run.children, run) for key, item in one.artifacts.items()}
        found = kept.get(request.params["artifact"])
        if found is None:
            raise Refused(404, "not_found", "No such artifact.")
        return Reply(200, found)

    async def cancel(self, request: Request) -> Answer:
        """`POST /v1/runs/{run}/cancel {reason?}`."""
        run = self._run(request)
        reason = json_object(request).get("reason") if request.body else None
        try:
            self._engine.cancel(run, None if reason is None else str(reason))
        except RunIsTerminal as error:
            raise Refused(409, "run_terminal", "The run has ended.") from error
        return Reply(200, {"runId": run.run_id, "status": run.status})

    async def list_interrupts(self, request: Request) -> Answer:
        """openwop-app's own listing of open interrupts."""
        assert isinstance(self._replies, AppReplies)  # noqa: S101 - its only route
        return Reply(200, self._replies.listed(self._run(request)))

    async def inspect(self, request: Request) -> Answer:
        """`GET /v1/interrupts/{token}`."""
        if not self._replies.shows_tokens:
            raise no_route(request)
        run, interrupt = self._by_token(request)
        return Reply(200, self._replies.inspected(run, interrupt))

    async def resolve(self, request: Request) -> Answer:
        """`POST /v1/runs/{run}/interrupts/{node} {resumeValue}`."""
        value = self._replies.resume_value(json_object(request), by_token=False)
        run_id, node_id = request.params["run"], request.params["node"]
        run = self._engine.store.runs.get(run_id)
        interrupt = None if run is None else run.interrupt_at(node_id)
        if run is None or interrupt is None:
            raise self._replies.no_interrupt(run_id, node_id)
        if interrupt.state is InterruptState.INVALIDATED:
            raise self._replies.invalidated(run, node_id)
        if interrupt.state is InterruptState.RESOLVED:
            raise self._second_answer(run_id, node_id)
        return self._resolve(run, interrupt, value, by_token=False)

    async def resolve_by_token(self, request: Request) -> Answer:
        """`POST /v1/interrupts/{token}`."""
        value = self._replies.resume_value(json_object(request), by_token=True)
        run, interrupt = self._by_token(request)
        if interrupt.state is not InterruptState.OPEN:
            raise self._replies.token_spent(run)
        return self._resolve(run, interrupt, value, by_token=True)

    def _second_answer(self, run_id: str, node_id: str) -> Refused:
        match self._faults.second_resolve:
            case 404:
                return self._replies.no_interrupt(run_id, node_id)
            case 409:
                message = "The interrupt is already resolved."
                return Refused(409, "interrupt_already_resolved", message)
            case _:
                return self._replies.already_resolved(run_id, node_id)

    def _by_token(self, request: Request) -> tuple[Run, Interrupt]:
        found = self._engine.store.by_token(request.params["token"])
        if found is None:
            raise self._replies.no_token()
        return found

    def _resolve(self, run: Run, interrupt: Interrupt, value: object, *, by_token: bool) -> Answer:
        if utc_now() >= interrupt.expires_at:
            raise Refused(410, "interrupt_expired", "The interrupt has expired.")
        was = run.status
        try:
            if self._replies.enforces_resume_schema:
                check_resume_schema(interrupt.ask, value)
            self._engine.resolve(run, interrupt, value)
        except AnswerRefused as error:
            raise self._replies.answer_refused(error) from error
        body = self._replies.resolved(run, interrupt, was=was, by_token=by_token)
        return Reply(200, body)

    async def subscribe(self, request: Request) -> Answer:
        """`POST /v1/webhooks`."""
        return Reply(201, self._webhooks.register(json_object(request)))

    async def unsubscribe(self, request: Request) -> Answer:
        """`DELETE /v1/webhooks/{webhook}`."""
        self._webhooks.unregister(request.params["webhook"])
        return Reply(204)
