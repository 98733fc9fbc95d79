"""The door to requests: reads any kind of job. The same function reads it again at work."""

from collections.abc import Mapping

from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import JobRequest, read_request
from verification.domain.jobs.states import Operation
from verification.domain.jobs.team_request import TeamRequest, read_tasks, read_team

AnyRequest = JobRequest | TeamRequest


def read_any(document: object) -> AnyRequest:
    """Return what a document asks for; without an operation, a consensus. Raises JobRefused."""
    operation = document.get("operation") if isinstance(document, Mapping) else None
    match operation:
        case Operation.CONSENSUS | None:
            return read_request(document)
        case Operation.TASKS:
            return read_tasks(document)
        case Operation.TEAM:
            return read_team(document)
        case _:
            known = ", ".join(Operation)
            raise JobRefused("operation", "/operation", f"Say which operation: one of {known}.")
