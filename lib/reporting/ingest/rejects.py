"""Rows that can't be read: which, why, and their text, in a file that a spreadsheet opens."""

import csv
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

_EXAMPLES = 3
_SHOWN = 60


class Reject(NamedTuple):
    """A row that can't be read: its line (of Parquet: its row, from 1), why, and what it looks like."""

    line: int
    reason: str
    value: str
    text: str


class Rejects:
    """Collects rejects: counts and examples by reason here, all of them in a CSV file at `path`.

    The file, with the columns file, line, reason, value, text, is made with the first reject.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
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

    def add(self, file: str, reject: Reject) -> None:
        """Note one row of one file."""
        self.counts[reject.reason] += 1
        if self.counts[reject.reason] <= _EXAMPLES:
            self.examples.setdefault(reject.reason, []).append(_example(file, reject))
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8", newline="", errors="replace")
            self._writer = csv.writer(self._file)
            self._writer.writerow(["file", *Reject._fields])
        self._writer.writerow([file, *reject])

    def flush(self) -> None:
        """See that the file is written as far as it goes: OSError now rather than when it is closed."""
        if self._file:
            self._file.flush()


def _example(file: str, reject: Reject) -> str:
    shown = reject.value or reject.text
    short = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return f"{file}, line {reject.line}: {short!r}"
