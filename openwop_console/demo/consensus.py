"""The demo's jobs: rules judge, so no model and no key is needed.

They come in by the API like anybody's. One answer stands, one is rejected and waits for a person,
and a team works through twelve tasks.
"""

from typing import Any

import httpx

from openwop_console.demo import team

_JUDGES = [
    {"name": "sources", "model": "rule:required-citations", "settings": {"minimum": 1}},
    {"name": "year", "model": "rule:must-match", "settings": {"pattern": r"\b18[0-9]{2}\b"}},
    {
        "name": "plain-words",
        "model": "rule:must-not-match",
        "settings": {"pattern": r"(?i)\b(maybe|probably|I think)\b"},
    },
]
_QUESTION = "When was the first message sent through a cable across the Atlantic, and by whom?"
_ANSWERS = (
    "On 16 August 1858, from Queen Victoria to President Buchanan [harbour-museum].",
    "Probably some time in the 1860s, I think by a British company.",
)


def ask(console_url: str, host_key: str) -> list[str]:
    """Start the jobs and return the addresses of their pages; none where the Console refuses."""
    headers = {"Authorization": f"Bearer {host_key}"}
    pages = []
    with httpx.Client(base_url=console_url, headers=headers, timeout=10) as client:
        for asked in (*(_request(answer) for answer in _ANSWERS), team.request()):
            taken = client.post("/api/v1/jobs", json=asked)
            if taken.status_code == httpx.codes.ACCEPTED:
                pages.append(f"{console_url}/jobs/{taken.json()['id']}")
    return pages


def _request(answer: str) -> dict[str, Any]:
    return {
        "operation": "runConsensus",
        "prompt": _QUESTION,
        "answer": answer,
        "judges": _JUDGES,
        "quorum": 3,
    }
