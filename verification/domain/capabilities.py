"""What a host advertised, and when: a duty is only ever charged to a host that had taken it on.

A host's document is read root first, then its `capabilities` mirror (RFC 0073), in the v1 form with
`supported` flags and the v2 form where being present is the claim.

Which snapshot held is decided by the *host's* timestamp of the event in question. Our own clock
would be the better witness, but the time of arrival differs between two deliveries of the same
events, and a judgement must not. A host's clock may lie, so the answer can be "not known": when
several snapshots are held and none covers the time. Then nothing is charged. A single snapshot is
taken to hold for all times, since a host is often first asked after its events have come in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from runs.domain.readers import confidence, fields, text

VERIFIER_LEVEL = 6
"""`multiAgent.executionModel.version` from which verdicts exist. Source: RFC 0090 §D."""
ESCALATION_LEVEL = 2
"""… and from which a low-confidence decision must be escalated. Source: RFC 0039."""


@dataclass(frozen=True, slots=True)
class CapabilitySpan:
    """A discovery document and the time for which it held, on the Console's clock."""

    document: Mapping[str, object]
    valid_from: datetime
    valid_to: datetime | None = None
    """First instant at which it no longer held; None: it still holds."""
    reference: str = ""
    """The caller's own name for the snapshot; comes back with a finding."""


class Binding(StrEnum):
    """What a verdict obliges its host to. Stored; add, never repurpose."""

    GATING = "gating"
    ADVISORY = "advisory"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Advertised:
    """What one document claims, as far as judgements ask."""

    level: int = 0
    verifies: bool = False
    gates: bool = False
    confidence_floor: float | None = None
    max_loop_iterations: int | None = None
    host_id: str | None = None
    """The name under which other hosts point at this one."""


NOTHING = Advertised()


@dataclass(frozen=True, slots=True)
class Claim:
    """What held at a time. `advertised` is None when that is not known."""

    advertised: Advertised | None
    span: CapabilitySpan | None = None

    @property
    def binding(self) -> Binding:
        """Say what a verdict of that time obliges to."""
        if self.advertised is None:
            return Binding.UNKNOWN
        return Binding.GATING if self.advertised.gates else Binding.ADVISORY


class Advertisements:
    """What a host claimed, by time."""

    def __init__(self, spans: Sequence[CapabilitySpan]) -> None:
        ordered = sorted(spans, key=lambda span: (span.valid_from, span.reference))
        self._claims = [Claim(advertised(span.document), span) for span in ordered]
        self._known: dict[datetime | None, Claim] = {}

    def at(self, time: datetime | None) -> Claim:
        """Return the claim that held at a time of the host's clock."""
        claim = self._known.get(time)
        if claim is None:
            claim = self._known[time] = self._find(time)
        return claim

    @property
    def host_ids(self) -> frozenset[str]:
        """Return every name under which the host may point at itself."""
        named = (each.advertised.host_id for each in self._claims if each.advertised)
        return frozenset(each for each in named if each)

    def _find(self, time: datetime | None) -> Claim:
        if len(self._claims) <= 1:
            return self._claims[0] if self._claims else Claim(NOTHING)
        held = [each for each in self._claims if each.span and _covers(each.span, time)]
        return min(held, key=_weight, default=Claim(None))


def signs_webhooks(document: Mapping[str, object]) -> bool:
    """Say whether a discovery document claims signed webhooks: v1 by a flag, v2 by being there."""
    root = fields(document.get("webhooks"))
    said = root or fields(fields(document.get("capabilities")).get("webhooks"))
    return bool(said) and said.get("supported", True) is True


def advertised(document: object) -> Advertised:
    """Read a discovery document of either major.

    Source: capabilities.schema.json (v1 and v2), `multiAgent`, `limits`.
    """
    root = fields(document)
    mirror = fields(root.get("capabilities"))
    family = fields(root.get("multiAgent")) or fields(mirror.get("multiAgent"))
    model = fields(family.get("executionModel"))
    limits = [fields(place.get("limits")).get("maxLoopIterations") for place in (root, mirror)]
    level = 0 if model.get("supported", True) is not True else _whole(model.get("version")) or 0
    verifier = fields(model.get("verifier")) or fields(family.get("verifier"))
    presence_claims = bool(verifier) and text(family.get("status")) is not None
    verifies = level >= VERIFIER_LEVEL and verifier.get("supported", presence_claims) is True
    return Advertised(
        level=level,
        verifies=verifies,
        gates=verifies and verifier.get("gating") is True,
        confidence_floor=confidence(model.get("confidenceEscalationFloor")),
        max_loop_iterations=_whole(limits[0]) or _whole(limits[1]),
        host_id=text(fields(model.get("crossHostCausation")).get("hostId")),
    )


def _covers(span: CapabilitySpan, time: datetime | None) -> bool:
    if time is None or time < span.valid_from:
        return False
    return span.valid_to is None or time < span.valid_to


def _weight(claim: Claim) -> tuple[bool, bool, int]:
    """Order claims by what they charge a host with: of two that overlap, the lighter one counts."""
    said = claim.advertised or NOTHING
    return said.gates, said.verifies, said.level


def _whole(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None
