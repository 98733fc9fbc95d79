"""The tables of judgements."""

from verification.models.answer import GateReceipt, SigningKey
from verification.models.audit import AuditEntry
from verification.models.content import Content
from verification.models.delivery import Attempt, Delivery
from verification.models.escalation import Escalation, Resolution
from verification.models.gate import Finding, Gate, Judgement, Verdict

__all__ = [
    "Attempt",
    "AuditEntry",
    "Content",
    "Delivery",
    "Escalation",
    "Finding",
    "Gate",
    "GateReceipt",
    "Judgement",
    "Resolution",
    "SigningKey",
    "Verdict",
]
