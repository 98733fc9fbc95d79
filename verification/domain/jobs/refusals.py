"""Why a job is not taken: where in the request the fault is, and never what stood there."""

from verification.domain.errors import VerificationError


class JobRefused(VerificationError):
    """A request that no job can be made of.

    Attributes:
        reason: short word, stable for clients.
        pointer: RFC 6901 pointer to the member at fault.
    """

    def __init__(self, reason: str, pointer: str, sentence: str) -> None:
        self.reason = reason
        self.pointer = pointer
        super().__init__(sentence)
