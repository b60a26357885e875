"""From a slicer's Parquet rows to its resident layout: only days that changed are made from rows."""

import fcntl
import logging
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.reporting.engines.resident import days
from lib.reporting.engines.resident.builder import Builder, Progress
from lib.reporting.engines.resident.checksums import DamagedLayout, OtherFormat
from lib.reporting.engines.resident.earlier import Earlier, find_earlier
from lib.reporting.engines.resident.layout import Layout
from lib.reporting.warehouse import StoredSlicer
from lib.reporting.warehouse.slicer import read_manifest

ENDING = ".draft"
_log = logging.getLogger(__name__)
SEED = 20_151


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
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
        # before the lock ends: somebody else would take a half-removed draft for one that was left behind
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


def build(slicer: StoredSlicer, progress: Progress | None = None, seed: int = SEED) -> Path:
    """Make the layout of the slicer's version if it is not there whole, and return its folder.

    It is put together beside its place and renamed into it: a layout is whole or absent, and two processes
    that build the same one don't meet. One that is damaged is put aside. `progress` is told the share done,
    0 to 1. Damaged names a file of rows that can't be read.
    """
    target = slicer.layout_folder
    if _is_whole(target, slicer):
        return target
    report = progress or (lambda share: None)
    with find_earlier(slicer, days.recipe(slicer.definition, seed)) as earlier:
        try:
            _build(slicer, target, report, seed, earlier)
        except (DamagedLayout, FileNotFoundError) as problem:
            if earlier is None:
                raise
            _discard(slicer, earlier, problem)
            _build(slicer, target, report, seed, None)
        if _is_current(slicer):
            _forget_others(target)
    return target


def _build(
    slicer: StoredSlicer, target: Path, progress: Progress, seed: int, earlier: Earlier | None
) -> None:
    """Put the layout together in a draft, and that in its place."""
    with draft_folder(target) as draft:
        try:
            Builder(slicer, draft, seed, earlier).build(progress)
            draft.rename(target)
        except OSError:
            # another process was quicker with the same layout: a folder can't be renamed onto one with files
            if not _is_whole(target, slicer):
                raise


def _discard(slicer: StoredSlicer, earlier: Earlier, problem: Exception) -> None:
    """An earlier layout that is damaged is put aside; one that somebody else removed needs no message."""
    if isinstance(problem, DamagedLayout) and earlier.layout.folder.exists():
        log_damage(slicer, problem.reason)
        put_aside(earlier.layout.folder)


def put_aside(layout: Path) -> None:
    """Take a layout away, so that another can be built; whoever has it open keeps its maps."""
    aside = layout.with_name(f"{layout.name}.{uuid.uuid4().hex}.damaged")
    try:
        layout.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _is_whole(layout: Path, slicer: StoredSlicer) -> bool:
    """Whether it is there, by its sizes; what is damaged or of another version is put aside, and said."""
    if not layout.exists():
        return False
    try:
        Layout(layout)
    except OtherFormat as other:
        text = "The layout of %s/%s is another version's (%s); it is rebuilt from the rows"
        _log.info(text, slicer.project, slicer.name, other.reason)
        put_aside(layout)
        return False
    except DamagedLayout as damage:
        log_damage(slicer, damage.reason)
        put_aside(layout)
        return False
    return True


def log_damage(slicer: StoredSlicer, reason: str) -> None:
    """For the log: what is damaged, and what happens now."""
    _log.warning(
        "The layout of %s/%s is damaged (%s); it is rebuilt from the rows",
        slicer.project,
        slicer.name,
        reason,
    )


def _is_current(slicer: StoredSlicer) -> bool:
    """Whether no later import has been committed; a layout that is finished late leaves the later one's."""
    manifest = read_manifest(slicer.folder)
    return manifest is None or manifest.version == slicer.version


def _forget_others(target: Path) -> None:
    """Remove the layouts of earlier versions, and drafts that were left; who has one open keeps its maps."""
    for other in target.parent.iterdir():
        if other != target and not is_in_use(other):
            shutil.rmtree(other, ignore_errors=True)
