"""The numbers that judgements depend on: a workspace's or run's own, or the protocol's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Where the lines are drawn. A value *below* a line is low; equality passes."""

    actor_threshold: float = 0.7
    """For `agent.decided.confidence`. Source: RFC 0002, RFC 0077."""
    verifier_floor: float = 0.5
    """For a verifier's confidence in its own verdict. Source: RFC 0090, unresolved question 3."""
    orchestrator_floor: float = 0.5
    """For an orchestrator's decision; a host's own floor counts where it is stricter. RFC 0039."""
    max_loop_iterations: int | None = None
    """The run's own limit of turns; the smaller of this and the host's counts. Source: RFC 0058."""
    audit_share: float = 0.0
    """Share (0 … 1) of passes that a person is asked to look at anyway."""
    audit_salt: str = ""
    """Makes the sample unpredictable for a host; keep it secret and keep it the same."""
    clock_skew_s: float = 300.0
    """How far a host's timestamps may run backwards along its sequences unnoticed."""
