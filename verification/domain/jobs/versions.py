"""The versions of an answer that a job went through, read from its replies in order."""

from collections.abc import Iterable
from dataclasses import dataclass

from verification.domain.consensus.consensus_run import SEPARATOR
from verification.domain.consensus.history import AbortRequested, Phase, Reply


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the answer, and the round whose dissent it answers. Content."""

    after_round: int
    author: str
    text: str


def versions(history: Iterable[Reply | AbortRequested], rounds: Iterable[int]) -> list[Version]:
    """Return the versions, the first one first.

    Args:
        history: of the job.
        rounds: of each revision in it, in order.
    """
    replies = [each for each in history if isinstance(each, Reply) and each.failure is None]
    first = [each for each in replies if each.phase is Phase.PROPOSER and each.text]
    found = []
    if first:
        authors = ", ".join(each.agent for each in first)
        found.append(Version(0, authors, SEPARATOR.join(each.text for each in first)))
    revised = (each for each in replies if each.phase is Phase.REVISION)
    for reply, round_ in zip(revised, rounds, strict=False):
        if reply.text and (not found or reply.text != found[-1].text):
            found.append(Version(round_, reply.agent, reply.text))
    return found
