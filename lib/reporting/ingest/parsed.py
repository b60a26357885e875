"""Delimited text → columns: text, or numbers where each cell of a batch is one."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv


class Misfit(NamedTuple):
    """A record with another number of cells than there are names: its place, from 0, and its text."""

    place: int
    cells: int
    text: str


class CellParser:
    """Parses pieces of one file. `positions` are the wanted columns, `numbers` those that may be numbers."""

    def __init__(
        self, delimiter: str, names: Sequence[str], positions: Mapping[str, int], numbers: Collection[str]
    ) -> None:
        self._delimiter, self._names, self._positions = delimiter, names, positions
        self._numbers = {name for name in numbers if name in positions}

    def parsed(self, text: bytes) -> tuple[pa.Table, list[Misfit]]:
        """The wanted columns of whole records, and the records that are left out.

        A column that is once not of numbers alone is text from then on.
        """
        if self._numbers:
            try:
                table, misfits = self._read(text, self._numbers)
            except pa.ArrowInvalid:
                table = None
            if table is not None and all(_is_finite(table[name]) for name in self._numbers):
                return table, misfits
        table, misfits = self._read(text, ())
        self._numbers = {name for name in self._numbers if _are_numbers(table[name])}
        return table, misfits

    def as_text(self, text: bytes) -> pa.Table:
        """The same columns, all as text."""
        return self._read(text, ())[0]

    def _read(self, text: bytes, numbers: Collection[str]) -> tuple[pa.Table, list[Misfit]]:
        misfits: list[Misfit] = []

        def skip(row: pa.csv.InvalidRow) -> str:
            misfits.append(Misfit(row.number - 1, row.actual_columns, row.text))
            return "skip"

        places = [str(place) for place in range(len(self._names))]
        types = {
            str(place): pa.float64() if name in numbers else pa.string()
            for name, place in self._positions.items()
        }
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(column_names=places, use_threads=False, block_size=len(text) + 1),
            pa.csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=b'"' in text, invalid_row_handler=skip
            ),
            pa.csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                include_columns=list(types),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        return table.rename_columns(list(self._positions)), misfits


def _is_finite(column: pa.ChunkedArray) -> bool:
    return pc.all(pc.is_finite(column)).as_py() is not False


def _are_numbers(texts: pa.ChunkedArray) -> bool:
    try:
        return _is_finite(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False
