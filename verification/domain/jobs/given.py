"""Members that are no models: what they say came with the request.

So results that were made elsewhere can be judged, one task after another, and a whole team can be
watched without a key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verification.domain.consensus.queue import normalised
from verification.domain.jobs import members
from verification.domain.jobs.refusals import JobRefused

GIVEN = "given"
"""The model of such members."""
LONGEST_PAUSE_S = 60
_MOST_VERSIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What one member says. Content."""

    replies: Mapping[str, tuple[str, ...]]
    """By title of a task: the first answer, and what follows each round of dissent."""
    plan: str | None = None
    """For a coordinator: its plan, as JSON."""
    answer: str | None = None
    """For a coordinator: the final answer."""
    pause_s: int = 0
    """How long each of its replies takes, for those who want to watch."""

    def reply(self, title: str, round_: int) -> str | None:
        """Return what it says of a task after a round of dissent; 0: before any."""
        said = self.replies.get(normalised(title), ())
        return said[round_] if round_ < len(said) else None


def given_member(settings: object, pointer: str) -> Given:
    """Read the settings of a member of the team. Raises JobRefused."""
    said = members.an_object(settings, pointer, {"replies", "pauseSeconds"})
    return Given(replies=_replies(said, pointer), pause_s=_pause(said, pointer))


def given_coordinator(settings: object, pointer: str) -> Given:
    """Read the settings of a coordinator. Raises JobRefused."""
    said = members.an_object(settings, pointer, {"plan", "answer", "pauseSeconds"})
    for name in ("plan", "answer"):
        if name not in said:
            raise JobRefused("required", f"{pointer}/{name}", "It is missing.")
    return Given(
        replies={},
        plan=members.as_json(said["plan"], f"{pointer}/plan", members.LONGEST_ANSWER),
        answer=members.a_text(said["answer"], f"{pointer}/answer", members.LONGEST_ANSWER),
        pause_s=_pause(said, pointer),
    )


def _replies(said: Mapping[str, Any], pointer: str) -> dict[str, tuple[str, ...]]:
    where = f"{pointer}/replies"
    given = said.get("replies")
    if not isinstance(given, Mapping) or not given:
        raise JobRefused("required", where, "Say what is answered, by the titles of tasks.")
    return {
        normalised(title): _versions(texts, f"{where}/{number}")
        for number, (title, texts) in enumerate(given.items())
    }


def _versions(given: object, pointer: str) -> tuple[str, ...]:
    texts = given if isinstance(given, list) else [given]
    if not 0 < len(texts) <= _MOST_VERSIONS:
        raise JobRefused("range", pointer, f"1 to {_MOST_VERSIONS} answers are expected.")
    return tuple(members.a_text(text, pointer, members.LONGEST_ANSWER) for text in texts)


def _pause(said: Mapping[str, Any], pointer: str) -> int:
    if "pauseSeconds" not in said:
        return 0
    return members.a_count(said["pauseSeconds"], f"{pointer}/pauseSeconds", 0, LONGEST_PAUSE_S)
