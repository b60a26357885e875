"""Time zones by the newest data on this machine: the locked package tzdata, or a system copy that is newer.

zoneinfo by itself takes the system's copy, which may be years old: clocks of whole countries are then an hour
off. Nothing is set for the whole process, since the Python client runs in other people's programs.
"""

import datetime as dt
import zoneinfo
from collections.abc import Callable
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DATA, VERSION_LINE = "tzdata.zi", "# version "
MONTHS_UNTIL_OLD = 4


class ZoneData(NamedTuple):
    """A copy of the data: its version, as 2026f ("" where it doesn't say), and its folder."""

    version: str
    folder: Traversable

    @property
    def order(self) -> tuple[str, int, str]:
        """By this the newest comes last: after z comes za."""
        return self.version[:4], len(self.version), self.version

    def is_old(self, today: dt.date) -> bool:
        """Whether it was published more than four months ago for certain: a version tells its year alone."""
        return today >= dt.date(int(self.version[:4]) + 1, MONTHS_UNTIL_OLD + 1, 1)


class _Zone(ZoneInfo):
    """A zone that can be copied and pickled, which one that was read from a file can't be."""

    def __reduce__(self) -> tuple[Callable[[str], ZoneInfo], tuple[Any, ...]]:
        return zone, (self.key,)


def package() -> ZoneData:
    """The data of the package."""
    return _read(resources.files("tzdata") / "zoneinfo")


def system() -> ZoneData | None:
    """The first copy in zoneinfo's path that says its version; None without one."""
    copies = (_read(Path(folder)) for folder in zoneinfo.TZPATH)
    return next((copy for copy in copies if copy.version), None)


@cache
def data() -> ZoneData:
    """The data that is used in this process."""
    return max((copy for copy in (system(), package()) if copy), key=lambda copy: copy.order)


@cache
def names() -> frozenset[str]:
    """The names of all zones that both Python and the package know."""
    package_names = (resources.files("tzdata") / "zones").read_text().split()
    of_system = zoneinfo.available_timezones() if isinstance(data().folder, Path) else set()
    return frozenset(package_names) | of_system


@cache
def zone(name: str) -> ZoneInfo:
    """The rules of the zone of that name. ZoneInfoNotFoundError where there is none."""
    if name not in names():
        raise ZoneInfoNotFoundError(f"No time zone found with key {name}")
    with data().folder.joinpath(*name.split("/")).open("rb") as file:
        return _Zone.from_file(file, key=name)


def _read(folder: Traversable) -> ZoneData:
    try:
        with (folder / DATA).open("r") as file:
            first = file.readline().strip()
    except OSError:
        first = ""
    version = first.removeprefix(VERSION_LINE) if first.startswith(VERSION_LINE) else ""
    return ZoneData(version if version[:4].isdecimal() else "", folder)
