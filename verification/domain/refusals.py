"""What can stop a person from doing something with an escalation, one exception per fact.

Each carries its values as attributes, so that an edge can tell the person who was first, until
when, or what changed. None carries content.
"""

from datetime import datetime

from verification.domain.errors import VerificationError


class NotAllowed(VerificationError):
    """The person's role does not include this move."""

    def __init__(self, move: str, role: str) -> None:
        self.move = move
        self.role = role
        super().__init__(f"A {role} may not {move} an escalation.")


class NotEligible(VerificationError):
    """The host or the queue names who may decide, and this person is not among them."""

    def __init__(self, person: str) -> None:
        self.person = person
        super().__init__("Only the approvers named for this escalation may decide it.")


class AlreadyClaimed(VerificationError):
    """Another reviewer holds the escalation."""

    def __init__(self, by: str, until: datetime) -> None:
        self.by = by
        self.until = until
        super().__init__(f"Claimed by {by} until {until:%Y-%m-%d %H:%M:%S} UTC.")


class NotClaimed(VerificationError):
    """The person would have to claim the escalation first."""

    def __init__(self) -> None:
        super().__init__("Nobody holds it; claim it first.")


class ClaimLapsed(VerificationError):
    """The person's claim ran out before they were done."""

    def __init__(self, until: datetime) -> None:
        self.until = until
        super().__init__(f"The claim ended at {until:%Y-%m-%d %H:%M:%S} UTC; claim it again.")


class AlreadySettled(VerificationError):
    """Nobody has to decide this any more."""

    def __init__(self, because: str = "") -> None:
        self.because = because
        super().__init__(f"{self.words}{f': {because}' if because else ''}.")

    words = "The escalation is settled"


class AlreadyResolved(AlreadySettled):
    """Somebody decided; a decision is made once. Says who, so that the loser of a race knows."""

    def __init__(self, because: str = "", by: str = "", what: str = "escalation") -> None:
        self.by = by
        self.words = f"The {what} was already decided{f' by {by}' if by else ''}"
        super().__init__(because)


class AlreadyMoot(AlreadySettled):
    """What was asked no longer matters."""

    words = "The escalation became moot"


class AlreadyExpired(AlreadySettled):
    """Its time ran out, and the queue's policy was applied."""

    words = "The escalation expired"


class StaleView(VerificationError):
    """The matter changed after the person last saw it.

    `changed` names what: any of `escalation`, `verdicts`, `subject`, `events`; or `plan`.
    """

    def __init__(self, changed: tuple[str, ...], since: int) -> None:
        self.changed = changed
        self.since = since
        super().__init__(f"Changed since you looked: {', '.join(changed)}.")


class ConflictOfInterest(VerificationError):
    """The person started the run or owns its actor, and would let its result through."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(f"Whoever started the run or owns its actor may not {action} it.")


class AlreadyReviewed(VerificationError):
    """The person has had their say; somebody else must have theirs."""

    def __init__(self, by: str) -> None:
        self.by = by
        super().__init__("You have already reviewed this; somebody else must.")


class UndoTooLate(VerificationError):
    """The decision has left, or the moment to take it back is over."""

    def __init__(self, until: datetime) -> None:
        self.until = until
        super().__init__(f"A decision can be taken back until {until:%H:%M:%S} UTC, not later.")


class NoSuchMove(VerificationError):
    """The escalation's state has no such move."""

    def __init__(self, state: str, move: str) -> None:
        self.state = state
        self.move = move
        super().__init__(f"An escalation that is {state} cannot {move}.")
