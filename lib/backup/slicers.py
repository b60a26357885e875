"""The slicers as they are at one moment, while imports go on.

A slicer is what its manifest names (lib/reporting/warehouse/manifest.py), and files that a manifest names
never change: they are only removed, some imports later. So each of them gets a second name (a hard link) in
a folder of ours first, and is copied from there: an import may take its time, or the first name away.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lib import private
from lib.backup.archive import Archive
from lib.backup.contents import HOME, WAREHOUSE, member_of
from lib.reporting.warehouse.manifest import MANIFEST, Manifest, day_folder, manifest_of
from lib.wire.errors import Misconfigured, StoreUnavailable

HELD = ".backup"  # below the warehouse, so on its disk; no slicer has such a name
ATTEMPTS = 20


@dataclass(frozen=True)
class HeldSlicer:
    """A slicer at one moment: its folder, its manifest as it was read, and the held name of each file."""

    folder: Path
    content: bytes
    files: dict[str, Path]

    @property
    def manifest(self) -> Manifest:
        """The manifest."""
        return manifest_of(self.content, self.folder)

    def digests(self) -> dict[str, str]:
        """The beginning of the digest that each file must have, where it is known."""
        rows = {
            f"{day_folder(day)}/{part.file}": part.digest
            for day, parts in self.manifest.days.items()
            for part in parts
        }
        return rows | {path: Path(path).stem for path in self.manifest.mappings.values()}


@contextmanager
def hold(warehouse: Path) -> Iterator[list[HeldSlicer]]:
    """Every slicer of this moment, to be read until the end of the block. One caller at a time.

    Misconfigured for a slicer that lacks a file or has a damaged manifest.
    """
    links = warehouse / HELD
    shutil.rmtree(links, ignore_errors=True)  # of a backup that was killed
    try:
        folders = sorted(path.parent for path in warehouse.glob(f"*/*/{MANIFEST}"))
        yield [_hold(folder, links / str(number)) for number, folder in enumerate(folders)]
    finally:
        shutil.rmtree(links, ignore_errors=True)


def add_slicer(archive: Archive, slicer: HeldSlicer) -> None:
    """Write a slicer. Misconfigured for a file that is not as it was imported: such a backup is none."""
    inside = slicer.folder.relative_to(slicer.folder.parent.parent).as_posix()
    digests = slicer.digests()
    for relative, path in slicer.files.items():
        member = archive.add(member_of(HOME, WAREHOUSE, inside, relative), path)
        if not member.sha256.startswith(digests.get(relative, "")):
            raise Misconfigured(
                f"{slicer.folder / relative} is damaged: its bytes are not those that were written. Restore "
                "it from an earlier backup or import it again; `tranche verify` lists all damaged files"
            )
    archive.add_bytes(member_of(HOME, WAREHOUSE, inside, MANIFEST), slicer.content)


def _hold(folder: Path, links: Path) -> HeldSlicer:
    """Imports go on: a file that is gone belonged to a version that is over, so that the next is taken."""
    seen: bytes | None = None
    for _ in range(ATTEMPTS):
        content = (folder / MANIFEST).read_bytes()
        names = sorted(manifest_of(content, folder).files())
        private.folder(links)
        try:
            files = {name: _linked(folder / name, links / str(at)) for at, name in enumerate(names)}
            return HeldSlicer(folder, content, files)
        except FileNotFoundError as error:
            if content == seen:
                raise Misconfigured(
                    f"{error.filename} is missing: restore it from an earlier backup, or import it again"
                ) from None
            seen = content
        shutil.rmtree(links)
    raise StoreUnavailable(f"{folder} changes too quickly to be backed up; try again")


def _linked(path: Path, name: Path) -> Path:
    name.hardlink_to(path)
    return name
