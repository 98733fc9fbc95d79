"""A job's outcome in one plain sentence: what decided it, and what that is worth."""

from verification.domain.consensus.result import Basis

_SENTENCES = {
    Basis.QUORUM: "{accepts} of {judges} judges accepted the answer; {quorum} were needed.",
    Basis.KEPT: "No quorum, but the job was told to keep the answer. That is not a pass.",
    Basis.DISSENT: "Every judge was heard, and fewer than {quorum} accepted the answer.",
    Basis.JUDGE_ERROR: (
        "Fewer than {quorum} judges accepted, and at least one could not be heard."
    ),
    Basis.BUDGET: "The token budget ran out before the judges had decided.",
    Basis.ABORTED: "It was stopped before the judges had decided.",
    Basis.NO_ANSWER: "No proposer gave an answer, so there was nothing to judge.",
    Basis.SUSPECTED: (
        "The judges accepted it, but the answer reads as if written for them. A person must look."
    ),
}
_STOPS = {
    "cancelled": "It was cancelled before the judges had decided.",
    "deadline": "Its time ran out before the judges had decided.",
}
_BROKEN = {
    "crashed": "Working on it ended in crashes again and again, so it was given up.",
    "ContentGone": "Its words were erased before it had ended.",
}


def outcome_sentence(
    basis: str, *, stop: str = "", broken: str = "", accepts: int, judges: int, quorum: int
) -> str:
    """Return why a job ended as it did."""
    if broken:
        return _BROKEN.get(broken, "It could not come to an end properly, so nothing passes.")
    if basis == Basis.ABORTED and stop in _STOPS:
        return _STOPS[stop]
    if basis not in list(Basis):
        return ""
    return _SENTENCES[Basis(basis)].format(accepts=accepts, judges=judges, quorum=quorum)
