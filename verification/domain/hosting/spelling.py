"""How a run of the Console is spelled in each major: its id, its owner, its events.

The log is the same; v2 has other names for some types, closed payloads, and ids that name their
tenant. Source: OpenWOP run-event.schema.json and run-event-payloads.schema.json (v1 and v2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.domain.codemap import V1_NAMES
from verification.domain.hosting.majors import Major

_V2_NAMES = {v1: v2 for v2, v1 in V1_NAMES.items()}
SCHEMA_VERSION = 1
ERA = {Major.V1: 2, Major.V2: 3}
"""`eventLogSchemaVersion` of each major."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose run it is."""

    tenant: str
    """Slug of the workspace."""
    name: str
    """An opaque name of whoever started it."""
    is_person: bool
    issuer: str
    """Address of this Console."""

    def document(self, major: Major) -> dict[str, Any]:
        """Return the owner as a major spells it."""
        if major is Major.V1:
            return {"tenant": self.tenant, "workspace": self.tenant, "principal": self.name}
        return {
            "tenant": self.tenant,
            "workspace": self.tenant,
            "subject": {
                "issuer": self.issuer,
                "subjectId": self.name,
                "tenant": self.tenant,
                "lane": "session" if self.is_person else "api-key",
                "kind": "user" if self.is_person else "workload",
            },
        }


def run_id(bare: str, tenant: str, major: Major) -> str:
    """Return the id under which a client of a major knows a run."""
    return f"{tenant}/{bare}" if major is Major.V2 else bare


def parts_of(sent: str) -> tuple[str, str]:
    """Return the tenant that a run id names, empty where it names none, and the bare id."""
    tenant, _, bare = sent.rpartition("/")
    return tenant, bare


def event(stored: Mapping[str, Any], owner: Owner, major: Major) -> dict[str, Any]:
    """Return an event as a major spells it; `stored` is as our own API shows it, a v1 event."""
    spelled = {**stored, "schemaVersion": SCHEMA_VERSION}
    if major is Major.V1:
        return spelled
    spelled["runId"] = run_id(stored["runId"], owner.tenant, major)
    spelled["type"] = _V2_NAMES.get(stored["type"], stored["type"])
    spelled["payload"] = _payload(stored["type"], stored["payload"], owner)
    return spelled


def _payload(type_: str, payload: Mapping[str, Any], owner: Owner) -> Mapping[str, Any]:
    match type_:
        case "run.started":
            inputs = {"operation": payload.get("operation")}
            return {
                "workflowId": payload["workflowId"],
                "inputs": inputs,
                "owner": owner.document(Major.V2),
            }
        case "run.completed":
            return {"outputs": {}, **payload}
        case _:
            return payload
