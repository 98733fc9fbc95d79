"""Why something waits for a person, in the words of messages that leave the Console."""

_WORDS = {
    "fail": "Failed verdict",
    "low_confidence": "Low confidence",
    "ask_user": "Question to a person",
    "interrupt": "Host is waiting",
    "revise_limit": "Revise limit reached",
    "violation": "Gate violated",
    "consensus_rejected": "Consensus rejected",
    "held": "Run held",
    "audit_sample": "Audit sample",
}


def words_of(reason: str) -> str:
    """Return a reason as people read it; one that is not known is said as it is."""
    return _WORDS.get(reason, reason.replace("_", " ").capitalize())
