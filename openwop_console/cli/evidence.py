"""`evidence`: checks a signed finding far from the Console that signed it."""

from collections.abc import Mapping
from typing import IO, Any

import click

from openwop_console.cli.options import output, show_json
from verification.domain.evidence import Checked, NotEvidence, OtherKey, SignatureBroken, check


@click.group("evidence")
def command() -> None:
    """Check signed evidence."""


@command.command("verify")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@click.option(
    "--key",
    "expected",
    default="",
    metavar="KEY",
    help="Key id or public key that it must be signed with, as the Console shows it.",
)
@output
@click.pass_context
def verify(ctx: click.Context, file: IO[bytes], expected: str, *, as_json: bool) -> None:
    """Say whether FILE is whole, and signed with KEY. Needs no Console and no network.

    Exit code 0: it is. 1: it was changed, or somebody else signed it. 2: it is no evidence file.
    """
    try:
        checked = check(file.read(), expected)
    except (SignatureBroken, OtherKey) as error:
        _tell(str(error), {"valid": False, "reason": str(error)}, as_json=as_json)
        ctx.exit(1)
    except NotEvidence as error:
        _tell(str(error), {"valid": False, "reason": str(error)}, as_json=as_json)
        ctx.exit(2)
    found = {"valid": True, "keyId": checked.key_id, "publicKey": checked.public_key}
    _tell(_said(checked, expected), found, as_json=as_json)


def _tell(sentence: str, document: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(document)
    else:
        click.echo(sentence)


def _said(checked: Checked, expected: str) -> str:
    lines = [*_about(checked.document), f"Signed with key {checked.key_id}."]
    if not expected:
        lines.append("Whose key that is, the file cannot say: compare it with the Console's.")
    return "\n".join(lines)


def _about(document: Mapping[str, Any]) -> list[str]:
    """Say what the file is about, as far as it is about a finding."""
    finding, run = document.get("finding"), document.get("run")
    if not isinstance(finding, dict) or not isinstance(run, dict):
        return [f"Whole: {document.get('type', 'signed document')}."]
    what = f"{finding.get('kind')} ({finding.get('severity')}, {finding.get('status')})"
    where = f"run {run.get('runId')} of host {run.get('host')}"
    issued = f"issued {document.get('issuedAt')}"
    return [f"Whole: {what} in {where}, {issued}.", str(finding.get("explanation"))]
