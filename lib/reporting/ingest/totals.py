"""Rows that add up others: words for totals, and whether the rows that have them are totals by their sums."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition import TIME, Definition

Sums = npt.NDArray[np.float64]
_WORDS = re.compile(
    r"\W*((grand|sub|report|overall)[ -]?)?(totals?|total g[eé]n[eé]ral|gesamt(summe|ergebnis)?|summe|somme|"
    r"totaal|totale|suma|итого|всего|合计|总计|合計|總計|toplam)\W*",
    re.IGNORECASE,
)
_SHARE = 0.8
_DAYS_SHARE = 0.5


def is_total(text: str) -> bool:
    """Whether a cell says that its row adds up others: `Total`, `Grand total:`, `Gesamt`."""
    return _WORDS.fullmatch(text) is not None


def total_words(texts: pa.Array) -> list[str]:
    """The different words for totals in a column."""
    return [text for text in texts.unique().drop_null().to_pylist() if is_total(text)]


class TotalsTally:
    """Adds up, by time, all rows and those of each word for a total, to tell totals from names.

    Somme is a sum and a region of France: a row is a total where the rows of its word come to most of what
    the others of the same times come to, in most data fields that add up; without such fields, where the
    word is there most of the time.
    """

    def __init__(self, definition: Definition) -> None:
        self._columns = {
            field.name: field.source
            for field in definition.key_fields
            if field.type == "text" and not field.segmented
        }
        self._sum_fields = [
            field.name for field in definition.data_fields if field.aggregate == "sum" and field.source
        ]
        self._rows: Counter[tuple[str, str]] = Counter()
        self._all: dict[int, Sums] = defaultdict(self._zeros)
        self._parts: dict[tuple[str, str], dict[int, Sums]] = defaultdict(lambda: defaultdict(self._zeros))

    def add(self, table: pa.Table) -> None:
        """Some rows, as they are stored."""
        if not self._columns or not table.num_rows:
            return
        _add(self._all, table, self._sum_fields)
        for name in self._columns:
            texts = table.column(name)
            for word in total_words(texts):
                rows = table.filter(pc.equal(texts, word))
                self._rows[name, word] += rows.num_rows
                _add(self._parts[name, word], rows, self._sum_fields)

    def counts(self) -> dict[tuple[str, str], int]:
        """The number of rows that are totals, by the column of the file and the word there."""
        return {
            (self._columns[name], word): count
            for (name, word), count in self._rows.items()
            if self._are_totals(self._parts[name, word])
        }

    def _are_totals(self, parts: Mapping[int, Sums]) -> bool:
        if not self._sum_fields:
            return len(parts) > 1 and len(parts) >= _DAYS_SHARE * len(self._all)
        totals = np.abs(np.sum(list(parts.values()), axis=0))
        others = np.abs(np.sum([self._all[time] - part for time, part in parts.items()], axis=0))
        has_values = (totals > 0) | (others > 0)
        return bool(has_values.any() and np.median((totals >= _SHARE * others)[has_values]) == 1)

    def _zeros(self) -> Sums:
        return np.zeros(len(self._sum_fields))


def _add(sums: dict[int, Sums], table: pa.Table, fields: list[str]) -> None:
    """Add the fields of rows to sums by time, in seconds since 1970."""
    times = table.column(TIME).cast(pa.int64()).to_numpy()
    different, places = np.unique(times, return_inverse=True)
    columns = (pc.fill_null(table.column(name), 0.0).to_numpy() for name in fields)
    increments = [np.bincount(places, values, len(different)) for values in columns]
    for place, time in enumerate(different.tolist()):
        sums[time] += [values[place] for values in increments]
