"""Rows that can't be read: which, why, and their text, in a file that a spreadsheet opens."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

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


class Reject(NamedTuple):
    """A row that can't be read: its line (of Parquet: its row, from 1), why, and what it looks like.

    `at_end` is the reason instead, where no good row follows in the file: what is below a table is no row.
    """

    line: int
    reason: str
    value: str
    text: str
    at_end: str | None = None


class Ending:
    """Tells rows that can't be read from what is below the table, which no good row follows."""

    def __init__(self, refuse: Callable[[Reject], None]) -> None:
        self._refuse, self._waiting, self._has_rows = refuse, list[Reject](), False

    def refuse(self, reject: Reject) -> None:
        """Refuse a row, now or as soon as it is known whether others follow."""
        self._waiting.append(reject)
        if reject.at_end is None or len(self._waiting) > _BELOW_AT_MOST:
            self._flush()

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
            self._refuse(reject._replace(reason=below) if below else reject)
        self._waiting = []

    def _flush(self) -> None:
        for reject in self._waiting:
            self._refuse(reject)
        self._waiting = []


class Rejects:
    """Collects rejects: counts and examples by reason here, all of them in a CSV file at `path`, if given.

    `missing_words` are the words that became missing values, with their counts, by column and word;
    `clock_notes` say what is odd about the hours of a clock change.

    The file, with the columns file, line, reason, value, text, is made with the first reject.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.missing_words: Counter[tuple[str, str]] = Counter()
        self.clock_notes: list[str] = []
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
        return len(self) - sum(self.counts[reason] for reason in LEFT_OUT)

    def add(self, file: str, reject: Reject) -> None:
        """Note one row of one file."""
        self.counts[reject.reason] += 1
        if self.counts[reject.reason] <= _EXAMPLES:
            self.examples.setdefault(reject.reason, []).append(_example(file, reject))
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


def _example(file: str, reject: Reject) -> str:
    text = reject.value or reject.text
    short = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
    return f"{file}, line {reject.line}: {short!r}"
