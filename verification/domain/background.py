"""Whether the background of a log was needed for what was concluded without it.

Tool calls and completed nodes say nothing while every verdict is a pass on a turn of this run: what
they can show is that a result was merged although it had failed, what a target names that is no
turn, and what came after it. A run may hold very many of them.
"""

from runs.domain.readers import VerdictKind
from verification.domain.conclude import Conclusions
from verification.domain.subjects import SubjectKind


def needs_background(conclusions: Conclusions) -> bool:
    """Say whether lines of `signals.BACKGROUND_TYPES` could change what was concluded.

    Args:
        conclusions: from a log without any of them.
    """
    return any(each.kind is not VerdictKind.PASS for each in conclusions.verdicts) or any(
        gate.subject.kind is not SubjectKind.TURN for gate in conclusions.gates.values()
    )
