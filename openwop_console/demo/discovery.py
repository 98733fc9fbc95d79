"""What the host says it can do: the v1 discovery document.

Version 6 of the execution model with a gating verifier: the host really withholds a result its
critic failed (RFC 0090), so it may say so.
"""

from openwop_console.demo.asgi import JsonObject

BODY_LIMIT = 1_048_576


def discovery(dialect: str) -> JsonObject:
    """The body of `GET /.well-known/openwop`; families live at the root (RFC 0073)."""
    return {
        "protocolVersion": "1.0",
        "implementation": {
            "name": "openwop-console-demo-host",
            "version": "1.0.0",
            "vendor": "openwop-console",
        },
        "supportedEnvelopes": [],
        "schemaVersions": {"runEvent": 1},
        "limits": {
            "clarificationRounds": 3,
            "schemaRounds": 0,
            "envelopesPerTurn": 16,
            "maxNodeExecutions": 1000,
            "maxLoopIterations": 3,
            "maxRequestBodyBytes": BODY_LIMIT,
        },
        "supportedTransports": ["rest"],
        "multiAgent": {
            "executionModel": {
                "supported": True,
                "version": 6,
                "confidenceEscalationFloor": 0.5,
                "confidenceEscalationInterruptKind": "clarification",
                "verifier": {"supported": True, "gating": True},
            }
        },
        "webhooks": {"supported": True, "signatureAlgorithms": ["v1"], "durable": False},
        "dispatch": {"supported": True, "askUserRoutings": ["clarification"]},
        "extensions": {
            "interrupts": {
                "profiles": ["openwop-interrupt-quorum", "openwop-interrupt-external-event"],
                "signedCallbackTokens": True,
            },
            "openwop-console.demo": {"dialect": dialect},
        },
    }
