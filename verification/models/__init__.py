"""The tables of judgements."""

from verification.models.answer import GateReceipt, SigningKey
from verification.models.audit import AuditEntry, Checkpoint
from verification.models.batch import Batch, BatchItem
from verification.models.content import Content
from verification.models.delivery import Attempt, Delivery, HostRest, ReviewWebhook
from verification.models.escalation import Escalation, Resolution
from verification.models.gate import Finding, Gate, Judgement, Rejudging, Verdict
from verification.models.job import (
    CataloguedModel,
    ConsoleHost,
    Job,
    JobStep,
    JobTask,
    JudgeVote,
    MemoryEntry,
    Span,
)
from verification.models.person import Notification, PersonalToken, Replay, Wish
from verification.models.queue import Queue
from verification.models.review import Comment, Draft, Vote

__all__ = [
    "Attempt",
    "AuditEntry",
    "Batch",
    "BatchItem",
    "CataloguedModel",
    "Checkpoint",
    "Comment",
    "ConsoleHost",
    "Content",
    "Delivery",
    "Draft",
    "Escalation",
    "Finding",
    "Gate",
    "GateReceipt",
    "HostRest",
    "Job",
    "JobStep",
    "JobTask",
    "JudgeVote",
    "Judgement",
    "MemoryEntry",
    "Notification",
    "PersonalToken",
    "Queue",
    "Rejudging",
    "Replay",
    "Resolution",
    "ReviewWebhook",
    "SigningKey",
    "Span",
    "Verdict",
    "Vote",
    "Wish",
]
