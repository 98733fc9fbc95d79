"""`DATA_DIR`: where one Console keeps its secrets, its lock, its logs and its embedded servers.

Whoever holds the lock owns everything below the folder. Files that carry a secret are 0600 and
replaced as a whole, so a reader never sees half of one.
"""

import base64
import fcntl
import json
import os
import secrets
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
"""The folder that holds `manage.py`."""

LOG_LIMIT_BYTES = 5 * 1024 * 1024
LOCK_ATTEMPTS = 5
LOCK_PAUSE_S = 0.03


class AlreadyRunning(RuntimeError):
    """Another process serves this folder."""

    def __init__(self, path: Path, pid: int, url: str) -> None:
        self.pid = pid
        self.url = url
        super().__init__(
            f"A Console already runs on {path}: process {pid}, {url}\n"
            f"Stop it with Ctrl-C or `kill {pid}`, or choose another folder with DATA_DIR."
        )


class FolderUnusable(RuntimeError):
    """The folder cannot be made, entered or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"DATA_DIR {path} cannot be used: {reason}.")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a folder's lock, as it wrote itself down."""

    pid: int
    url: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The paths and the few files of one `DATA_DIR`."""

    path: Path

    @property
    def secrets_file(self) -> Path:
        """Return the file of what must survive a restart and nobody else may read."""
        return self.path / "secrets.json"

    @property
    def console_file(self) -> Path:
        """Return the file that tells people and programs how to reach this Console."""
        return self.path / "console.json"

    @property
    def lock_file(self) -> Path:
        """Return the file whose lock says that somebody serves this folder."""
        return self.path / "lock"

    def make(self) -> None:
        """Create the folder, closed to everybody else, with its `logs`.

        Raises:
            FolderUnusable: it is somebody else's, or not a folder.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.stat().st_uid == os.geteuid():
                self.path.chmod(0o700)
            (self.path / "logs").mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FolderUnusable(self.path, error.strerror or str(error)) from error

    def log(self, name: str) -> Path:
        """Return the log file of a child; what outgrew its limit is moved to `<name>.log.1`."""
        path = self.path / "logs" / f"{name}.log"
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))
        return path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for as long as the block runs; the kernel lets go when we die.

        Raises:
            AlreadyRunning: another process holds it.
            FolderUnusable: the lock file cannot be opened.
        """
        try:
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise FolderUnusable(self.path, error.strerror or str(error)) from error
        try:
            if not _taken(descriptor):
                holder = _holder(os.pread(descriptor, 4096, 0))
                raise AlreadyRunning(self.path, holder.pid, holder.url)
            self.announce("still starting")
            yield
        finally:
            os.close(descriptor)

    def announce(self, url: str) -> None:
        """Write into the held lock who holds it and where it answers."""
        note = json.dumps({"pid": os.getpid(), "url": url})
        self.lock_file.write_text(note, encoding="utf-8")

    def holder(self) -> Holder | None:
        """Return who serves this folder now, or None when nobody does."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDONLY)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(os.pread(descriptor, 4096, 0))
        finally:
            os.close(descriptor)
        return None

    def secrets(self) -> dict[str, object]:
        """Return the keys and passwords of this Console, made at the first call."""
        held = read_json(self.secrets_file)
        made = {
            "secretKey": secrets.token_urlsafe(48),
            "encryptionKey": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "postgresPassword": secrets.token_urlsafe(24),
            "redisPassword": secrets.token_urlsafe(24),
            "adminPassword": secrets.token_urlsafe(12),
            "consoleUuid": str(uuid.uuid4()),
        }
        if missing := made.keys() - held.keys():
            held |= {name: made[name] for name in sorted(missing)}
            write_json(self.secrets_file, held)
        return held

    def remember(self, **facts: object) -> None:
        """Add to what `secrets` returns from now on."""
        write_json(self.secrets_file, self.secrets() | facts)


def _taken(descriptor: int) -> bool:
    """Take the lock; a reader that looks who holds it may be in the way for a moment."""
    for _ in range(LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_PAUSE_S)
        else:
            return True
    return False


def _holder(written: bytes) -> Holder:
    """Read a lock file; one caught before its first line is written names nobody."""
    try:
        found = json.loads(written)
        return Holder(int(found["pid"]), str(found["url"]))
    except (ValueError, KeyError, TypeError):
        return Holder(0, "still starting")


def read_json(path: Path) -> dict[str, object]:
    """Return the object in a file, or an empty one when there is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise FolderUnusable(path, "it does not hold JSON") from error
    if not isinstance(found, dict):
        raise FolderUnusable(path, "it does not hold a JSON object")
    return found


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Replace a file, readable by its owner only, so that it is old or new but never half."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
