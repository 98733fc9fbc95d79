"""`doctor`: every part asked whether it is well, with what to do when it is not."""

import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import click
import httpx

from openwop_console.cli.instance import NothingRuns, adopt
from openwop_console.cli.options import data_dir, output, show_json
from openwop_console.environment import text
from openwop_console.supervisor.folder import Folder, read_json

LEAST_FREE_BYTES = 1024**3
MOST_CLOCK_SKEW_S = 2.0
SWEEPS = ("hosts", "reviews")
SWEEPS_MISSED = 5
"""Sweeps that may fail to come before the clock or its worker counts as gone."""
LEAST_SWEEP_AGE_S = 60.0
"""Younger than this a sweep is on time on any machine, however busy."""
PING_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One part, how it is, and what to do about it."""

    part: str
    well: bool
    state: str
    fix: str = ""


@click.command("doctor")
@output
@data_dir
@click.pass_context
def command(ctx: click.Context, folder: Folder, *, as_json: bool) -> None:
    """Check Python, servers, migrations, keys, worker, sweeps, disk and clock.

    Exit 1 if anything is bad.
    """
    findings = list(examine(folder))
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = click.style("ok ", fg="green") if finding.well else click.style("bad", fg="red")
            click.echo(f"{mark}  {finding.part:<11} {finding.state}")
            if finding.fix:
                click.echo(f"                 {finding.fix}")
    ctx.exit(0 if all(finding.well for finding in findings) else 1)


def examine(folder: Folder) -> Iterator[Finding]:
    """Yield a finding for every part; what depends on a bad part is not asked."""
    yield python()
    yield disk(folder)
    try:
        adopt(folder)
    except NothingRuns as error:
        yield Finding("console", well=False, state="not running", fix=error.message)
        return
    yield web(folder)
    database = [_asked("postgresql", postgresql)]
    if database[0].well:
        database += [_asked("migrations", migrations), _asked("clock", clock)]
    yield from database
    answered = _asked("redis", redis)
    yield answered
    if answered.well:
        yield _asked("worker", worker)
    if len(database) > 1 and all(finding.well for finding in database[:2]):
        yield _asked("sweeps", sweeps)
        yield _asked("credentials", credentials)


def python() -> Finding:
    """Say which Python this is."""
    well = (3, 11) <= sys.version_info[:2] < (3, 14)
    fix = "" if well else "Install Python 3.11, 3.12 or 3.13 and run `make run` again."
    return Finding("python", well, platform.python_version(), fix)


def disk(folder: Folder) -> Finding:
    """Say how much room there is below the folder, or where it would be made."""
    place = next(path for path in (folder.path, *folder.path.parents) if path.exists())
    free = shutil.disk_usage(place).free
    well = free >= LEAST_FREE_BYTES
    fix = "" if well else f"Free some space on the disk of {place}; PostgreSQL stops when full."
    return Finding("disk", well, f"{free / 1024**3:.1f} GiB free", fix)


def web(folder: Folder) -> Finding:
    """Ask the web process for its health."""
    card = read_json(folder.console_file) if folder.holder() else {}
    url = str(card.get("url") or text("OPENWOP_CONSOLE_URL", "http://127.0.0.1:8000"))
    fix = f"See {folder.path}/logs/web.log, or set OPENWOP_CONSOLE_URL to where it answers."
    try:
        status = httpx.get(f"{url}/healthz", timeout=PING_TIMEOUT_S).status_code
    except httpx.HTTPError as error:
        return Finding("web", well=False, state=f"{url}: {type(error).__name__}", fix=fix)
    well = status == httpx.codes.OK
    return Finding("web", well, f"{url} answers {status}", "" if well else fix)


def postgresql() -> Finding:
    """Ask the database for its version."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('fsync')")
        version, fsync = cursor.fetchone()
    fix = "" if fsync == "on" else "Turn fsync on: without it a power cut loses committed rows."
    return Finding("postgresql", fsync == "on", f"{version}, fsync {fsync}", fix)


def migrations() -> Finding:
    """Say whether the tables are this version's."""
    from openwop_console.supervisor.pending import pending_migrations

    pending = pending_migrations()
    if not pending:
        return Finding("migrations", well=True, state="none pending")
    state = f"{len(pending)} pending, from {pending[0]}"
    return Finding("migrations", well=False, state=state, fix="Run `openwop-console migrate`.")


def clock() -> Finding:
    """Compare our clock with the database's: lateness and leases are counted in both."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        skew = abs(time.time() - cursor.fetchone()[0])
    well = skew <= MOST_CLOCK_SKEW_S
    fix = "" if well else "Run a time service (NTP) on both machines."
    return Finding("clock", well, f"{skew:.2f} s from the database's", fix)


def redis() -> Finding:
    """Ask the broker for an answer."""
    from django.conf import settings
    from redis import Redis

    with Redis.from_url(settings.REDIS_URL, socket_timeout=PING_TIMEOUT_S) as client:
        client.ping()
    return Finding("redis", well=True, state="answers")


def worker() -> Finding:
    """Ask the workers who is there."""
    from openwop_console.celery import app

    answers = app.control.ping(timeout=PING_TIMEOUT_S, limit=1)
    if answers:
        return Finding("worker", well=True, state="answers")
    return Finding(
        "worker",
        well=False,
        state="no answer",
        fix="Decisions wait until one runs: `openwop-console worker`, or see logs/worker.log.",
    )


def sweeps() -> Finding:
    """Say how long ago what was left lying was last looked for."""
    from django.conf import settings
    from django.utils import timezone

    from runs.queries.operating import sweeps as ended

    found = ended(timezone.now())
    fix = "See the logs of beat and worker: gates, claims and lost deliveries wait for a sweep."
    if len(found) < len(SWEEPS):
        return Finding("sweeps", well=False, state="not all came yet", fix=fix)
    age_s = max(age_s for age_s, _ in found.values())
    failed = sum(failed for _, failed in found.values())
    most_s = max(LEAST_SWEEP_AGE_S, SWEEPS_MISSED * settings.SWEEP_INTERVAL_S)
    state = f"the last {age_s:.0f} s ago" + (f", {failed} parts failed" if failed else "")
    well = age_s <= most_s and not failed
    return Finding("sweeps", well, state, "" if well else fix)


def credentials() -> Finding:
    """Try whether what is sealed can be opened: the key may be another's, as after a restore."""
    from runs.sealing import opens
    from verification.queries.operating import sealed

    kept = [opens(each) for each in sealed()]
    if all(kept):
        return Finding("credentials", well=True, state=f"{len(kept)} sealed, all can be opened")
    state = f"{kept.count(False)} of {len(kept)} cannot be opened"
    fix = "Set OPENWOP_CONSOLE_ENCRYPTION_KEY to the key that they were sealed with."
    return Finding("credentials", well=False, state=state, fix=fix)


def _asked(part: str, look: Callable[[], Finding]) -> Finding:
    """Return what a part says, or that it could not be asked. A URL in an error stays unsaid."""
    from django.db import DatabaseError
    from redis import RedisError

    name = {"postgresql": "DATABASE_URL", "redis": "REDIS_URL"}.get(part, "its log")
    try:
        return look()
    except (DatabaseError, RedisError, OSError) as error:
        state = f"cannot be asked ({type(error).__name__})"
        return Finding(part, well=False, state=state, fix=f"Check that it runs, and {name}.")
