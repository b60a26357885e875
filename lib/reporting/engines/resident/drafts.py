"""Folders in which a layout is put together: held by who works on them, so that a left one is known."""

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDING = ".draft"


@contextmanager
def begun(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, gone afterwards unless it was renamed.

    The kernel lets go of it when the process ends, however that happens.
    """
    draft = target.with_name(f"{target.name}.{uuid.uuid4().hex}{ENDING}")
    draft.mkdir(parents=True)
    handle = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


def is_in_use(folder: Path) -> bool:
    """Whether somebody works on this draft; an empty one may have been made a moment ago, and is left."""
    if not folder.name.endswith(ENDING):
        return False
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return not any(folder.iterdir())
    finally:
        os.close(handle)
