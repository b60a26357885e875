"""The content of a file: columns of values, optionally a row of totals, and its numbers as text.

`export_table` makes it of an Audience: key columns, descriptions, data columns, total.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting import named_days
from lib.reporting.answers import Audience, half_up
from lib.reporting.models import ExportQuery, Selection
from lib.slicers import zones
from lib.slicers.digits import LARGEST_WHOLE
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import SEVERAL
from lib.slicers.models import DataField, Slicer
from lib.wire.currencies import MINOR_UNITS
from lib.wire.errors import BadRequest

TOTAL, TOTAL_OF_ROWS = "Total", "Total of these rows"
NEARLY, LEAST_DECIMAL = 1e-14, 1e-4
Kind = Literal["text", "int", "float"]
Role = Literal["key", "mapping", "data"]


@dataclass(frozen=True)
class SheetLimits:
    """The limits of a sheet: rows below its header, in steps that divide them, and columns."""

    name: str
    rows: int
    step: int
    columns: int


XLS = SheetLimits("xls", rows=65_535, step=65_535 // 5, columns=256)
XLSX = SheetLimits("xlsx", rows=1_048_575, step=1_048_575 // 75, columns=16_384)


@dataclass(frozen=True, eq=False)
class FileColumn:
    """One column of a file.

    `values` of a key or a mapping are text (a missing one is the empty string or null) or numbers; those of
    a data field are numbers (a missing one is NaN or null). `precision` is the decimal places that a float is
    shown with; an int has none. tsv2 calls a column by its name, every other format by its description.
    """

    name: str
    description: str
    values: "npt.NDArray[Any] | pd.Series[Any]"
    kind: Kind
    precision: int = 0
    role: Role = "data"

    @classmethod
    def of_mapping(cls, key: "FileColumn", values: "npt.NDArray[Any] | pd.Series[Any]") -> "FileColumn":
        """The column of descriptions that follows a mapped key: `<key>.description` in tsv2."""
        name, description = f"{key.name}.description", f"{key.description} (description)"
        return cls(name, description, values, kind="text", role="mapping")

    @property
    def decimals(self) -> int:
        """How many decimal places its numbers are shown with."""
        return self.precision if self.kind == "float" else 0

    def part(self, start: int, stop: int) -> "FileColumn":
        """The same column with the rows from `start` to before `stop`."""
        rows = (
            self.values[start:stop] if isinstance(self.values, np.ndarray) else self.values.iloc[start:stop]
        )
        return dataclasses.replace(self, values=rows)

    def is_number(self) -> bool:
        """Whether it holds numbers, and not text."""
        return self.role == "data" or (self.kind != "text" and self.values.dtype.kind in "iuf")

    def numbers(self) -> npt.NDArray[np.float64]:
        """The values of a column of numbers, NaN where one is missing or infinite."""
        values = pd.Series(self.values).to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(np.isfinite(values), values, np.nan)

    def texts(self) -> pa.StringArray:
        """The values of a column of text, empty where one is missing."""
        values = pa.array(self.values, from_pandas=True)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        return pc.fill_null(values.cast(pa.string()), "")


@dataclass(frozen=True, eq=False)
class FileTable:
    """The columns of a file; and, unless None, the values of the data columns in a last row, `label`.

    `escape_formulas`: whether texts that a spreadsheet would run are escaped; workbooks need it not.
    `full_digits`: whether a text format writes numbers with all their digits, not with those that are shown.
    """

    columns: tuple[FileColumn, ...]
    total: tuple[float | None, ...] | None = None
    label: str = TOTAL
    escape_formulas: bool = True
    full_digits: bool = False

    def __post_init__(self) -> None:
        if not self.columns:
            raise BadRequest("There is nothing to write: give split_by, data_fields, or both")
        if len({len(column.values) for column in self.columns}) > 1:
            raise ValueError("all columns of a table have the same number of rows")
        if self.total is not None and len(self.total) != len(self._of("data")):
            raise ValueError("a total has one value for each data column")

    @property
    def rows(self) -> int:
        """How many rows there are, without the total."""
        return len(self.columns[0].values)

    def pieces(self, size: int) -> Iterator["FileTable"]:
        """Its rows, `size` at a time, as tables without a total; then the total as a table of one row."""
        for start in range(0, self.rows, size):
            yield self._piece(column.part(start, start + size) for column in self.columns)
        if self.total is not None:
            first, figures, cells = next(iter(self._of("key")), None), iter(self.total), []
            for column in self.columns:
                kind: Kind = "text" if column is first else column.kind
                values = np.array([self.label if column is first else ""], dtype=object)
                if column.role == "data":
                    values = np.array([next(figures)], dtype=np.float64)
                cells.append(dataclasses.replace(column, values=values, kind=kind))
            yield self._piece(cells)

    def _piece(self, columns: Iterable[FileColumn]) -> "FileTable":
        return dataclasses.replace(self, columns=tuple(columns), total=None)

    def _of(self, role: Role) -> list[FileColumn]:
        return [column for column in self.columns if column.role == role]


def display(values: npt.NDArray[np.float64], decimals: int) -> pa.StringArray:
    """With so many decimal places, by `half_up`; never "-0.00", never an exponent."""
    with np.errstate(over="ignore", invalid="ignore"):
        units = np.abs(values) * 10.0**decimals
        is_half = np.abs(units - np.floor(units) - 0.5) <= np.maximum(units, 1) * NEARLY
    # Of the others the binary digits say the same, and take a twentieth of the time.
    if decimals == 0 and np.all(~(np.abs(values) >= LARGEST_WHOLE)):
        integers = np.rint(values)
        integers[is_half] = [half_up(value, 0) for value in values[is_half].tolist()]
        return _integers(integers, ~np.isnan(values))
    texts = list(map(f"%.{decimals}f".__mod__, values.tolist()))
    for index in np.flatnonzero(is_half).tolist():
        texts[index] = f"{half_up(float(values[index]), decimals):f}"
    zero = f"{0:.{decimals}f}"
    numbers = pa.array(texts, pa.string())
    return _present(pc.if_else(pc.equal(numbers, f"-{zero}"), zero, numbers), ~np.isnan(values))


def exact(values: npt.NDArray[np.float64], exponents: bool = False) -> pa.StringArray:
    """With as many digits as it takes to read the same number again; a whole one without a decimal point.

    Text files have no `exponents`, since ClickHouse infers that one is a text; workbooks do, since 301 digits
    are a whole number to some of their readers.
    """
    is_whole = (np.abs(values) < LARGEST_WHOLE) & (values == np.rint(values))
    integers = _integers(values, is_whole)
    if np.all(is_whole | np.isnan(values)):
        return integers
    texts = list(map(repr, values.tolist()))
    has_exponent = (np.abs(values) >= LARGEST_WHOLE) | ((np.abs(values) < LEAST_DECIMAL) & ~is_whole)
    for index in np.flatnonzero(has_exponent & (not exponents)).tolist():
        texts[index] = np.format_float_positional(values[index], trim="-")
    return _present(pc.if_else(is_whole, integers, pa.array(texts, pa.string())), ~np.isnan(values))


def _integers(values: npt.NDArray[np.float64], present: npt.NDArray[np.bool_]) -> pa.StringArray:
    texts = pa.array(np.where(present, values, 0).astype(np.int64)).cast(pa.string())
    return _present(texts, present)


def _present(texts: pa.StringArray, present: npt.NDArray[np.bool_]) -> pa.StringArray:
    return texts if present.all() else pc.if_else(present, texts, "")


def export_table(query: ExportQuery, slicer: Slicer, audience: Audience) -> FileTable:
    """The table: after each mapped key column one with its descriptions, where those are included.

    The total of `audience` becomes the last row where one is wanted and there is a split: without one, the
    only row is the total. It is that of the rows in the file where data filters leave others out.
    """
    columns: list[FileColumn] = []
    for name in query.split_by:
        field = slicer.key_field(name)
        if name in TIME_KEY_FIELDS:
            field = field.model_copy(update={"description": time_title(field.description, query, slicer)})
        values = audience.names[name]
        kind: Kind = "int" if field.type == "int" else "text"
        columns.append(FileColumn(field.name, field.description, values, kind=kind, role="key"))
        if audience.descriptions is not None and field.mapping:
            columns.append(FileColumn.of_mapping(columns[-1], audience.descriptions[name]))
    for name in map(str, audience.values):
        columns += _data(slicer.data_field(name), audience)
    total = None
    if query.include_total and query.split_by:
        total = tuple(audience.total.values[name] for name in map(str, audience.values))
    label = TOTAL_OF_ROWS if query.data_filters else TOTAL
    escapes, full = bool(query.escape_formulas), bool(query.full_digits)
    return FileTable(tuple(columns), total, label, escape_formulas=escapes, full_digits=full)


def time_title(title: str, query: Selection, slicer: Slicer) -> str:
    """The header of a time column, with a named zone and its days that have no 24 hours."""
    if not isinstance(query.timezone, str):
        return title
    odd = zones.odd_days(query.timezone, named_days.days_of(query, slicer))
    marks = [f"{day} has {hours} hours" for day, hours in odd.items()]
    return f"{title} ({', '.join([query.timezone, *marks])})"


def _data(field: DataField, audience: Audience) -> Iterator[FileColumn]:
    """A column of figures; that of money has all digits of its currencies, and says which, or why not.

    Where its rows are in several, and no key field tells which, a column of currencies follows.
    """
    kind: Kind = "int" if field.display_type == "int" else "float"
    values, title, places = audience.values[field.name], field.description, field.display_precision
    texts = {*([] if audience.currencies is None else audience.currencies.get(field.name, ()))}
    code = audience.total.currencies.get(field.name, "")
    texts |= {code}
    places = max(places, *(MINOR_UNITS.get(text, 0) for text in texts))
    if reason := next((text for text in texts if SEVERAL in text), ""):
        title = f"{title} (empty where there are several{reason[reason.index(SEVERAL) :]})"
    elif code and field.currency not in audience.names:
        title = f"{title}, {code}"
    yield FileColumn(field.name, title, values, kind=kind, precision=places, role="data")
    if (codes := audience.row_currencies(field.name)) is not None:
        title = f"{field.description} (currency)"
        yield FileColumn(f"{field.name}.currency", title, codes, kind="text", role="mapping")
