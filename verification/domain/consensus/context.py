"""What a worker is shown beside its task: what the tasks before it produced, or all memory."""

import json

from verification.domain.consensus.failures import (
    DEPENDENCY_NOT_STRUCTURED,
    DEPENDENCY_TOO_LARGE,
    Failure,
)
from verification.domain.consensus.ledger import Ledger
from verification.domain.consensus.observed import MemoryWrite
from verification.domain.consensus.prompts import Quoted
from verification.domain.consensus.queue import DependencyPayload, Task, TaskStatus
from verification.domain.errors import VerificationError

MAX_PAYLOAD_BYTES = 64 * 1024
_LONGEST_SUMMARY = 200


class DependencyUnusable(VerificationError):
    """A task before this one did not produce what this one needs."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(f"A task before it produced nothing usable: {failure.code}.")


def context_of(ledger: Ledger, task: Task) -> list[Quoted]:
    """Return what a task's worker is shown. Raises DependencyUnusable."""
    if task.spec.sees_all_memory:
        summary = memory_summary(ledger.replay.observed.memory)
        return [Quoted("Shared memory", summary)] if summary else []
    before = [ledger.queue.named(each) for each in task.depends_on]
    done = [each for each in before if each.status is TaskStatus.COMPLETED and not each.is_withheld]
    shown = [_payload(task.spec.payload, each) for each in done]
    return [quoted for quoted in shown if quoted is not None]


def _payload(mode: DependencyPayload, done: Task) -> Quoted | None:
    title = f"{done.spec.title} (by {done.assignee})"
    if mode is DependencyPayload.OUTPUT:
        return Quoted(title, done.output) if done.output else None
    if done.outcome is None or done.outcome.structured is None:
        raise DependencyUnusable(DEPENDENCY_NOT_STRUCTURED)
    text = json.dumps(
        done.outcome.structured, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    if mode is DependencyPayload.BOTH:
        text = f"{done.output}\n\n{text}"
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PAYLOAD_BYTES:
        raise DependencyUnusable(DEPENDENCY_TOO_LARGE)
    return Quoted(title, text)


def memory_summary(writes: list[MemoryWrite]) -> str:
    """Return shared memory as lines by agent, the last value of each key, long ones cut short."""
    entries = {write.key: write for write in writes}
    agents = list(dict.fromkeys(write.agent for write in entries.values()))
    blocks = [_agent_block(agent, list(entries.values())) for agent in agents]
    return "\n\n".join(blocks)


def _agent_block(agent: str, entries: list[MemoryWrite]) -> str:
    lines = [f"- {each.name}: {_cut(each.value)}" for each in entries if each.agent == agent]
    return "\n".join([f"{agent}:", *lines])


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST_SUMMARY else f"{value[: _LONGEST_SUMMARY - 3]}…"
