"""What the forms of new jobs can start with: examples that need no model and no key."""

from collections.abc import Mapping
from typing import Any

from verification.domain.jobs.states import Operation

_JUDGES = [
    {"name": "sources", "model": "rule:required-citations", "settings": {"minimum": 1}},
    {"name": "plain-words", "model": "rule:must-not-match",
     "settings": {"pattern": "(?i)\\b(maybe|probably|I think)\\b"}},
]  # fmt: skip
_DATE = [
    "Probably in 1858, I think.",
    "On 16 August 1858 [1].\n\n[1] https://www.example.org/atlantic-cable",
]
"""The first answer is rejected by both judges; the second one is what it is revised to."""
_SENDER = "Queen Victoria sent it to President Buchanan [1].\n\n[1] https://www.example.org/queen"
_TEXT = "On 16 August 1858 a message of Queen Victoria reached President Buchanan by cable [1, 2]."
_TASKS = [
    {"title": "Find the date", "description": "When was the first message sent? Name a source.",
     "assignee": "historian", "verify": True},
    {"title": "Find the sender", "description": "Who sent it, and to whom? Name a source.",
     "assignee": "archivist", "verify": True},
    {"title": "Write the text", "description": "One sentence for the museum's wall.",
     "assignee": "historian", "dependsOn": ["Find the date", "Find the sender"], "verify": True},
]  # fmt: skip
_TEAM = [
    {"name": "historian", "model": "given",
     "settings": {"replies": {"Find the date": _DATE, "Write the text": _TEXT}, "pauseSeconds": 2}},
    {"name": "archivist", "model": "given",
     "settings": {"replies": {"Find the sender": _SENDER}, "pauseSeconds": 2}},
]  # fmt: skip
CONSENSUS = {
    "prompt": "In which year was the first transatlantic telegraph message sent, and by whom?",
    "answer": "It was sent in 1858, by Queen Victoria to President Buchanan [1].\n\n"
    "[1] https://www.example.org/atlantic-cable",
    "judges": [
        {"name": "sources", "model": "rule:required-citations", "settings": {"minimum": 1}},
        {"name": "year", "model": "rule:must-match", "settings": {"pattern": "\\b18[0-9]{2}\\b"}},
        {"name": "hedging", "model": "rule:must-not-match",
         "settings": {"pattern": "(?i)\\b(maybe|probably|I think)\\b"}},
    ],
    "quorum": 2,
}  # fmt: skip
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    Operation.CONSENSUS: CONSENSUS,
    Operation.TASKS: {
        "operation": "runTasks", "team": _TEAM, "judges": _JUDGES, "tasks": _TASKS
    },
    Operation.TEAM: {
        "operation": "runTeam",
        "goal": "Tell visitors of the museum how the first message crossed the Atlantic.",
        "team": _TEAM,
        "verifyJudges": _JUDGES,
        "approvePlan": True,
        "coordinator": {
            "name": "curator", "model": "given",
            "settings": {"plan": _TASKS, "answer": _TEXT, "pauseSeconds": 1},
        },
    },
}  # fmt: skip
