"""The layout of an earlier version of a slicer, from which the days that haven't changed are taken.

Most often days were added at the end. Then a file with so many bytes per record begins as the earlier one
does, and is that one: a further name of it (a hard link), to which the new days are appended. An earlier
layout knows the size of its files and doesn't look beyond. Only who has locked a file appends to it, and only
where nobody has before: so no byte is written twice, and what is mapped doesn't change, whatever happens to
those who build. Elsewhere bytes are copied.

A file that is not taken over byte by byte is verified whole before it is used, and so is one that another
file is made from.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from lib.engines.resident import days
from lib.engines.resident.checksums import DamagedLayout, Sum
from lib.engines.resident.days import EPOCH, Day
from lib.engines.resident.layout import Layout
from lib.slicers.warehouse import StoredSlicer

COPY_BYTES = 1 << 22


@dataclass(frozen=True)
class Earlier:
    """An earlier layout, its days, and where each day of the new one is among them (None: it is not).

    `locks` are those of the files that are appended to.
    """

    layout: Layout
    days: list[Day]
    places: list[int | None]
    locks: ExitStack

    @cached_property
    def matching_days(self) -> int:
        """How many days both begin with."""
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], enumerate(self.places)))

    @property
    def is_whole(self) -> bool:
        """Whether the new layout has all of its days."""
        return len(self.common_places) == len(self.days)

    @property
    def common_places(self) -> list[int]:
        """The places of the days that the new layout has, too."""
        return [place for place in self.places if place is not None]

    def records(self, place: int) -> slice:
        """The records of a day."""
        return slice(int(self.layout.starts[place]), int(self.layout.starts[place + 1]))

    def sum_of(self, file: str) -> Sum:
        """The checksums of a file."""
        return self.layout.contents.sums[file]

    def check(self, *files: str) -> None:
        """Raise DamagedLayout unless every byte of these files is as it was written."""
        for file in files:
            self.sum_of(file).check(self.layout.folder / file)

    def begin(self, path: Path, size: int) -> None:
        """Copy the first `size` bytes of the earlier file of that name; DamagedLayout if it is shorter."""
        source, checksum = self.layout.folder / path.name, self.sum_of(path.name)
        checksum.check_edge(source, size)
        if size == checksum.size and self._continue_file(source, path, size):
            return
        with source.open("rb") as read, path.open("wb") as target:
            while part := read.read(min(COPY_BYTES, size - target.tell())):
                target.write(part)

    def _continue_file(self, source: Path, path: Path, size: int) -> bool:
        """Whether `path` could be made a name of a file that ends at `size`, which is locked then."""
        try:
            handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            self.locks.callback(os.close, handle)  # not at once: a lock ends when its file is closed
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            status = os.fstat(handle)
            if status.st_size != size:
                return False
            os.link(source, path)
        except OSError:
            return False
        # between open and link another file may have got the name
        if path.stat().st_ino == status.st_ino:
            return True
        path.unlink()
        return False


@contextmanager
def find_earlier(slicer: StoredSlicer, recipe: str) -> Iterator[Earlier | None]:
    """The layout of another version that shares most records, or None; its locks end with the context."""
    target = slicer.layout_folder
    folders = sorted(target.parent.iterdir()) if target.parent.exists() else []
    with ExitStack() as locks:
        candidates = [
            _shareable(slicer, folder, recipe, locks)
            for folder in folders
            if folder != target and not folder.suffix
        ]
        yield max(
            filter(None, candidates),
            key=lambda earlier: sum(earlier.days[place].records for place in earlier.common_places),
            default=None,
        )


def _shareable(slicer: StoredSlicer, folder: Path, recipe: str, locks: ExitStack) -> Earlier | None:
    """The layout in a folder, if it was made by the same recipe and shares a day."""
    try:
        layout = Layout(folder)
        layout.contents.sums[days.DAYS].check(folder / days.DAYS)
        old_days = days.load(folder, recipe, layout.contents.hour_sums)
    except (DamagedLayout, OSError):
        return None
    if old_days is None:
        return None
    place = {day.day: number for number, day in enumerate(old_days)}
    places = []
    for day in slicer.files:
        number = place.get((day - EPOCH).days)
        is_same = number is not None and old_days[number].origin == days.origin(slicer, day)
        places.append(number if is_same else None)
    return Earlier(layout, old_days, places, locks) if any(number is not None for number in places) else None
