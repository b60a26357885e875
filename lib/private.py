"""Files that only their owner may read: written whole or not at all, and by one process at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def folder(path: Path) -> Path:
    """Make the folder, with its parents, if it is not there, closed to everybody else; returns it."""
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def write(path: Path, text: str) -> None:
    """Replace the file's content in one step: a reader sees the old text or the new one, never a part."""
    with _written_beside(path, text) as temporary:
        temporary.replace(path)


def write_once(path: Path, text: str) -> str:
    """Write the file in one step unless it is there; returns what it holds then."""
    with _written_beside(path, text) as temporary:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return path.read_text(encoding="utf-8")
    return text


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other threads and processes that use `locked` for this path waiting (`<path>.lock` beside it)."""
    folder(path.parent)
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _written_beside(path: Path, text: str) -> Iterator[Path]:
    """A temporary file in the same folder, with this text safe on the disk; gone afterwards."""
    handle, name = tempfile.mkstemp(dir=folder(path.parent), prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
