"""Tables in markup: HTML, and the XML of old spreadsheets."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import BinaryIO

from lib.ingest.files import DataFile, Progress
from lib.ingest.records import UTF_8, recognize_encoding, utf_8_chunks
from lib.wire.errors import ImportRefused

MOST_BYTES = 128 << 20
_MOST_SPAN = 5_000
_ROWS, _CELLS = {"tr", "row"}, {"td", "th", "cell"}


@dataclass(frozen=True)
class MarkupFile(DataFile):
    """A file whose content is read as the CSV of its largest table; lines are the table's rows, from 1.

    Held in memory while it is read: ImportRefused beyond 128 MiB, and for a file without a table.
    """

    @contextmanager
    def open(self, progress: Progress | None = None) -> Iterator[BinaryIO]:
        """The table as CSV in UTF-8."""
        with super().open(progress) as content:
            data = content.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ImportRefused(f"{self.name} is markup of more than {MOST_BYTES >> 20} MiB; save it as CSV")
        tables = _Tables()
        tables.feed(b"".join(utf_8_chunks([data], recognize_encoding([data]))).decode(UTF_8, "replace"))
        tables.close()
        rows = max(tables.tables, key=len, default=[])
        if not rows:
            raise ImportRefused(f"{self.name} is markup (HTML or XML) without a table; save it as CSV")
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        yield io.BytesIO(text.getvalue().encode(UTF_8, "replace"))


class _Tables(HTMLParser):
    """Collects the cells of each table; of one within another, its rows are those of the inner one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self._texts: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A table, a row or a cell begins."""
        name, attributes = tag.rpartition(":")[2], dict(attrs)
        if name == "table":
            self.tables.append([])
        elif name in _ROWS and self.tables:
            self._end_cell()
            self.tables[-1].append([])
        elif name in _CELLS and self.tables and self.tables[-1]:
            self._end_cell()
            row, index = self.tables[-1][-1], _number(attributes.get("ss:index"))
            row += [""] * (min(index, _MOST_SPAN) - 1 - len(row))
            self._texts, self._span = [], min(max(_number(attributes.get("colspan")), 1), _MOST_SPAN)
        elif name == "br" and self._texts is not None:
            self._texts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """A cell, a row or a table ends."""
        if tag.rpartition(":")[2] in _CELLS | _ROWS | {"table"}:
            self._end_cell()

    def handle_data(self, data: str) -> None:
        """Text, which belongs to the cell that it is in."""
        if self._texts is not None:
            self._texts.append(data)

    def _end_cell(self) -> None:
        if self._texts is not None and self.tables and self.tables[-1]:
            text = " ".join("".join(self._texts).split())
            self.tables[-1][-1] += [text, *[""] * (self._span - 1)]
        self._texts = None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
