"""A host's conformance card: what it advertises, what its events show, and what to change.

It tells a host's team where the two differ; it accuses nobody. What is a breach is a finding.
Source: RFC 0090 §A to §D; OpenWOP webhooks.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from verification.domain.capabilities import VERIFIER_LEVEL, Advertised
from verification.domain.subjects import Independence, SubjectKind

_NOTHING = "nothing yet"
_TARGETS: Mapping[str, str] = {
    SubjectKind.TURN: "name a result",
    SubjectKind.CHILD_RUN: "name a child run",
    SubjectKind.TOOL_CALL: "name a tool call",
    SubjectKind.OTHER_HOST: "name another host's result",
    SubjectKind.AGENT: "name an agent",
    SubjectKind.NOT_FOUND: "name nothing that is held",
}
_VERIFIERS: Mapping[str, str] = {
    Independence.INDEPENDENT: "independent",
    Independence.SELF_VERIFIED: "self-verified",
    Independence.UNKNOWN: "of unknown independence",
}
_CLOCKS_AGREE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a host's events show, counted."""

    verdicts: int = 0
    with_criteria: int = 0
    """Verdicts that name the criteria they went by."""
    targets: Mapping[str, int] = field(default_factory=dict)
    """Gates by what their target names."""
    verifiers: Mapping[str, int] = field(default_factory=dict)
    """Gates by the independence of their verifiers."""
    ended: int = 0
    """Runs that completed."""
    ended_with_criteria: int = 0
    commits: int = 0
    unverified: int = 0
    spellings: tuple[str, ...] = ()
    """How its believed webhook deliveries are signed."""
    unproven: int = 0
    """Deliveries of late that were not believed."""
    ahead: timedelta | None = None
    """How far its clock is ahead of ours at least; None: not known."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the card."""

    topic: str
    claim: str
    shown: str
    fix: str = ""
    """What the host's team could change; empty where nothing differs."""


def card(claims: Advertised | None, shown: Shown, *, signs: bool | None) -> list[Row]:
    """Return the lines of a host's card.

    Args:
        claims: what it advertises now; None: nothing is known of it.
        shown: what its events show.
        signs: whether it advertises signed webhooks; None: not known.
    """
    return [
        _verdicts(claims, shown),
        _targets(shown),
        _verifiers(shown),
        _criteria(shown),
        _ends(shown),
        _webhooks(shown, signs=signs),
        _clock(shown),
    ]


def _verdicts(claims: Advertised | None, shown: Shown) -> Row:
    count = f"{shown.verdicts} {'verdict' if shown.verdicts == 1 else 'verdicts'}"
    silent = f", {shown.unverified} of {shown.commits} commits without one"
    told = count + (silent if shown.commits else "")
    if claims is None:
        return Row("Verdicts", "not known", told, "Serve /.well-known/openwop.")
    if claims.gates:
        claim = f"level {claims.level}, gates commits"
    elif claims.verifies:
        claim = f"level {claims.level}, advises only"
    else:
        claim = f"level {claims.level}, no verifier" if claims.level else "no verifier"
    unadvertised = bool(shown.verdicts) and not claims.verifies
    fix = f"Advertise level {VERIFIER_LEVEL} and a verifier, since verdicts are sent."
    return Row("Verdicts", claim, told, fix if unadvertised else "")


def _targets(shown: Shown) -> Row:
    lost = shown.targets.get(SubjectKind.AGENT, 0) + shown.targets.get(SubjectKind.NOT_FOUND, 0)
    fix = "Target an eventId, a child run or a call of the same run (RFC 0090 §A)."
    return Row("Targets", "–", _counted(shown.targets, _TARGETS), fix if lost else "")


def _verifiers(shown: Shown) -> Row:
    own = shown.verifiers.get(Independence.SELF_VERIFIED, 0)
    fix = "Let another agent verify than the one that acted."
    return Row("Verifiers", "–", _counted(shown.verifiers, _VERIFIERS), fix if own else "")


def _criteria(shown: Shown) -> Row:
    told = (
        f"{shown.with_criteria} of {shown.verdicts} verdicts" if shown.verdicts else "nothing yet"
    )
    fix = "Name the criteria of a verdict, by their keys."
    return Row("Criteria named", "–", told, fix if shown.with_criteria < shown.verdicts else "")


def _ends(shown: Shown) -> Row:
    told = f"{shown.ended_with_criteria} of {shown.ended} ends" if shown.ended else _NOTHING
    fix = "State successCriteria on terminate: an end without them is no success."
    return Row("Goals stated", "–", told, fix if shown.ended_with_criteria < shown.ended else "")


def _webhooks(shown: Shown, *, signs: bool | None) -> Row:
    claim = {True: "signed", False: "none", None: "not known"}[signs]
    told = f"signed as {', '.join(shown.spellings)}" if shown.spellings else "none believed"
    if shown.unproven:
        told += f", {shown.unproven} not believed"
    return Row("Webhooks", claim, told, "Sign with the secret in force." if shown.unproven else "")


def _clock(shown: Shown) -> Row:
    if shown.ahead is None:
        return Row("Clock", "–", "not known")
    if shown.ahead <= _CLOCKS_AGREE:
        return Row("Clock", "–", "not ahead of ours")
    seconds = round(shown.ahead.total_seconds())
    return Row("Clock", "–", f"{seconds} s ahead of ours", "Set its clock by NTP.")


def _counted(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    told = [f"{counts[key]} {word}" for key, word in words.items() if counts.get(key)]
    return ", ".join(told) or _NOTHING
