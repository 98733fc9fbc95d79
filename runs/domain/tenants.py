"""Whose a run id is: a tenant-bound one names its tenant, and a host speaks for its own only.

Source: OpenWOP v2 identity.md §5, `id_tenant_mismatch`.
"""

import re

from runs.domain.log import Envelope
from runs.domain.refusals import Refused

TENANT_MISMATCH = "id_tenant_mismatch"
_TENANT = re.compile(r"(anon:)?[A-Za-z0-9._~-]{1,128}")


def is_tenant(name: str) -> bool:
    """Say whether a tenant may be called so. Source: OpenWOP v2 identity.md §5, `tenantId`."""
    return _TENANT.fullmatch(name) is not None


def is_foreign(run_id: str, tenant: str) -> bool:
    """Say whether a run id is bound to another tenant. Opaque ids are bound to none."""
    bound_to, slash, _ = run_id.partition("/")
    return bool(tenant and slash) and bound_to != tenant


def fault_in_tenant(envelope: Envelope, tenant: str) -> Refused | None:
    """Why an event is not its host's to send; None if it is, or its host's tenant is not known."""
    if not is_foreign(envelope.run_id, tenant):
        return None
    return Refused(
        error=TENANT_MISMATCH,
        reason="tenant_mismatch",
        pointer="/runId",
        event_id=envelope.event_id,
        sequence=envelope.sequence,
    )
