"""Turns away what nothing behind it can use: headers beyond measure, and addresses with a NUL.

No text of the database can hold a NUL, so no address of ours has one.
"""

from django.conf import settings

from openwop_console.bodies import Answer, App, Receive, Scope, Send, Upload, send_answer
from openwop_console.error_pages import shaped
from runs.domain.answers import message_of
from runs.limits import FLOW
from runs.refusal import Refusal, refused_because


class Front:
    """Looks at the head of every request."""

    def __init__(self, app: App) -> None:
        """Stand before an app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        refusal = _fault_in(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
            return
        accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        content_type, body = shaped(scope["path"], accept, refusal, "400.html")
        upload = Upload(receive, seconds=settings.BODY_DEADLINE_S)
        await send_answer(send, Answer(refusal.status, content_type, body), upload)


def _fault_in(scope: Scope) -> Refusal | None:
    most = settings.MAX_HEADER_BYTES
    if sum(len(name) + len(value) for name, value in scope["headers"]) > most:
        reason = "headers_too_large"
        details = {"reason": reason, "limit": most, "setting": FLOW["header_bytes"][1]}
        return Refusal(431, "validation_error", message_of(reason), details)
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        return refused_because("bad_address", 400, "validation_error")
    return None
