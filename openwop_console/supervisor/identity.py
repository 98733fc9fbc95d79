"""As whom PostgreSQL runs. It refuses root, so root has to become somebody else for it.

The owner of an existing cluster decides. For a new one a user namespace comes first: files stay
root's and `DATA_DIR` stays closed. Where namespaces are forbidden (most containers) the server runs
as `nobody`. No user is created and no folder above `DATA_DIR` is touched.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
_NAMESPACE = ("--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")


class NoIdentity(RuntimeError):
    """We are root and found no way to start PostgreSQL as anybody else."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"PostgreSQL refuses to run as root, this system allows no user namespace, and no "
            f"other user can reach {path} or the installed programs. Start as an ordinary user, "
            f"put both outside root's home, or set DATABASE_URL."
        )


@dataclass(frozen=True, slots=True)
class Identity:
    """Words to put before a command, and the user to start it as; nothing means as we are."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def own(self, path: Path) -> None:
        """Give a path to this identity."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def identity_for(cluster: Path, program: str) -> Identity:
    """Return as whom to run a server on a cluster that exists or is about to be made.

    Raises:
        NoIdentity: root, and neither a namespace nor another user works.
    """
    if os.geteuid() != 0:
        return Identity()
    found = cluster.stat() if cluster.exists() else None
    if found is not None and found.st_uid != 0:
        return _reaching(Identity(uid=found.st_uid, gid=found.st_gid), cluster, program)
    unshare = shutil.which("unshare")
    if unshare is not None:
        inside = Identity(prefix=(unshare, *_NAMESPACE))
        if _runs(program, inside, cluster.parent):
            return inside
    if found is not None:
        raise NoIdentity(cluster)
    return _reaching(Identity(uid=NOBODY, gid=NOBODY), cluster, program)


def _reaching(identity: Identity, cluster: Path, program: str) -> Identity:
    """Return the identity once it can pass through `DATA_DIR`, whose files stay closed to it."""
    cluster.parent.chmod(0o711)
    if not _runs(program, identity, cluster.parent):
        raise NoIdentity(cluster)
    return identity


def _runs(program: str, identity: Identity, folder: Path) -> bool:
    """Say whether an identity can enter a folder by its path and start a program there."""
    attempt = ("/bin/sh", "-c", 'cd "$1" && exec "$2" --version', "sh", str(folder), program)
    try:
        done = subprocess.run(
            [*identity.prefix, *attempt],
            capture_output=True,
            check=False,
            user=identity.uid,
            group=identity.gid,
            extra_groups=None if identity.uid is None else [],
        )
    except OSError:
        return False
    return done.returncode == 0
