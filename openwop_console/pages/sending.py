"""Words to copy: how a host sends events to this Console."""

import shlex
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.urls import reverse

from openwop_console.frame import COMMAND

KEY = "OPENWOP_CONSOLE_API_KEY"
"""The variable that the words take the host's key from."""


def address() -> str:
    """Return the URL that events are sent to."""
    return f"{settings.CONSOLE_URL}{reverse('api:events')}"


def hello(now: datetime) -> dict[str, Any]:
    """Return an event that anybody can send first."""
    return {
        "eventId": "hello-0",
        "runId": "hello",
        "type": "run.started",
        "sequence": 0,
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "payload": {"workflowId": "hello"},
    }


def curl(event: dict[str, Any]) -> str:
    """Return the command that sends one event."""
    return (
        f"curl -sS {address()} \\\n"
        f'  -H "Authorization: Bearer ${KEY}" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(orjson.dumps(event).decode())}"
    )


def ways(now: datetime, key: str) -> list[tuple[str, str]]:
    """Return the ways to send events, each as a title and words to copy.

    Args:
        now: the time that the event of the Python example tells.
        key: the host's key while it is shown; empty: nobody can know it any more.
    """
    event = hello(now)
    fields = ",\n     ".join(
        f"{orjson.dumps(name).decode()}: {orjson.dumps(value).decode()}"
        for name, value in event.items()
    )
    return [
        (
            "Tell the host",
            f"export OPENWOP_CONSOLE_URL={settings.CONSOLE_URL}\nexport {KEY}={key or 'owc_…'}",
        ),
        (
            "Send events with curl",
            f"curl {address()} \\\n"
            f'  -H "Authorization: Bearer ${KEY}" \\\n'
            "  -H 'Content-Type: application/x-ndjson' --data-binary @events.jsonl",
        ),
        (
            "From Python",
            "import os, httpx\n\n"
            f"events = [\n    {{{fields}}},\n]\n"
            f'httpx.post("{address()}",\n'
            f'    headers={{"Authorization": f"Bearer {{os.environ[\'{KEY}\']}}"}},\n'
            '    json={"events": events}).raise_for_status()',
        ),
        ("From a file, with a progress bar", f"{COMMAND} ingest events.jsonl"),
    ]
