"""The sample of a connected slicer: records in a table of ours at the source, and what is known of them.

That table has a row per drawn record: `hour` (see Live.hours), a column per key field and one per additive
data field, and `size` and `q` as the resident engine has them (sampling.py). What it is a sample of is
written in `sample.json` beside the slicer's manifest.

A sample belongs to the moment it was drawn. Days whose records per hour have changed since, and days that
came later, are read whole: they are certain, and the other days are sampled.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt

from lib import private
from lib.reporting.definition import Definition
from lib.reporting.engines.connected.columns import DAY_HOURS, Columns
from lib.reporting.engines.sample_sums import KnownRecords
from lib.reporting.measures import RECORDS, additive_atoms
from lib.reporting.warehouse.manifest import with_digest, without_digest

log = logging.getLogger(__name__)
FILE, FORMAT = "sample.json", 1
HOUR, SIZE, ORDER = "hour", "size", "q"
WHOLE = 1e30
Hours = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StoredSample:
    """A sample as sample.json has it.

    `place` is the schema (or folder) and the table that hold it, `replaced` the place of the one before.
    `hours` with records (Live.hours) and the sums of the atoms `lanes` in each are those of all records.
    `grid` has the thresholds, `drawn` how many records of each of `days` (in the slicer's zone) each draws;
    `is_whole` says that the last draws every record.
    """

    definition: str
    place: tuple[str, str]
    replaced: tuple[str, str] | None
    written: str
    rows: int
    days: list[int]
    hours: list[int]
    lanes: list[str]
    hour_sums: list[list[float]]
    typical: list[float]
    signed: list[str]
    bounds: dict[str, tuple[float | None, float | None]]
    smallest_size: float
    grid: list[float]
    drawn: list[list[int]]
    is_whole: bool
    format: int = FORMAT

    def save(self, folder: Path) -> None:
        """Write it beside the slicer's manifest, in one step."""
        private.write(folder / FILE, with_digest(json.dumps(asdict(self)).encode()).decode())

    @cached_property
    def thresholds(self) -> npt.NDArray[np.float64]:
        """The grid, ascending."""
        return np.array(self.grid)

    @cached_property
    def drawn_by_day(self) -> Hours:
        """Records of each day (rows) that each threshold (columns) draws."""
        return np.array(self.drawn, dtype=np.int64).reshape(len(self.days), len(self.grid))

    @cached_property
    def sums(self) -> npt.NDArray[np.float64]:
        """The sums of the atoms per hour; shape (hours, lanes)."""
        return np.array(self.hour_sums).reshape(len(self.hours), len(self.lanes))

    @property
    def population(self) -> KnownRecords:
        """What intervals need to know of all records."""
        return KnownRecords(self.lanes, self.typical, self.signed, self.bounds, self.smallest_size)

    def changed_days(self, hours: Hours, counts: Hours, shift: int, by_day: bool = False) -> set[int]:
        """The days, `shift` hours east of the hours, whose records are not those of the sample.

        They are compared per hour, or `by_day` where nothing is known of hours.
        """
        records = self.sums[:, self.lanes.index(RECORDS)].astype(int)
        then = _by_span(np.array(self.hours, np.int64), records, shift, by_day)
        now = _by_span(hours, counts, shift, by_day)
        return {
            span // (1 if by_day else DAY_HOURS)
            for span in then.keys() | now.keys()
            if then.get(span) != now.get(span)
        }


def _by_span(hours: Hours, counts: Hours, shift: int, by_day: bool) -> dict[int, int]:
    """Records by hour or day, `shift` hours east of the hours."""
    spans, places = np.unique((hours + shift) // (DAY_HOURS if by_day else 1), return_inverse=True)
    return dict(zip(spans.tolist(), np.bincount(places, counts).astype(int).tolist(), strict=True))


class DrawnColumns(Columns):
    """The fields of a slicer as expressions over the table of its sample, or over `semantic` columns."""

    def hour(self, zone: int = 0) -> ir.IntegerColumn:
        """See Columns."""
        return self.table[HOUR] + (zone if self.definition.time.granularity == "hour" else 0)

    def day(self, zone: int = 0) -> ir.IntegerColumn:
        """See Columns."""
        return self.hour(zone) // DAY_HOURS

    def since(self, hour: int, zone: int = 0) -> ir.BooleanValue:
        """See Columns."""
        return self.hour(zone) >= hour

    def before(self, hour: int, zone: int = 0) -> ir.BooleanValue:
        """See Columns."""
        return self.hour(zone) < hour

    def text(self, name: str) -> ir.StringColumn:
        """See Columns."""
        return self.table[key_column(self.definition, name)]

    def bare_text(self, name: str) -> ir.StringColumn:
        """See Columns."""
        return self.text(name)

    def has_element(self, name: str, value: str) -> ir.BooleanColumn:
        """See Columns."""
        return self.elements(name).contains(value)

    def is_one_of(self, name: str, values: Sequence[str]) -> ir.BooleanValue:
        """See Columns."""
        return self.text(name).isin(list(values)) if values else ibis.literal(False)

    def elements(self, name: str) -> ir.ArrayColumn:
        """See Columns; a record without elements has the empty text."""
        return self.table[key_column(self.definition, name)]

    def has_none(self, name: str) -> ir.BooleanColumn:
        """See Columns."""
        return self.table[key_column(self.definition, name)].contains("")

    def number(self, name: str, is_plain: bool = False) -> ir.FloatingColumn:
        """See Columns."""
        return self.table[number_column(self.definition, name)]


def semantic(columns: Columns) -> dict[str, ir.Column]:
    """The columns of a sample's table but size and q, as expressions over the rows of the slicer."""
    definition = columns.definition
    cells: dict[str, ir.Column] = {HOUR: columns.hour()}
    for field in definition.key_fields:
        if columns.is_segmented(field.name):
            elements = columns.elements(field.name)
            cell = ibis.ifelse(columns.has_none(field.name), ibis.array([""]), elements)
        else:
            cell = columns.text(field.name)
        cells[key_column(definition, field.name)] = cell
    for name in numbers(definition):
        cells[number_column(definition, name)] = columns.number(name)
    return cells


def schema(definition: Definition) -> ibis.Schema:
    """The types of a sample's table."""
    kinds = {HOUR: "int64"}
    for field in definition.key_fields:
        kinds[key_column(definition, field.name)] = "array<string>" if field.segmented else "string"
    kinds |= {number_column(definition, name): "float64" for name in numbers(definition)}
    return ibis.schema(kinds | {SIZE: "float64", ORDER: "float64"})


def numbers(definition: Definition) -> list[str]:
    """The data fields that are additive, or means: those with additive atoms and a column."""
    atoms = additive_atoms(definition)
    return list(dict.fromkeys(atom.partition(":")[2] for atom in atoms if atom != RECORDS))


def key_column(definition: Definition, name: str) -> str:
    """The column of a key field: a name that every database takes."""
    return f"k{[field.name for field in definition.key_fields].index(name)}"


def number_column(definition: Definition, name: str) -> str:
    """The column of a data field."""
    return f"v{numbers(definition).index(name)}"


def digest(definition: Definition) -> str:
    """Changes with everything that decides what is drawn."""
    parts = definition.model_dump(
        mode="json", include={"timezone", "source", "time", "key_fields", "data_fields"}
    )
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def stored_sample(folder: Path) -> StoredSample | None:
    """The sample of the slicer in a folder, whatever its definition was; None without an intact one."""
    places: Sequence[str] = ("place", "replaced")
    try:
        raw = json.loads(without_digest((folder / FILE).read_bytes()))
        if raw["format"] != FORMAT:
            log.warning("%s is of another version; run tranche connect --sample again", folder / FILE)
            return None
        return StoredSample(**raw | {name: raw[name] and tuple(raw[name]) for name in places})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError) as error:
        log.warning("%s is damaged (%s); run tranche connect --sample again", folder / FILE, error)
        return None


def fitting_sample(folder: Path, definition: Definition) -> StoredSample | None:
    """The sample of the slicer in a folder if it was drawn for this definition."""
    sample = stored_sample(folder)
    return sample if sample is not None and sample.definition == digest(definition) else None
