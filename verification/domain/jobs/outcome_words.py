"""A job's outcome in one plain sentence: what decided it, and what that is worth."""

from verification.domain.jobs.states import JobBasis

_OF_TASKS = {
    JobBasis.QUORUM: "Every task was done, and its judges accepted every result they heard.",
    JobBasis.OVERRIDDEN: "Every task was done; a person let a result count that was rejected.",
    JobBasis.UNVERIFIED: "Every task was done. Nobody was asked to judge any of them.",
    JobBasis.UNFINISHED: "A task failed, or could not be done because of another.",
    JobBasis.NO_PLAN: "There was no plan that could be run.",
    JobBasis.DISSENT: "The judges of a task rejected its result, so it was not merged.",
    JobBasis.KEPT: "The judges of a task did not accept its result, so it was not merged.",
    JobBasis.JUDGE_ERROR: "A task was not accepted, and one of its judges could not be heard.",
    JobBasis.SUSPECTED: "A task's result reads as if written for its judges.",
    JobBasis.BUDGET: "The budget ran out before everything was done.",
    JobBasis.ABORTED: "It was stopped before everything was done.",
}
_SENTENCES = {
    JobBasis.QUORUM: "{accepts} of {judges} judges accepted the answer; {needed}.",
    JobBasis.KEPT: "No quorum, but the job was told to keep the answer. That is not a pass.",
    JobBasis.DISSENT: "Every judge was heard, and fewer than {quorum} accepted the answer.",
    JobBasis.JUDGE_ERROR: (
        "Fewer than {quorum} judges accepted, and at least one could not be heard."
    ),
    JobBasis.BUDGET: "The token budget ran out before the judges had decided.",
    JobBasis.ABORTED: "It was stopped before the judges had decided.",
    JobBasis.NO_ANSWER: "Nobody gave an answer, so there was nothing to judge.",
    JobBasis.SUSPECTED: (
        "The judges accepted it, but the answer reads as if written for them. A person must look."
    ),
}
_STOPS = {
    "cancelled": "It was cancelled before {}.",
    "deadline": "Its time ran out before {}.",
}
_BROKEN = {
    "crashed": "Working on it ended in crashes again and again, so it was given up.",
    "ContentGone": "Its words were erased before it had ended.",
}


def outcome_sentence(
    basis: str,
    *,
    stop: str = "",
    broken: str = "",
    accepts: int,
    judges: int,
    quorum: int,
    unasked: int = 0,
) -> str:
    """Return why a consensus ended as it did; once enough accepted, `unasked` were left out."""
    if broken:
        return _broken(broken)
    if basis == JobBasis.ABORTED and stop in _STOPS:
        return _STOPS[stop].format("the judges had decided")
    sentence = _SENTENCES.get(JobBasis(basis), "") if basis else ""
    needed = f"{quorum} {'was' if quorum == 1 else 'were'} needed"
    if unasked:
        needed += f", so {unasked} {'was' if unasked == 1 else 'were'} not asked"
    return sentence.format(accepts=accepts, judges=judges, quorum=quorum, needed=needed)


def tasks_sentence(basis: str, *, stop: str = "", broken: str = "") -> str:
    """Return why a run of tasks or of a team ended as it did."""
    if broken:
        return _broken(broken)
    if basis == JobBasis.ABORTED and stop in _STOPS:
        return _STOPS[stop].format("everything was done")
    return _OF_TASKS.get(JobBasis(basis), "") if basis else ""


def _broken(why: str) -> str:
    return _BROKEN.get(why, "It could not come to an end properly, so nothing passes.")
