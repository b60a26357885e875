"""The progress of imports on the command line: rows, rows per second, time left."""

import io
from pathlib import Path

import pytest
from ingesting import Place, definition, reader

from lib.cli.import_progress import ImportProgress, duration
from lib.ingest.importing import ImportJob, import_files
from lib.ingest.rejects import Rejects


class Terminal(io.StringIO):
    """A stream that says that a person reads it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


class Clock:
    """Seconds, which pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.now


def shown(stream: io.StringIO, seconds: list[float]) -> str:
    """What is written when after each of these seconds 250 of 1,000 bytes and 500 rows were read."""
    clock = Clock()
    progress = ImportProgress(1_000, stream, clock)
    for moment in seconds:
        clock.now = moment
        progress.read(250)
        progress.take(500)
    progress.end()
    return stream.getvalue()


def test_a_terminal_shows_rows_rate_and_time_left_on_one_line() -> None:
    """The line is written over, and ends with how many rows there were."""
    lines = shown(Terminal(), [1, 2, 3]).split("\r\x1b[K")[1:]
    assert lines == [
        "Reading: 500 rows, 500 rows/s, 25 %, 3 s left",
        "Reading: 1,000 rows, 500 rows/s, 50 %, 2 s left",
        "Reading: 1,500 rows, 500 rows/s, 75 %, 1 s left",
        "Read: 1,500 rows, 500 rows/s\n",
    ]


def test_a_log_gets_few_lines() -> None:
    """One each ten seconds, however often rows come; a short import writes none."""
    assert shown(io.StringIO(), [0.5, 1, 1.5]) == ""
    lines = shown(io.StringIO(), [9, 10, 11, 19]).splitlines()
    assert lines == ["Reading: 1,000 rows, 100 rows/s, 50 %, 10 s left", "Read: 2,000 rows, 105 rows/s"]


def test_a_terminal_is_written_to_at_most_five_times_a_second() -> None:
    """A thousand batches a second are not a thousand lines."""
    assert shown(Terminal(), [moment / 1000 for moment in range(1, 1001)]).count("Reading") in (4, 5)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s"), (3725, "1 h 2 min")]
)
def test_durations_are_in_two_units_at_most(seconds: float, words: str) -> None:
    """Seconds below a minute, minutes and seconds below an hour, then hours and minutes."""
    assert duration(seconds) == words


def test_bytes_add_up_to_the_file_and_rows_to_what_went_in(tmp_path: Path) -> None:
    """Whatever the import tells adds up."""
    place, sizes, rows = Place(tmp_path), list[int](), list[int]()
    path = place.file("a.csv", "time,site,imps\n" + "2026-01-01,a,1\n" * 50)
    job = ImportJob("p", "s", [reader(path)], definition())
    with Rejects(None) as rejects:
        import_files(job, ["digest"], place.warehouse, rejects, sizes.append, rows.append)
    assert sum(sizes) == path.stat().st_size
    assert sum(rows) == 50
