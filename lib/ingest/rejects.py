"""Rows that can't be read: which, why, and their text, in a file that a spreadsheet opens.

`Reasons` finds what kind of row it is, `Ending` whether it is below the table, `Rejects` collects them.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.ingest.files import RawRows, Reject
from lib.ingest.layout import are_types, is_ruler, is_total, is_value
from lib.slicers.definition.reading import MISSING
from lib.wire.currencies import CODES
from lib.wire.errors import ImportRefused
from lib.wire.text import escape

WRONG_WIDTH = "wrong number of columns"
TOTAL = "a total of other rows"
HEADER = "the header once more"
BELOW = "text outside the table"
LEFT_OUT = (TOTAL, HEADER, BELOW)
_COLUMNS = ("line", "reason", "value", "text")
_BELOW_AT_MOST = 20
_EXAMPLES = 3
_MOST_CHARACTERS = 60
Flags = npt.NDArray[np.bool_]
Reason = str | Callable[[str], str]


class Reasons:
    """Why rows of a batch can't be read: the first reason of each row counts."""

    def __init__(
        self, raw: RawRows, columns: dict[str, pa.Array], nothing: pa.Array, time_columns: tuple[str, ...]
    ) -> None:
        self._raw, self._columns, self._nothing = raw, columns, nothing
        self._time_columns = time_columns
        self._reasons: dict[int, tuple[Reason, str]] = {}

    def note(self, bad: Flags | None, reason: Reason, column: str) -> None:
        """Rows that are `bad` can't be read for this reason, which may need the cell's text."""
        for position in np.flatnonzero(bad) if bad is not None else ():
            self._reasons.setdefault(int(position), (reason, column))

    def note_times(self, bad: Flags, reason: str, column: str) -> None:
        """The same for rows without a time: totals, remarks and the header once more have none."""
        for position in np.flatnonzero(bad).tolist():
            cells, values = self._cells(position)
            if cells[0].casefold() == column.casefold():
                # A line of names has others than the header where another table begins.
                names = dict.fromkeys([*self._time_columns, *self._columns])
                pairs = zip(names, cells, strict=True)
                others = [cell for name, cell in pairs if cell.lower() not in name.lower()]
                if others and others[0] and not any(map(is_value, cells)):
                    line, text = int(self._raw.lines[position]), self._raw.text(position)
                    raise ImportRefused(
                        f"Another table begins in line {line:,}, where '{others[0]}' is a name: "
                        f"{text[:_MOST_CHARACTERS]!r}. Make a file of each table"
                    )
                certain = HEADER
            elif values and is_total(values[0]):
                certain = TOTAL
            else:
                is_text = len(cells) > 2 and len(values) == 1 and not is_value(values[0])
                certain = BELOW if is_text or is_ruler(cells) or are_types(cells) else reason
            self._reasons.setdefault(position, (certain, column))

    def refuse(self, refuse: Callable[[Reject], None]) -> Flags | None:
        """Refuse the rows, in their order; returns which they are, None where all can be read."""
        if not self._reasons:
            return None
        bad = np.zeros(len(self._nothing), bool)
        for position, (reason, column) in sorted(self._reasons.items()):
            bad[position] = True
            cell = self._cell_text(position, column)
            line, text = int(self._raw.lines[position]), self._raw.text(position)
            why = reason if isinstance(reason, str) else reason(cell)
            at_end = None
            if why not in LEFT_OUT and column in self._time_columns:
                # A last row of figures without a time is a total, one with words in its place a remark.
                cells, values = self._cells(position)
                is_figure = [is_value(value) or value in CODES for value in values]
                if not _has_value(cell):
                    at_end = TOTAL if values and all(is_figure) else None
                elif len(values) <= len(cells) / 2 and not is_value(cell):
                    at_end = BELOW
            refuse(Reject(line, why, cell, text, at_end))
        return bad

    def _cells(self, position: int) -> tuple[list[str], list[str]]:
        """All cells of a row, the time's first, and those that have a value."""
        names = dict.fromkeys([*self._time_columns, *self._columns])
        cells = [self._cell_text(position, name) for name in names]
        return cells, list(filter(_has_value, cells))

    def _cell_text(self, position: int, column: str) -> str:
        cells = self._columns.get(column, self._nothing)
        if self._raw.as_text and pa.types.is_floating(cells.type):
            cells = self._raw.as_text()[column]
        value = cells[position].as_py()
        return "" if value is None else str(value)


def _has_value(cell: str) -> bool:
    """Whether a cell says something: `--` and `---` do not."""
    return cell.strip() not in MISSING and any(map(str.isalnum, cell))


class Ending:
    """Tells rows that can't be read from what is below the table, which no good row follows."""

    def __init__(self, refuse: Callable[[Reject], None]) -> None:
        self._refuse, self._waiting, self._has_rows = refuse, list[Reject](), False

    def refuse(self, reject: Reject) -> None:
        """Refuse a row, now or as soon as it is known whether others follow."""
        self._waiting.append(reject)
        if reject.at_end is None or len(self._waiting) > _BELOW_AT_MOST:
            for waiting in self._waiting:
                self._refuse(waiting)
            self._waiting = []

    def accept(self, line: int) -> None:
        """A good row is in this line: what waits above it is refused."""
        self._has_rows = True
        above = [reject for reject in self._waiting if reject.line < line]
        self._waiting = [reject for reject in self._waiting if reject.line > line]
        for reject in above:
            self._refuse(reject)

    def close(self) -> None:
        """The file ends here: what waits is below the table, if there was one."""
        for reject in self._waiting:
            below = reject.at_end if self._has_rows else None
            value = "" if reject.reason == WRONG_WIDTH else reject.value  # the text itself is shown instead
            self._refuse(reject._replace(reason=below, value=value) if below else reject)
        self._waiting = []


class Rejects:
    """Collects rejects: counts and examples by reason here, all of them in a CSV file at `path`, if given.

    `missing_words` are the words that became missing values, with their counts, by column and word;
    `notes` say what else was noticed, such as odd hours of a clock change.

    The file, with the columns file, line, reason, value, text, is made with the first reject.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.missing_words: Counter[tuple[str, str]] = Counter()
        self.notes: list[str] = []
        self.examples: dict[str, list[str]] = {}
        self._file: IO[str] | None = None
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def __len__(self) -> int:
        return self.counts.total()

    @property
    def unreadable(self) -> int:
        """The rows that should have been read: without those that are left out on purpose."""
        return sum(count for _, count in self.faults)

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """What is no data and was left out on purpose: reason and count, the most frequent first."""
        return [(reason, count) for reason, count in self.counts.most_common() if reason in LEFT_OUT]

    @property
    def faults(self) -> list[tuple[str, int]]:
        """Why rows can't be read: reason and count, the most frequent first."""
        return [(reason, count) for reason, count in self.counts.most_common() if reason not in LEFT_OUT]

    def take_notes(self, missing_words: Mapping[tuple[str, str], int], notes: Iterable[str]) -> None:
        """What the reading of cells noticed, which refuses no row."""
        self.missing_words.update(missing_words)
        self.notes += notes

    def add(self, file: str, reject: Reject) -> None:
        """Note one row of one file."""
        self.counts[reject.reason] += 1
        if self.counts[reject.reason] <= _EXAMPLES:
            text = reject.value or reject.text
            short = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
            self.examples.setdefault(reject.reason, []).append(f"{file}, line {reject.line}: {short!r}")
        if self.path is None:
            return
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8", newline="", errors="replace")
            self._writer = csv.writer(self._file)
            self._writer.writerow(["file", *_COLUMNS])
        cells = (escape(cell) if isinstance(cell, str) else cell for cell in reject[: len(_COLUMNS)])
        self._writer.writerow([escape(file), *cells])

    def flush(self) -> None:
        """See that the file is written as far as it goes: OSError now rather than when it is closed."""
        if self._file:
            self._file.flush()
