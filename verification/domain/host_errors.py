"""What a host's refusal means to a person: one sentence per error code.

Codes are those of the OpenWOP registry (v1 and v2) that can answer a resolve, and the spellings
that live hosts use instead. An unknown code falls back to its HTTP status. The host's own message
is never repeated: it may quote what was sent.
"""

from collections.abc import Mapping
from types import MappingProxyType

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "validation_error": "The host says the decision is not of the form it asked for.",
        "correlation_mismatch": "The host says the event is not the one it waits for.",
        "idempotency_key_invalid": "The host does not accept the form of our idempotency key.",
        "idempotency_key_mismatch": (
            "The host has seen this decision's key with other content; somebody must look."
        ),
        "idempotency_in_flight": "The host is still working on an earlier attempt.",
        "protocol_version_mismatch": "The host speaks another protocol version than configured.",
        "protocol_version_unsupported": "The host does not speak the configured protocol version.",
        "client_version_unsupported": "The host wants a newer client than this Console.",
        "unauthenticated": "The host does not accept the API key we hold for it.",
        "key_expired": "The API key we hold for the host has expired.",
        "key_revoked": "The API key we hold for the host was revoked.",
        "credential_revoked": "The credential we hold for the host was revoked.",
        "audience_mismatch": "The credential we hold is for another host.",
        "identity_unverified": "The host cannot verify who we are.",
        "identity_unresolvable": "The host does not know who we are.",
        "sender_constraint_missing": "The host wants proof of possession that we did not send.",
        "interrupt_token_invalid": "The host does not accept the token of this interrupt.",
        "forbidden": "The API key we hold may not answer interrupts (scope approvals:respond).",
        "run_forbidden": "The API key we hold may not touch this run.",
        "id_tenant_mismatch": "The run belongs to another tenant than the API key we hold.",
        "workspace_membership_required": "The host wants us to be a member of its workspace.",
        "tenant_membership_required": "The host wants us to be a member of its tenant.",
        "not_found": "The host does not know this run or node.",
        "run_not_found": "The host does not know this run.",
        "interrupt_not_found": "The host has no open interrupt here.",
        "interrupt_already_resolved": "Somebody has already answered this interrupt.",
        "run_already_active": "The run is already going on.",
        "run_terminal": "The run has ended.",
        "run_state_conflict": "The run is in a state in which it takes no answer.",
        "version_conflict": "The run changed on the host in the meantime.",
        "interrupt_expired": "The host's interrupt has expired.",
        "interrupt_cancelled": "The run was cancelled while it waited.",
        "interrupt_gone": "The run was cancelled while it waited.",
        "run_expired": "The host no longer keeps this run.",
        "approval_rejected": "The host ended the run because the approval was rejected.",
        "payload_too_large": "The decision is larger than the host accepts.",
        "unsupported_media_type": "The host does not accept JSON here.",
        "capability_required": "The host lacks a capability that this interrupt needs.",
        "capability_not_provided": "The host does not offer this way of answering.",
        "credential_required": "The host wants a credential to be connected first.",
        "rate_limited": "The host asks us to slow down.",
        "internal_error": "The host failed while it handled the decision.",
        "residency_unavailable": "The host cannot serve this region at the moment.",
        "runner_unavailable": "The host has no runner free at the moment.",
        "service_unavailable": "The host is not available at the moment.",
        "upstream_unavailable": "A service behind the host is not available at the moment.",
    }
)

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "idempotency_key_conflict": "idempotency_key_mismatch",
        "idempotency_key_replay_mismatch": "idempotency_key_mismatch",
    }
)
"""Live spellings of registered codes."""

_BY_STATUS: Mapping[int, str] = MappingProxyType(
    {
        400: "The host could not use the decision.",
        401: "The host does not accept the API key we hold for it.",
        403: "The host does not let us answer this interrupt.",
        404: "The host has no open interrupt here.",
        405: "The host does not offer this way of answering.",
        408: "The host waited too long for our request.",
        409: "The host says this was answered or changed already.",
        410: "The host says the interrupt is gone.",
        429: "The host asks us to slow down.",
    }
)
_UNANSWERED: Mapping[str, str] = MappingProxyType(
    {
        "timeout": "The host did not answer in time; whether it took the decision is not known.",
        "reset": "The connection broke; whether the host took the decision is not known.",
        "garbled": "What came back was not HTTP; whether the host took the decision is not known.",
        "refused": "Nothing listens at the host's address.",
        "tls": "The host's certificate could not be verified.",
        "name": "The host's name could not be resolved.",
        "slow": "The host could not be reached in time.",
    }
)


def canonical_code(code: str) -> str:
    """Return the registered spelling of a code; a vendor prefix such as `openwop-app.` goes."""
    bare = code.rpartition(".")[2]
    return ALIASES.get(bare, bare)


def sentence(status: int | None, code: str, why: str = "") -> str:
    """Return one sentence for a person.

    Args:
        status: HTTP status; None when no answer came.
        code: the host's `error`, or empty.
        why: without an answer, the short word for what happened.
    """
    if status is None:
        return _UNANSWERED.get(why, "The host could not be reached.")
    if known := SENTENCES.get(canonical_code(code)):
        return known
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return f"{_family(status)} (status {status})."


def _family(status: int) -> str:
    match status // 100:
        case 2:
            return "The host took the decision"
        case 3:
            return "The host answered with a redirect, which is never followed"
        case 4:
            return "The host refused the decision"
        case _:
            return "The host failed while it handled the decision"
