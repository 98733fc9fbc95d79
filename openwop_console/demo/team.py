"""The demo's team: twelve tasks on one goal, done by members whose answers are given.

Rules judge, so no model and no key is needed; each answer takes a moment, so the work can be
watched. One answer is rejected first and accepted once it has been revised.
"""

from typing import Any

_GOAL = "Write a page for visitors of the harbour museum: how the first Atlantic cable came about."

_PLAN: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Find the dates", "archivist", "When was the cable laid, and when did it fail?", ()),
    ("Find the people", "archivist", "Who drove the work, and who sent the first message?", ()),
    ("Find the ships", "archivist", "Which ships laid the cable?", ()),
    ("Find the technique", "engineer", "What was the cable made of, and how did it work?", ()),
    (
        "Check the dates",
        "engineer",
        "Do the dates agree with the ships' logs?",
        ("Find the dates", "Find the ships"),
    ),
    ("Tell the beginning", "writer", "Tell how it began.", ("Find the people",)),
    ("Tell the voyage", "writer", "Tell how it was laid.", ("Find the ships", "Check the dates")),
    ("Tell the message", "writer", "Tell of the first message.", ("Find the people",)),
    (
        "Explain the failure",
        "engineer",
        "Say why it failed.",
        ("Find the technique", "Check the dates"),
    ),
    (
        "Write captions",
        "writer",
        "Write a caption for each picture.",
        ("Find the ships", "Find the technique"),
    ),
    (
        "Put it together",
        "writer",
        "Make one text of the parts.",
        ("Tell the beginning", "Tell the voyage", "Tell the message", "Explain the failure"),
    ),
    ("Read it over", "archivist", "Read it as a visitor.", ("Put it together", "Write captions")),
)

_ANSWERS: dict[str, str | list[str]] = {
    "Find the dates": "Landed on 5 August 1858; silent from 20 October 1858 on [museum-log].",
    "Find the people": "Cyrus Field drove the work; Queen Victoria wrote first, in 1858 [letters].",
    "Find the ships": "HMS Agamemnon and USS Niagara met in mid-ocean in July 1858 [ship-logs].",
    "Find the technique": "Seven copper wires in gutta-percha and iron, made by 1857 [workshop].",
    "Check the dates": "Both logs end the laying on 5 August 1858, like the museum's [ship-logs].",
    "Tell the beginning": [
        "I think Field probably had the idea around 1854.",
        "In 1854 Field was asked to pay for a line to Newfoundland, and thought on [letters].",
    ],
    "Tell the voyage": "Three times it broke; the fourth splice, in July 1858, held [ship-logs].",
    "Tell the message": "On 16 August 1858 ninety-eight words took sixteen hours [letters].",
    "Explain the failure": "In September 1858 too high a voltage burnt the insulation [workshop].",
    "Write captions": "Agamemnon with the cable, 1858. A piece of it, 1857 [museum-log].",
    "Put it together": "From a request in 1854 to ninety-eight words in 1858: two ships "
    "joined two continents for some weeks [letters] [ship-logs] [workshop].",
    "Read it over": "A visitor follows it from 1854 to 1858 without a question [museum-log].",
}

_FINAL = (
    "In 1858 two ships, a copper wire and much patience let two continents speak for some weeks. "
    "This page tells who wanted it, how it was laid, what was said, and why it fell silent."
)
_JUDGES = [
    {"name": "sources", "model": "rule:required-citations", "settings": {"minimum": 1}},
    {"name": "year", "model": "rule:must-match", "settings": {"pattern": r"\b18[0-9]{2}\b"}},
    {
        "name": "plain-words",
        "model": "rule:must-not-match",
        "settings": {"pattern": r"(?i)\b(maybe|probably|I think)\b"},
    },
]


def request(pause_s: int = 2) -> dict[str, Any]:
    """Return the request for the job.

    Args:
        pause_s: how many seconds each answer takes.
    """
    plan = [_planned(*task) for task in _PLAN]
    said = {"plan": plan, "answer": _FINAL, "pauseSeconds": pause_s}
    return {
        "operation": "runTeam",
        "goal": _GOAL,
        "team": [_member(name, pause_s) for name in ("archivist", "engineer", "writer")],
        "coordinator": {"name": "curator", "model": "given", "settings": said},
        "verifyJudges": _JUDGES,
    }


def _planned(
    title: str, assignee: str, description: str, depends_on: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "title": title,
        "description": description,
        "assignee": assignee,
        "dependsOn": list(depends_on),
        "verify": {"quorum": len(_JUDGES)},
    }


def _member(name: str, pause_s: int) -> dict[str, Any]:
    replies = {title: _ANSWERS[title] for title, assignee, _, _ in _PLAN if assignee == name}
    settings = {"replies": replies, "pauseSeconds": pause_s}
    return {"name": name, "model": "given", "settings": settings}
