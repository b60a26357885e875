"""The hours of a connected table that have records, and how many: counted part by part, where these changed.

What was counted is stored beside the slicer's manifest, for all processes of a desk.
"""

import datetime as dt
import hashlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.engines.connected.columns import DAY_HOURS, Columns, is_calendar, source_of
from lib.engines.connected.connections import Connections
from lib.engines.connected.parts import FILENAME, Counters, Marks
from lib.slicers.definition import Definition
from lib.slicers.warehouse.slicer import Mark, mark, with_digest, without_digest
from lib.wire import private
from lib.wire.deadline import Deadline
from lib.wire.errors import BadDefinition

log = logging.getLogger(__name__)
FILE, FORMAT = "days.json", 1
HOUR, RECORDS, PART = "hour", "records", "part"
LONGEST_SECONDS = 3600
_FIRST = dt.date(1970, 1, 1)
Hours = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A part of a table when its mark was `mark`: hours with records (see Columns.hour), and how many.

    `ahead` is how many more records were counted than the mark tells of: counters lag behind.
    """

    mark: str | None
    hours: dict[int, int]
    ahead: int = 0


@dataclass(frozen=True)
class Days:
    """All parts of a table; `definition` is a digest of what decides the hours."""

    definition: str
    parts: Mapping[str, Part]

    @property
    def is_marked(self) -> bool:
        """Whether a change of rows would show."""
        return all(part.mark is not None for part in self.parts.values())

    def totals(self) -> tuple[Hours, Hours]:
        """The hours that have records, ascending, and how many each."""
        totals: Counter[int] = Counter()
        for part in self.parts.values():
            totals.update(part.hours)
        hours = sorted(hour for hour, records in totals.items() if records)
        return np.array(hours, np.int64), np.array([totals[hour] for hour in hours], np.int64)

    def save(self, folder: Path) -> None:
        """Write it beside the slicer's manifest, in one step."""
        content = json.dumps({"format": FORMAT, **asdict(self)})
        private.write(folder / FILE, with_digest(content.encode()).decode())


def stored_days(folder: Path, definition: Definition) -> Days | None:
    """What was counted of the slicer in a folder, if it is of this definition."""
    try:
        raw = json.loads(without_digest((folder / FILE).read_bytes()))
        if raw["format"] != FORMAT or raw["definition"] != digest(definition):
            return None
        parts = {
            name: Part(part["mark"], {int(hour): rows for hour, rows in part["hours"].items()}, part["ahead"])
            for name, part in raw["parts"].items()
        }
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError) as error:
        log.warning("%s is damaged (%s); the days are counted again", folder / FILE, error)
        return None
    return Days(raw["definition"], parts)


def age(folder: Path) -> float:
    """Seconds since the days were last compared with the table, by any process; infinite without a file."""
    try:
        return time.time() - (folder / FILE).stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def stamp(folder: Path) -> Mark | None:
    """Changes whenever any process stored the days, or compared them with the table."""
    return mark(folder / FILE)


def touch(folder: Path) -> None:
    """Note that the days are still those of the table."""
    os.utime(folder / FILE)


def digest(definition: Definition) -> str:
    """Changes with everything that decides the hours of a record."""
    content = definition.model_dump(mode="json", include={"timezone", "source", "time"})
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


class DayCounter:
    """Counts the records of a slicer's table by hour, as far as they are not known from before."""

    def __init__(self, connections: Connections, columns: Columns) -> None:
        self._connections, self._columns = connections, columns
        self._source = source_of(columns.definition)

    def current(self, before: Days | None) -> Days:
        """The days as they are now; `before` itself if nothing has changed."""
        name = digest(self._columns.definition)
        if self._source.days_from is not None:
            days = Days(name, {"": self._loads(self._source.days_from)})
        else:
            marks = self._connections.marks(self._source.connection, self._columns.table)
            days = Days(name, self._parts(marks, {} if before is None else before.parts))
        return before if before is not None and days == before and days.is_marked else days

    def _parts(self, marks: Marks, before: Mapping[str, Part]) -> dict[str, Part]:
        """Parts whose mark is another one are counted; one that only grew, from its last day on."""
        parts = {
            name: before[name]
            for name, mark in marks.items()
            if name in before and mark is not None and before[name].mark == mark
        }
        for name in [name for name in marks if name in before and name not in parts]:
            if (part := self._extend(name, before[name], marks[name])) is not None:
                parts[name] = part
        others = [name for name in marks if name not in parts]
        for table, part_name in self._connections.part_tables(
            self._source.connection, self._columns.table, others
        ):
            counts = self._count(Columns(table, self._columns.definition), part_name is None)
            if part_name is None:
                parts |= {name: Part(marks[name], counts.get(name, {})) for name in others}
            else:
                parts[part_name] = Part(marks[part_name], counts.get("", {}))
        return parts

    def _extend(self, name: str, before: Part, mark: str | None) -> Part | None:
        """A part of PostgreSQL that rows were added to, if all of them are of its last days."""
        if mark is None or before.mark is None or not before.hours or not name:
            return None
        if (
            not mark.startswith("[")
            or (more := Counters.of(mark).only_more(Counters.of(before.mark))) is None
        ):
            return None
        since = (max(before.hours) // DAY_HOURS - 1) * DAY_HOURS
        ((table, _),) = self._connections.part_tables(self._source.connection, self._columns.table, [name])
        columns = Columns(table, self._columns.definition)
        columns = Columns(table.filter(columns.since(since)), self._columns.definition)
        hours = self._count(columns, False).get("", {})
        earlier = sum(records for hour, records in before.hours.items() if hour >= since)
        ahead = sum(hours.values()) - earlier + before.ahead - more
        if ahead < 0:
            return None
        return Part(mark, {hour: n for hour, n in before.hours.items() if hour < since} | hours, ahead)

    def _count(self, columns: Columns, by_file: bool) -> dict[str, dict[int, int]]:
        """Records by hour, by file or of the whole table (under the empty name)."""
        time = columns.table[columns.definition.time.sources[0]]
        columns = Columns(columns.table.filter(is_calendar(time)), columns.definition)
        keys = {HOUR: columns.hour()} | ({PART: columns.table[FILENAME]} if by_file else {})
        groups = columns.table.select(**keys).group_by(list(keys))
        table = self._rows(groups.aggregate(**{RECORDS: lambda rows: rows.count()}))
        names: Iterable[str] = table[PART].to_pylist() if by_file else [""] * table.num_rows
        parts: dict[str, dict[int, int]] = {}
        for name, hour, records in zip(
            names, table[HOUR].to_pylist(), table[RECORDS].to_pylist(), strict=True
        ):
            if hour is not None:
                parts.setdefault(name, {})[hour] = records
        return parts

    def _loads(self, name: str) -> Part:
        """The days of a table of loads, whose records are spread over the hours of each day."""
        table = self._connections.table(self._source.connection, name)
        day = next((column for column, kind in table.schema().items() if kind.is_date()), None)
        rows = next((column for column in ("rows", "records") if column in table.columns), None)
        if day is None or rows is None or not table[rows].type().is_integer():
            raise BadDefinition(
                [f"{name}: a table of loads has a date, and a whole number named rows or records"]
            )
        sums = table.group_by(day=table[day]).aggregate(records=table[rows].sum().cast("int64"))
        by_day = self._rows(sums.filter(sums["day"].notnull()).order_by("day"))
        hours: dict[int, int] = {}
        time, timezone = self._columns.definition.time, self._columns.definition.timezone
        for date, records in zip(by_day["day"].to_pylist(), by_day["records"].to_pylist(), strict=True):
            first = (date - _FIRST).days * DAY_HOURS
            if time.has_zones:
                each, rest = divmod(records or 0, DAY_HOURS)
                hours |= {first - timezone + place: each + (place < rest) for place in range(DAY_HOURS)}
            else:
                hours[first] = records or 0
        return Part(hashlib.sha256(repr(hours).encode()).hexdigest()[:16], hours)

    def _rows(self, expression: ir.Table) -> pa.Table:
        return self._connections.rows(self._source.connection, expression, Deadline(LONGEST_SECONDS))
