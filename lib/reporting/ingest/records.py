"""The records of delimited text: where they begin and end, in text that is well-formed or not (RFC 4180)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lib.wire.errors import ImportRefused

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
MAX_RECORD = 1 << 20
MAX_LINE = 16 << 20
_NEWLINE, _QUOTE = ord("\n"), ord('"')


@dataclass(frozen=True)
class Records:
    """Records in a piece of text, from `starts` to `ends`, newline included; `lines` count from 1.

    `broken` are lines that belong to no record, as a quote opens in them and is never closed.
    """

    data: bytes
    starts: Ints
    ends: Ints
    lines: Ints
    broken: tuple[tuple[int, bytes], ...] = ()

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, position: int) -> bytes:
        """One record, without its newline."""
        return self.data[int(self.starts[position]) : int(self.ends[position]) - 1]

    def keep(self, flags: Flags) -> "Records":
        """Only the wanted ones."""
        return replace(self, starts=self.starts[flags], ends=self.ends[flags], lines=self.lines[flags])

    def without_empty(self) -> "Records":
        """Without those of a newline alone."""
        has_text = self.ends - self.starts > 1
        return self if has_text.all() else self.keep(has_text)

    def text(self) -> bytes:
        """The records one after the other, with nothing between them."""
        if len(self) and int((self.ends - self.starts).sum()) == len(self.data):
            return self.data
        return b"".join(self.data[start:end] for start, end in zip(self.starts, self.ends, strict=True))


def records(chunks: Iterable[bytes], delimiter: str, columns: int | None = None) -> Iterator[Records]:
    """All records of a text in UTF-8, without empty lines. Every kind of newline ends a line.

    `columns` is how many cells a record should have: it helps to tell where a broken record ends.
    """
    splitter, rest = _Splitter(delimiter.encode(), columns), b""
    for chunk in chunks:
        whole = rest + chunk
        rest = b"\r" if whole.endswith(b"\r") else b""
        yield splitter.take(_one_newline(whole.removesuffix(rest)), is_last=False)
    yield splitter.take(_one_newline(rest), is_last=True)


class _Splitter:
    """Splits pieces of a text, keeping the beginning of a record that the next piece ends."""

    def __init__(self, delimiter: bytes, columns: int | None) -> None:
        self._delimiter, self._columns = ord(delimiter), columns
        self._rest, self._line = b"", 1
        mark = re.escape(delimiter)
        quoted_cell, plain = rb'"[^"]*+(?:""[^"]*+)*+"', rb'[^"%b\n][^%b\n]*+|' % (mark, mark)
        cell = rb"(?:%b[^%b\n]*+|%b)" % (quoted_cell, mark, plain)
        self._record = re.compile(rb"%b(?:%b%b)*+\n" % (cell, mark, cell))
        self._clean_cell = re.compile(rb"(?:%b|%b)[%b\n]" % (quoted_cell, plain, mark))

    def take(self, piece: bytes, is_last: bool) -> Records:
        """The records that end in this piece."""
        data = self._rest + piece
        if is_last and data and not data.endswith(b"\n"):
            data += b"\n"
        spans = self._fast_spans(data)
        if spans is None or len(data) - spans.end > (0 if is_last else MAX_RECORD):
            spans = self._scan(data, is_last)
        self._rest = data[spans.end :]
        if len(self._rest) > MAX_LINE:
            raise ImportRefused(line_too_long(self._line))
        return self._records(data, spans)

    def _records(self, data: bytes, spans: "_Spans") -> Records:
        if spans.are_lines:
            lines = self._line + np.arange(len(spans.ends))
            self._line += len(spans.ends)
            return Records(data[: spans.end], spans.starts, spans.ends, lines).without_empty()
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8, spans.end) == _NEWLINE)
        lines = self._line + np.searchsorted(newlines, spans.starts)
        broken = [
            (self._line + int(np.searchsorted(newlines, start)), data[start : end - 1])
            for start, end in spans.broken
        ]
        self._line += len(newlines)
        return Records(data[: spans.end], spans.starts, spans.ends, lines, tuple(broken)).without_empty()

    def _fast_spans(self, data: bytes) -> "_Spans | None":
        """Where records lie in well-formed text; None if it is not."""
        characters = np.frombuffer(data, np.uint8)
        ends, has_quotes = np.flatnonzero(characters == _NEWLINE) + 1, b'"' in data
        if has_quotes:
            quotes = np.flatnonzero(characters == _QUOTE)
            if not self._are_well_formed(characters, quotes):
                return None
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
        return _Spans(starts, ends, are_lines=not has_quotes)

    def _are_well_formed(self, characters: npt.NDArray[np.uint8], quotes: Ints) -> bool:
        """Whether quotes open only at the beginning of a cell, and close only at its end."""
        text = np.concatenate([[_NEWLINE], characters, [_NEWLINE]])
        before, after = text[quotes[0::2]], text[quotes[1::2] + 2]
        edges = np.array([self._delimiter, _NEWLINE, _QUOTE])
        return bool(np.isin(before, edges).all() and np.isin(after, edges).all())

    def _scan(self, data: bytes, is_last: bool) -> "_Spans":
        """Where records lie, read one by one; a line whose quote is never closed is broken, and left out."""
        starts, ends, broken, position = [], [], [], 0
        while (newline := data.find(b"\n", position)) >= 0:
            end = self._end(data, position, newline + 1)
            if end is None and not is_last and len(data) - position <= MAX_RECORD:
                break
            if end is None:
                broken.append((position, newline + 1))
            else:
                starts.append(position)
                ends.append(end)
            position = end or newline + 1
        return _Spans(np.array(starts, np.int64), np.array(ends, np.int64), broken, position)

    def _end(self, data: bytes, start: int, line_end: int) -> int | None:
        """Where the record at `start` ends; None when no end can be seen, or one that leads astray."""
        match = self._record.match(data, start, start + MAX_RECORD)
        if match is None:
            return line_end if b'"' not in data[start:line_end] else None
        end = match.end()
        return end if end == line_end or self._is_clean(data, start, end) else None

    def _is_clean(self, data: bytes, start: int, end: int) -> bool:
        """Whether quotes enclose whole cells, and there are as many cells as there should be."""
        cells = 0
        while start < end:
            match = self._clean_cell.match(data, start, end)
            if match is None:
                return False
            cells, start = cells + 1, match.end()
        return self._columns in (None, cells)


class _Spans:
    """Where records and broken lines lie in a piece of text, and where the whole records end.

    `are_lines`: each is a line, and each line one of them.
    """

    def __init__(
        self,
        starts: Ints,
        ends: Ints,
        broken: list[tuple[int, int]] | None = None,
        end: int | None = None,
        are_lines: bool = False,
    ) -> None:
        self.starts, self.ends, self.broken, self.are_lines = starts, ends, broken or [], are_lines
        self.end = end if end is not None else int(ends[-1]) if len(ends) else 0


def _one_newline(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def line_too_long(line: int) -> str:
    """Why a file with such a line is refused."""
    return f"Line {line} is longer than {MAX_LINE >> 20} MiB; is this delimited text?"
