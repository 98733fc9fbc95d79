"""What the Console says of itself as a host: what it does for its own runs, and not a word more.

Source: OpenWOP capabilities.schema.json (v1 and v2); RFC 0073 (families at the root), RFC 0090 §D.
"""

from typing import Any

from verification.domain.consensus.rules import MOST_ROUNDS
from verification.domain.hosting.majors import SERVED, Major
from verification.domain.jobs.told import CAPABILITIES

_LEVEL = CAPABILITIES["multiAgent"]["executionModel"]["version"]


def discovery(
    major: Major, *, version: str, longest_run_s: int, most_body_bytes: int
) -> dict[str, Any]:
    """Return the discovery document of a major.

    Args:
        major: which document.
        version: of this software.
        longest_run_s: after so many seconds a job has ended.
        most_body_bytes: the largest body taken.
    """
    implementation = {
        "name": "openwop-console",
        "version": version,
        "vendor": "openwop-console",
    }
    if major is Major.V2:
        return {
            "protocolVersions": list(SERVED),
            "preferredVersion": SERVED[-1],
            "eventLogSchemaVersion": 3,
            "implementation": implementation,
            "multiAgent": {
                "status": "experimental",
                "since": "2.0",
                "until": "3.0",
                "witness": "claims-check",
                "executionModel": {"version": _LEVEL, "verifier": {"gating": True}},
            },
        }
    return {
        **CAPABILITIES,
        "implementation": implementation,
        "supportedEnvelopes": [],
        "schemaVersions": {"runEvent": 1},
        "limits": {
            "clarificationRounds": 0,
            "schemaRounds": 0,
            "envelopesPerTurn": 1,
            "maxLoopIterations": MOST_ROUNDS,
            "maxRunDurationMs": longest_run_s * 1000,
            "maxRequestBodyBytes": most_body_bytes,
        },
        "supportedTransports": ["rest"],
    }
