"""Where records of delimited text begin and end, whatever the text, as an independent reader sees them."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.ingest import records as module
from lib.ingest.records import records


def pieces(text: bytes, size: int) -> list[bytes]:
    """A text in pieces of some bytes."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def split(text: bytes, size: int = 1 << 20, columns: int | None = None) -> list[tuple[int, bytes]]:
    """Line and bytes of every record."""
    return [
        (int(record.lines[position]), record.raw(position))
        for record in records(pieces(text, size), ",", columns)
        for position in range(len(record))
    ]


def broken(text: bytes, columns: int | None = None, size: int = 1 << 20) -> list[tuple[int, bytes]]:
    """Line and bytes of every broken line."""
    return [line for record in records(pieces(text, size), ",", columns) for line in record.broken]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_records_know_their_lines(size: int, newline: bytes) -> None:
    """Empty lines and newlines in quoted cells count as lines, wherever the text is cut into pieces."""
    text = b'a,b\n\n1,"x\n""y""\n"\n"",\n5" x,6" y\n,"last"'.replace(b"\n", newline)
    assert split(text, size) == [
        (1, b"a,b"),
        (3, b'1,"x\n""y""\n"'),
        (6, b'"",'),
        (7, b'5" x,6" y'),
        (8, b',"last"'),
    ]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_quote_that_is_never_closed_breaks_its_line_alone(size: int) -> None:
    """The line is told, the next ones are read."""
    text = b'a,b\n1,"x\n2,y\n3,z\n'
    assert split(text, size, 2) == [(1, b"a,b"), (3, b"2,y"), (4, b"3,z")]
    assert broken(text, 2, size) == [(2, b'1,"x')]


def test_an_open_quote_does_not_swallow_up_to_the_next_one() -> None:
    """A record over several lines with the wrong number of cells is a broken line and further records."""
    text = b'a,b\n1,"x\n2,y\n3,"z"\n4,z\n'
    assert split(text, columns=2) == [(1, b"a,b"), (3, b"2,y"), (4, b'3,"z"'), (5, b"4,z")]
    assert broken(text, 2) == [(2, b'1,"x')]


def test_an_open_quote_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a long file, the rest does not wait in memory for a quote that never closes."""
    monkeypatch.setattr(module, "MAX_RECORD", 50)
    text = b'1,"x\n' + b"2,y\n" * 100 + b'3,"z"\n'
    assert len(split(text, 10, 2)) == 101
    assert broken(text, 2, 10) == [(1, b'1,"x')]


CELL = st.text(st.sampled_from('ab," \n'), max_size=6)


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=12), size=st.integers(1, 30))
def test_what_a_csv_writer_writes_is_split_as_it_was_written(rows: list[list[str]], size: int) -> None:
    """For any cells, the records are those of the standard library's reader."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    lines = [
        next(csv.reader(io.StringIO(raw.decode(), newline="")))
        for _, raw in split(text.getvalue().encode(), size)
    ]
    assert lines == rows
    assert not broken(text.getvalue().encode(), 2, size)


@given(text=st.text(st.sampled_from('ab,"\n'), max_size=40), size=st.integers(1, 10))
def test_no_byte_is_lost(text: str, size: int) -> None:
    """Any text at all comes out whole: as records, broken lines and empty lines."""
    data = text.encode()
    found = [*split(data, size, 2), *broken(data, 2, size)]
    kept = sum(len(raw.replace(b"\n", b"")) for _, raw in found)
    assert kept == len(data.replace(b"\n", b""))
