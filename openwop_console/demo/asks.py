"""The questions that scripts put to a person."""

from collections.abc import Mapping

from openwop_console.demo.interrupts import Ask, Kind


def approval(
    node: str, *, title: str, description: str, artifact_id: str, artifact_type: str
) -> Ask:
    """A question whether a result may be used: accept, reject, or refine."""
    return Ask(
        Kind.APPROVAL,
        node,
        {
            "artifactId": artifact_id,
            "artifactType": artifact_type,
            "title": title,
            "description": description,
            "actions": ["accept", "reject", "refine"],
            "requiredApprovals": 1,
        },
        resume_schema={
            "type": "object",
            "required": ["action"],
            "properties": {"action": {"enum": ["accept", "reject", "refine"]}},
        },
    )


def clarification(node: str, questions: Mapping[str, str], *, cause: str | None = None) -> Ask:
    """Questions that need a text each; `questions` maps ids to what is asked."""
    asked = [
        {"id": key, "question": text, "schema": {"type": "string"}}
        for key, text in questions.items()
    ]
    return Ask(Kind.CLARIFICATION, node, {"questions": asked}, cause=cause)
