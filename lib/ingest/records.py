"""Bytes of delimited text → UTF-8 → records: where they begin and end, well-formed or not (RFC 4180)."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import charset_normalizer
import numpy as np
import numpy.typing as npt

from lib.wire.errors import ImportRefused

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
MAX_RECORD = 1 << 20
MAX_LINE = 16 << 20
_NEWLINE, _QUOTE = ord("\n"), ord('"')
UTF_8 = "utf-8"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CANDIDATES = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "koi8_r",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
]  # fmt: skip
_LATIN = {"cp1250", "cp1252"}
_IN_CENTRAL_EUROPEAN_WORDS = re.compile(
    rb"[A-Za-z][\x8a-\x8f\x9a\x9c-\x9f\xb3\xb9\xbe\xbf]|[\xa3\xa5\xaf][a-z]"
)
_LONE_LETTER = re.compile(rb"(?<=[A-Za-z])[\x80-\xff](?![\x80-\xff])|(?<![\x80-\xff])[\x80-\xff](?=[A-Za-z])")
_INVALID = "\udcff"
_GUESSED_BYTES = 1 << 18


def find_encoding(name: str) -> str:
    """Python's name of an encoding that a person gave. ImportRefused when there is none of that name."""
    try:
        codec = codecs.lookup(name).name
        "".encode(codec)
    except (LookupError, TypeError):
        raise ImportRefused(
            f"There is no encoding '{name}'; write utf-8, cp1252, latin-1, utf-16 …"
        ) from None
    return "utf-8-sig" if codec == UTF_8 else codec


def shown_encoding(name: str) -> str:
    """An encoding's name as people know it."""
    return name.removesuffix("-sig").upper().replace("CP125", "Windows-125")


def recognize_encoding(chunks: Iterable[bytes]) -> str:
    """The encoding of a file, from its beginning and from the first piece of it that is not plain ASCII.

    A byte order mark decides; else UTF-8 where that fits, or nearly fits; else a guess.
    """
    for number, chunk in enumerate(chunks):
        if number == 0:
            marks = (name for mark, name in _BYTE_ORDER_MARKS.items() if chunk.startswith(mark))
            if encoding := next(marks, None):
                return encoding
            even, odd = chunk[0:2000:2].count(0), chunk[1:2000:2].count(0)
            if max(even, odd) >= 0.4 * len(chunk[:2000]) / 2:  # as in Latin text of UTF-16 without a mark
                return "utf-16-be" if even > odd else "utf-16-le"
        if not chunk.isascii():
            # Whether it is UTF-8 more often than not; a cut-off end does not count.
            text = codecs.getincrementaldecoder(UTF_8)(errors="replace").decode(chunk)
            broken = text.count("\ufffd")
            is_utf = broken == 0 or sum(not character.isascii() for character in text) > 2 * broken
            if is_utf:
                return UTF_8
            sample = b"\n".join(line for line in chunk.splitlines() if not line.isascii())[:_GUESSED_BYTES]
            best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
            # Letters that stand alone beside Latin ones, as in Köln, are in no other script: of a few such
            # words alone, charset_normalizer makes Chinese.
            runs, lone = len(re.findall(rb"[\x80-\xff]+", sample)), len(_LONE_LETTER.findall(sample))
            if best and best.encoding not in _LATIN and (best.encoding == "cp1254" or lone <= 0.6 * runs):
                return best.encoding
            central = len(_IN_CENTRAL_EUROPEAN_WORDS.findall(sample))
            return "cp1250" if central > 0.1 * sum(byte > 127 for byte in sample) else "cp1252"
    return UTF_8


def utf_8_chunks(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The text of `chunks` in UTF-8, without byte order mark.

    Bytes that mean nothing in `encoding` come out as bytes that are not UTF-8 either, so that whoever
    reads a row finds them.
    """
    if encoding == UTF_8:
        yield from chunks
        return
    if encoding == "utf-8-sig":
        for number, chunk in enumerate(chunks):
            yield chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk
        return
    codecs.register_error("tranche-invalid", _invalid)
    decoder = codecs.getincrementaldecoder(encoding)(errors="tranche-invalid")
    for chunk in chunks:
        yield decoder.decode(chunk).encode(UTF_8, "surrogateescape")
    yield decoder.decode(b"", final=True).encode(UTF_8, "surrogateescape")


def is_utf_8(data: bytes) -> bool:
    """Whether bytes are a text in UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


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

    def first(self, most: int) -> list[tuple[int, str]]:
        """The lines and texts of the first ones."""
        columns = (column[:most].tolist() for column in (self.lines, self.starts, self.ends))
        spans = zip(*columns, strict=True)
        return [(line, self.data[start : end - 1].decode(UTF_8, "replace")) for line, start, end in spans]

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
            # Whether quotes open only at the beginning of a cell, and close only at its end.
            text = np.concatenate([[_NEWLINE], characters, [_NEWLINE]])
            before, after = text[quotes[0::2]], text[quotes[1::2] + 2]
            edges = np.array([self._delimiter, _NEWLINE, _QUOTE])
            if not (np.isin(before, edges).all() and np.isin(after, edges).all()):
                return None
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
        return _Spans(starts, ends, int(ends[-1]) if len(ends) else 0, are_lines=not has_quotes)

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
        return _Spans(np.array(starts, np.int64), np.array(ends, np.int64), position, broken)

    def _end(self, data: bytes, start: int, line_end: int) -> int | None:
        """Where the record at `start` ends; None when no end can be seen, or one that leads astray."""
        match = self._record.match(data, start, start + MAX_RECORD)
        if match is None:
            return line_end if b'"' not in data[start:line_end] else None
        end, cells = match.end(), 0
        if end == line_end:
            return end
        while start < end:  # quotes enclose whole cells, and there are as many cells as there should be
            match = self._clean_cell.match(data, start, end)
            if match is None:
                return None
            cells, start = cells + 1, match.end()
        return end if self._columns in (None, cells) else None


class _Spans(NamedTuple):
    """Where records and broken lines lie in a piece of text, and where the whole records end.

    `are_lines`: each is a line, and each line one of them.
    """

    starts: Ints
    ends: Ints
    end: int
    broken: Sequence[tuple[int, int]] = ()
    are_lines: bool = False


def _one_newline(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def line_too_long(line: int) -> str:
    """Why a file with such a line is refused."""
    return f"Line {line} is longer than {MAX_LINE >> 20} MiB; is this delimited text?"


def _invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _INVALID, error.end
