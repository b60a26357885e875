"""Files that only their owner may read: written whole or not at all, and by one process at a time."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from lib.wire.errors import StoreUnavailable

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def folder(path: Path) -> Path:
    """Make the folder, with its parents, if it is not there, closed to everybody else; returns it.

    Here and below StoreUnavailable says which file or folder can't be written: no room, no permission.
    """
    with _write_whole(path):
        path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def write(path: Path, text: str) -> None:
    """Replace the file's content in one step: a reader sees the old text or the new one, never a part."""
    with _write_whole(folder(path.parent)):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with _write_whole(path):
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def closed_to_others() -> None:
    """Restrict all files and folders that this process creates from now on to their owner."""
    os.umask(0o777 & ~FOLDER_MODE)


def close(home: Path) -> None:
    """Restrict all files and folders below this one to their owner; those of other owners are not changed.

    Another process may remove some meanwhile: SQLite does with the files beside its database.
    """
    below = (Path(folder, name) for folder, *names in os.walk(home) for name in chain(*names))
    for path in chain((home,), below):
        with suppress(FileNotFoundError):
            state = path.lstat()
            mode = stat.S_IMODE(state.st_mode)
            if mode & 0o077 and state.st_uid == os.geteuid() and not stat.S_ISLNK(state.st_mode):
                path.chmod(mode & FOLDER_MODE)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock against other threads and processes (`<path>.lock` beside the file)."""
    lock_path = path.with_name(f"{path.name}.lock")
    with _write_whole(folder(path.parent)):
        handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def process_lock(path: Path, *, is_shared: bool = False) -> Iterator[int]:
    """Hold the file for this process; gives 0, or the number of the process that holds it (-1: unknown).

    `is_shared`: others may hold it too who say the same. The kernel lets go of it when the process ends,
    however that happens.
    """
    with _write_whole(folder(path.parent)):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            number = os.read(handle, 32).decode("ascii", "replace").strip()
            yield int(number) if number.isdecimal() and int(number) > 0 else -1
        else:
            with _write_whole(path):
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            yield 0
    finally:
        os.close(handle)


@contextmanager
def _write_whole(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{path} can't be written: {error.strerror or error}. Nothing was changed"
        raise StoreUnavailable(reason) from error
