"""Tables with a column for each day, read as a row for each day."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from lib.ingest import cells
from lib.ingest.files import ANY, Ints, Kinds, Names, Progress, RawRows, Reader, Refuse
from lib.ingest.layout import are_days, is_total, once_each
from lib.wire.errors import ImportRefused

DAY, VALUE = "day", "value"
_FEWEST_DAYS = 2


class UnpivotReader:
    """Another reader's rows, one for each of its columns that is a day and each value there; see Reader.

    Columns of totals and empty cells are left out. ImportRefused where fewer than two columns are days.
    """

    def __init__(self, reader: Reader) -> None:
        columns = reader.columns or ()
        self.days = [name for name in columns if are_days([name])]
        if len(self.days) < _FEWEST_DAYS:
            raise ImportRefused(f"{reader.file.name}: --unpivot is for files with a column for each day")
        self._reader, self.file, self.context = reader, reader.file, reader.context
        self.has_header = reader.has_header
        self._others = [name for name in columns if name not in self.days and not is_total(name)]
        *_, self._day, self._value = names = once_each([*self._others, DAY, VALUE])
        self.columns: tuple[str, ...] | None = tuple(names)
        self.names = dict.fromkeys(names)
        days = f"{len(self.days)} columns of days unpivoted, '{self.days[0]}' to '{self.days[-1]}'"
        self.description = f"{reader.description}, {days}"

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches; those of a line come one after the other, in the order of the days."""
        others = [name for name in self._others if selection is None or name in selection]
        for raw in self._reader.rows([*others, *self.days], refuse, progress):
            count, width = raw.table.num_rows, len(self.days)
            figures = pa.chunked_array([cells.text(cells.one_array(raw.table[day])) for day in self.days])
            positions = np.arange(count * width)
            values = figures.take(pa.array(positions % width * count + positions // width)).combine_chunks()
            present = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
            owners = present // width
            table = raw.table.select(others).take(pa.array(owners))
            table = table.append_column(self._day, pa.array(self.days).take(pa.array(present % width)))
            table = table.append_column(self._value, values.take(pa.array(present)))
            yield RawRows(table, raw.lines[owners], partial(_line_text, raw, owners))


def _line_text(raw: RawRows, owners: Ints, position: int) -> str:
    return raw.text(int(owners[position]))
