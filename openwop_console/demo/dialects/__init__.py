"""The ways real hosts speak, each proven against what that host was recorded to send."""

from collections.abc import Callable
from dataclasses import dataclass

from openwop_console.demo.dialects.app import AppEvents, AppReplies
from openwop_console.demo.dialects.events import Draft, Events
from openwop_console.demo.dialects.hooks import AppHooks, Hooks, PythonHooks, ReferenceHooks
from openwop_console.demo.dialects.plain import (
    InMemoryEvents,
    InMemoryReplies,
    PythonEvents,
    PythonReplies,
)
from openwop_console.demo.dialects.reference import (
    PostgresEvents,
    ReferenceEvents,
    ReferenceReplies,
    SqliteReplies,
)
from openwop_console.demo.dialects.replies import Replies
from openwop_console.demo.store import Ids

__all__ = ["DIALECTS", "Dialect", "Draft", "Events", "Hooks", "Replies", "dialect_named"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One host's way to speak: its events, its answers, its webhooks."""

    name: str
    events: Events
    replies: Replies
    hooks: Hooks


def _spec(ids: Ids) -> Dialect:
    events = Events(ids)
    return Dialect("spec", events, Replies(events), Hooks())


def _sqlite(ids: Ids) -> Dialect:
    events = ReferenceEvents(ids)
    return Dialect("sqlite", events, SqliteReplies(events), ReferenceHooks())


def _postgres(ids: Ids) -> Dialect:
    events = PostgresEvents(ids)
    return Dialect("postgres", events, ReferenceReplies(events), ReferenceHooks())


def _in_memory(ids: Ids) -> Dialect:
    events = InMemoryEvents(ids)
    return Dialect("in-memory", events, InMemoryReplies(events), ReferenceHooks())


def _python(ids: Ids) -> Dialect:
    events = PythonEvents(ids)
    return Dialect("python", events, PythonReplies(events), PythonHooks())


def _app(ids: Ids) -> Dialect:
    events = AppEvents(ids)
    return Dialect("openwop-app", events, AppReplies(events), AppHooks())


DIALECTS: dict[str, Callable[[Ids], Dialect]] = {
    "spec": _spec,
    "sqlite": _sqlite,
    "postgres": _postgres,
    "in-memory": _in_memory,
    "python": _python,
    "openwop-app": _app,
}


def dialect_named(name: str, ids: Ids) -> Dialect:
    """The dialect of that name. Raises KeyError for a name that is not in DIALECTS."""
    return DIALECTS[name](ids)
