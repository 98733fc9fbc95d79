"""`jobs`: judges, tasks and teams from the command line. Speaks to the API with a host key.

Exit codes of `run --wait` and `watch` are those of `gate check`: 0 pass, 1 fail, 2 revise, 5 error;
3 when the job has not ended in time, or nobody was asked to judge.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeVar

import click
import httpx

from openwop_console.cli import options
from openwop_console.cli.gate import FailsClosed
from openwop_console.cli.instance import address_and_key
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

PASS, FAIL, REVISE, PENDING, ERROR = 0, 1, 2, 3, 5
_EXIT = {"pass": PASS, "fail": FAIL, "revise": REVISE}
_LOOK_EVERY_S = 0.5
_Command = TypeVar("_Command", bound=Callable[..., object])


class CallFailed(click.ClickException):
    """The Console did not do what was asked."""

    exit_code = ERROR


def reaching(command: _Command) -> _Command:
    """Add which Console is asked and as whom, the data folder and the output format."""
    return options.reaching(data_dir(output(command)))


@click.group("jobs")
def command() -> None:
    """Start jobs, look at them, approve their plans, cancel them."""


@command.command("run", cls=FailsClosed)
@click.argument("prompt", required=False)
@click.option(
    "--file", "request", type=click.File("r"), help="The whole request as JSON; -: stdin."
)
@click.option("--answer", help="The answer to judge; without it the proposer answers.")
@click.option("--proposer", metavar="NAME=MODEL", help="Who answers, or revises.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="NAME=MODEL[=SETTINGS]",
    help='Repeat for each: j1=openai:gpt-4o-mini, or len=rule:length={"minimum":20}.',
)
@click.option("--quorum", type=int)
@click.option("--rounds", "maxRounds", type=int)
@click.option("--on-dissent", "onDissent", type=click.Choice(["revise", "reject", "keep"]))
@click.option("--mode", type=click.Choice(["refute", "lens"]))
@click.option("--budget", "maxTokenBudget", type=int, help="Tokens that it may cost.")
@click.option("--run", "runId", help="A host's run that the verdict is about.")
@click.option("--target", help="The result in that run.")
@click.option("--wait", type=click.FloatRange(0), metavar="SECONDS", help="Wait for the verdict.")
@reaching
@click.pass_context
def run(
    ctx: click.Context,
    /,
    folder: Folder,
    url: str | None,
    key: str | None,
    request: IO[str] | None,
    judges: tuple[str, ...],
    wait: float | None,
    *,
    as_json: bool,
    **given: Any,
) -> None:
    """Start a consensus on PROMPT, or whatever --file asks for, and print the job.

    A file may ask for runConsensus, runTasks or runTeam. Without --wait it returns at once.
    """
    document = {"operation": "runConsensus"} | (_object(request) if request else {})
    document |= {name: value for name, value in given.items() if value is not None}
    if judges:
        document["judges"] = [_judge(each) for each in judges]
    if given.get("proposer"):
        document["proposer"] = _judge(given["proposer"])
    with _client(folder, url, key) as client:
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        job = _asked(client, "POST", "/api/v1/jobs", json=document, headers=headers)
        if wait is not None:
            job = _until_ended(client, job["id"], wait, None)
    _show(job, as_json=as_json)
    if wait is not None:
        ctx.exit(_exit_code(job))


@command.command("get")
@click.argument("job")
@reaching
def get(folder: Folder, url: str | None, key: str | None, job: str, *, as_json: bool) -> None:
    """Print one job."""
    with _client(folder, url, key) as client:
        _show(_asked(client, "GET", f"/api/v1/jobs/{job}"), as_json=as_json)


@command.command("watch", cls=FailsClosed)
@click.argument("job")
@click.option("--wait", type=click.FloatRange(0), default=3600.0, metavar="SECONDS")
@reaching
@click.pass_context
def watch(
    ctx: click.Context,
    folder: Folder,
    url: str | None,
    key: str | None,
    job: str,
    wait: float,
    *,
    as_json: bool,
) -> None:
    """Print every vote as it comes, until the job ends."""
    with _client(folder, url, key) as client:
        ended = _until_ended(client, job, wait, None if as_json else _say_vote)
    _show(ended, as_json=as_json)
    ctx.exit(_exit_code(ended))


@command.command("cancel")
@click.argument("job")
@reaching
def cancel(folder: Folder, url: str | None, key: str | None, job: str, *, as_json: bool) -> None:
    """Stop a job; nothing of it passes."""
    with _client(folder, url, key) as client:
        _show(_asked(client, "POST", f"/api/v1/jobs/{job}/cancel"), as_json=as_json)


@command.command("approve")
@click.argument("job")
@click.option("--refuse", is_flag=True, help="Do not let the plan run; the job ends.")
@click.option("--plan", type=click.File("r"), help="The plan to run instead, as JSON; -: stdin.")
@click.option(
    "--seen",
    metavar="DIGEST",
    help="Of the plan you looked at; without it you are shown and asked.",
)
@reaching
def approve(
    folder: Folder,
    url: str | None,
    key: str | None,
    job: str,
    plan: IO[str] | None,
    seen: str | None,
    *,
    refuse: bool,
    as_json: bool,
) -> None:
    """Let the plan of a team run that waits for approval; takes a personal token as its key.

    What is decided on is the plan that was shown here, or that `jobs get` showed with its digest.
    """
    decision: dict[str, Any] = {"approve": not refuse}
    if plan is not None:
        decision["plan"] = _document(plan)
    with _client(folder, url, key) as client:
        path = f"/api/v1/jobs/{job}"
        decision["seenDigest"] = seen or _seen(_asked(client, "GET", path), decision)
        _show(_asked(client, "POST", f"{path}/plan", json=decision), as_json=as_json)


def _seen(job: dict[str, Any], decision: dict[str, Any]) -> str:
    """Show the plan that waits and ask; return its digest."""
    if not (job.get("plan") or {}).get("awaitsApproval"):
        raise CallFailed("This job does not wait for a plan to be approved.")
    _show_plan(job["plan"], err=True)
    question = "Run another plan instead" if "plan" in decision else "Run it"
    click.confirm(f"{question if decision['approve'] else 'Refuse it'}?", abort=True, err=True)
    return str(job["plan"]["seenDigest"])


def _show_plan(plan: dict[str, Any], *, err: bool = False) -> None:
    """Print the plan that waits, on the error stream where the output is something else."""
    click.echo(json.dumps(plan["proposed"], indent=2, ensure_ascii=False), err=err)
    click.echo(f"Digest: {plan['seenDigest']}", err=err)


@command.command("list")
@click.option("--state", type=click.Choice(["queued", "running", "done", "broken"]))
@reaching
def list_(
    folder: Folder, url: str | None, key: str | None, state: str | None, *, as_json: bool
) -> None:
    """List jobs, newest first."""
    with _client(folder, url, key) as client:
        found = _asked(client, "GET", "/api/v1/jobs", params={"state": state} if state else {})
    if as_json:
        show_json(found["jobs"])
    else:
        columns = ("id", "state", "verdict", "basis", "rounds", "createdAt")
        rows = [
            {**job, "state": job["phase"]} if not job["endedAt"] else job for job in found["jobs"]
        ]
        show_table(rows, columns)


def _document(file: IO[str]) -> Any:
    try:
        return json.load(file)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{file.name} is not JSON.") from error


def _object(file: IO[str]) -> dict[str, Any]:
    found = _document(file)
    if not isinstance(found, dict):
        raise click.UsageError(f"{file.name} is not a JSON object.")
    return found


def _judge(words: str) -> dict[str, Any]:
    name, _, rest = words.partition("=")
    model, _, settings = rest.partition("=")
    if not name or not model:
        raise click.UsageError("Judges and proposers are written NAME=MODEL.")
    agent: dict[str, Any] = {"name": name, "model": model}
    if settings:
        try:
            agent["settings"] = json.loads(settings)
        except ValueError as error:
            raise click.UsageError(f"The settings of {name} are not JSON.") from error
    return agent


@contextmanager
def _client(folder: Folder, url: str | None, key: str | None) -> Iterator[httpx.Client]:
    url, key = address_and_key(folder, url, key)
    headers = {"Authorization": f"Bearer {key}"}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
            yield client
    except httpx.TransportError as error:
        raise CallFailed(f"The Console cannot be reached ({type(error).__name__}).") from error


def _asked(client: httpx.Client, method: str, path: str, **more: Any) -> dict[str, Any]:
    answer = client.request(method, path, **more)
    try:
        body: dict[str, Any] = answer.json()
    except ValueError as error:
        raise CallFailed(f"The Console answered {answer.status_code}.") from error
    if answer.is_error:
        pointer = body.get("details", {}).get("pointer", "")
        raise CallFailed(f"{body.get('message')}{f' ({pointer})' if pointer else ''}")
    return body


def _until_ended(
    client: httpx.Client,
    job: str,
    wait: float,
    say: Callable[[dict[str, Any]], None] | None,
) -> dict[str, Any]:
    deadline, told = time.monotonic() + wait, 0
    while True:
        found = _asked(client, "GET", f"/api/v1/jobs/{job}")
        for vote in found["votes"][told:]:
            if say is not None:
                say(vote)
        told = len(found["votes"])
        if found["endedAt"] or time.monotonic() > deadline:
            return found
        time.sleep(_LOOK_EVERY_S)


def _say_vote(vote: dict[str, Any]) -> None:
    word = "accepts" if vote["accepted"] else "fails" if vote["callFailed"] else "dissents"
    task = f"task {vote['task']}  " if vote["task"] else ""
    click.echo(f"{task}round {vote['round']}  {vote['judge']} {word}")


def _show(job: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(job)
        return
    why = job["basis"] or job["brokenBecause"]
    said = f"{job['verdict'] or 'no verdict'} ({why})" if job["endedAt"] else job["phase"]
    click.echo(f"{job['id']}  {said}")
    for task in job.get("tasks", []):
        judged = f", {task['verdict']}" if task["verdict"] else ""
        click.echo(f"  {task['number']:>3}  {task['state']}{judged}  {task['title']}")
    if (job.get("plan") or {}).get("awaitsApproval"):
        _show_plan(job["plan"])
    for critique in (job.get("result") or {}).get("dissent", []):
        click.echo(f"  {critique}")


def _exit_code(job: dict[str, Any]) -> int:
    return _EXIT.get(job["verdict"] or "", PENDING)
