"""A small OpenWOP v2 host: bare paths, the version header, tenant-bound ids, `afterSequence`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from runs.domain.run_ids import from_segment

API_KEY = "key-of-v2"
DOCUMENT = {
    "protocolVersions": ["2.0"],
    "preferredVersion": "2.0",
    "runList": {"status": "stable", "since": "2.0", "witness": "conformance", "maxPageSize": 2},
}


class V2Host:
    """Its runs, and what was asked of it."""

    def __init__(self) -> None:
        self.runs: dict[str, list[dict[str, Any]]] = {}
        self.status: dict[str, str] = {}
        self.told: dict[str, dict[str, Any]] = {}
        """What else the snapshot of a run says."""
        self.asked: list[str] = []
        self.document: dict[str, Any] = DOCUMENT
        self.url = ""

    def reply(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        if path == "/.well-known/openwop":
            return 200, self.document
        if parts == ["runs"]:
            return 200, self._page(int(query.get("cursor", "0")))
        run_id = from_segment(parts[1]) if parts[0] == "runs" else ""
        if run_id not in self.runs:
            return 404, {"error": "not_found", "message": "No such run."}
        if len(parts) == 2:
            status = self.status.get(run_id, "running")
            said = {"runId": run_id, "workflowId": "wf", "status": status, "owner": {}}
            return 200, said | self.told.get(run_id, {})
        after = int(query.get("afterSequence", "-1"))
        events = [each for each in self.runs[run_id] if each["sequence"] > after]
        last = self.runs[run_id][-1]["sequence"] if self.runs[run_id] else -1
        status = self.status.get(run_id, "running")
        return 200, {
            "runId": run_id,
            "events": events,
            "lastSequence": last,
            "status": status,
            "isTerminal": status == "completed",
        }

    def _page(self, start: int) -> dict[str, Any]:
        ids = list(self.runs)
        shown = [
            {"runId": each, "status": self.status.get(each, "running")}
            for each in ids[start : start + 2]
        ]
        more = start + 2 < len(ids)
        return {"runs": shown, "nextCursor": str(start + 2) if more else None}


@contextmanager
def v2_host() -> Iterator[V2Host]:
    """Serve a host until the test is over."""
    host = V2Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            host.asked.append(self.path)
            if not self.headers.get("OpenWOP-Version", "").startswith("2"):
                status, body = 406, {"error": "protocol_version_unsupported", "message": "v2"}
            elif "well-known" not in parts.path and self.headers["Authorization"] is None:
                status, body = 401, {"error": "unauthenticated", "message": "no"}
            elif parts.path.endswith("/events"):
                status, body = 404, {"error": "not_found", "message": "no stream here"}
            else:
                status, body = host.reply(parts.path, query)
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join(60)
