"""Files from the wild, each with the right reading: nothing is guessed wrongly without a word.

A file is written from a table of pandas in an odd way; what is imported must come to the sums of that table,
by day and by key field, or the import asks.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from ingesting import Place

from lib.reporting.definition import TIME, Definition
from lib.reporting.definition.file import definition_yaml, parse_definition
from lib.reporting.ingest.inference import Hints, Inference, infer
from lib.reporting.ingest.readers import readers
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files, with a warehouse."""
    return Place(tmp_path)


def days(first: str, count: int, step: str = "D") -> pd.Series:
    """So many days from the first, one a row."""
    return pd.Series(pd.date_range(first, periods=count, freq=step))


def report(dates: pd.Series, **columns: Any) -> pd.DataFrame:
    """Rows of a day, a site and impressions, with further columns."""
    numbers = range(1, len(dates) + 1)
    sites = [f"s{number % 5}" for number in numbers]
    return pd.DataFrame({"day": dates, "site": sites, "imps": [float(n) for n in numbers]} | columns)


def csv(truth: pd.DataFrame, day: str | Callable[[pd.Timestamp], str] = "%Y-%m-%d", **columns: Any) -> str:
    """A CSV of the table: its days in this format, and `columns` as they are written there."""
    write = (lambda date: date.strftime(day)) if isinstance(day, str) else day
    written = truth.assign(day=[write(date) for date in truth["day"]], **columns)
    return written.to_csv(index=False)


class OddFile(NamedTuple):
    """A file, and the table that it holds; `means` are its columns that are never added up."""

    name: str
    content: str | bytes
    truth: pd.DataFrame
    means: frozenset[str] = frozenset()
    hints: Hints = Hints()


class AskingFile(NamedTuple):
    """A file that can't be read without an answer, and a part of the question."""

    name: str
    content: str | bytes
    question: str
    hints: Hints = Hints()


def imported(
    place: Place, name: str, content: str | bytes, hints: Hints
) -> tuple[Inference, Definition, pd.DataFrame]:
    """What is inferred of a file, the definition that is written, and the rows that are stored with it."""
    path = place.file(name, content)
    files = readers(path)
    inference = infer(files[0], hints=hints, others=files[1:])
    definition = parse_definition(definition_yaml(inference.definition))
    stored = place.take(path, definition=definition, max_rejects=0.5)
    return inference, definition, stored.read(stored.files).to_pandas()


def check(place: Place, file: OddFile) -> Inference:
    """The file's fields are of the right kinds, and its rows those of the table."""
    inference, definition, rows = imported(place, file.name, file.content, file.hints)
    labels = {field.name: field.source for field in (*definition.key_fields, *definition.data_fields)}
    rows = rows.rename(columns=labels)
    rows["day"] = rows.pop(TIME).dt.tz_localize(None)
    texts = [name for name in file.truth if file.truth[name].dtype.kind not in "fiM"]
    numbers = [name for name in file.truth if file.truth[name].dtype.kind in "fi"]
    assert {field.source for field in definition.key_fields} == set(texts)
    sums = {
        field.source for field in definition.data_fields if field.aggregate == "sum" and not field.formula
    }
    assert sums == {name for name in numbers if name not in file.means}
    for keys in (["day"], *(["day", text] for text in texts)):
        expected = file.truth.groupby(keys, dropna=False)[sorted(sums)].sum()
        pd.testing.assert_frame_equal(
            rows.groupby(keys, dropna=False)[sorted(sums)].sum(),
            expected,
            check_dtype=False,
            check_index_type=False,
        )
    return inference


MONTH = report(days("2026-11-01", 28))
WEEKS = report(days("2026-08-03", 12, "W-MON"))
MONTHS = report(days("2026-01-01", 10, "MS"))
DATES = [
    *(
        OddFile(f"{name} {form.replace('/', '|')}.csv", csv(truth, form), truth)
        for name, truth in (("days", MONTH), ("weeks", WEEKS), ("months", MONTHS))
        for form in ("%y/%m/%d", "%y.%m.%d", "%y-%m-%d", "%y-%b-%d", "%y%m%d", "%y/%m/%d 00:00")
    ),
    OddFile(
        "days first.csv", csv(report(days("2026-02-01", 12)), "%d/%m/%Y"), report(days("2026-02-01", 12))
    ),
    OddFile(
        "months first.csv", csv(report(days("2026-02-01", 12)), "%m/%d/%y"), report(days("2026-02-01", 12))
    ),
    OddFile("eight digits.csv", csv(report(days("2023-11-01", 9)), "%d%m%Y"), report(days("2023-11-01", 9))),
    OddFile(
        "report_2026-11-03.csv", csv(report(days("2026-11-02", 1)), "%d/%m/%Y"), report(days("2026-11-02", 1))
    ),
    OddFile(
        "above.csv",
        "Report,,\n01 Jan 2025 - 31 Dec 2025,,\n" + csv(report(days("2025-01-01", 12, "MS")), "%m/%d/%Y"),
        report(days("2025-01-01", 12, "MS")),
    ),
    OddFile("answered.csv", csv(MONTHS, "%d/%m/%Y"), MONTHS, hints=Hints(dates="dmy")),
    OddFile(
        "without year.csv",
        csv(report(days("2026-05-01", 9)), "%d/%m"),
        report(days("2026-05-01", 9)),
        hints=Hints(year=2026),
    ),
]
ASKING = [
    AskingFile("one.csv", "day,imps\n01/02/2026,5\n", "2 Jan 2026 or day/month/year, 1 Feb 2026.*--dates"),
    AskingFile("year.csv", "day,imps\n26/11/08,5\n", "--dates"),
    AskingFile(
        "months.csv", csv(MONTHS, "%d/%m/%Y"), "day/month/year, 1 Jan 2026 to 1 Oct 2026.*Choose one: --dates"
    ),
    AskingFile("noyear.csv", csv(MONTHS, "%d/%m"), "--dates dmy", Hints(year=2026)),
    AskingFile("wrong.csv", csv(MONTH, "%m/%d/%Y"), "can't be read as day/month/year", Hints(dates="dmy")),
]


@pytest.mark.parametrize("file", DATES, ids=lambda file: file.name)
def test_an_odd_file_comes_to_its_sums(place: Place, file: OddFile) -> None:
    """What is imported are the rows of the table, under fields of the right kinds."""
    check(place, file)


@pytest.mark.parametrize("file", ASKING, ids=lambda file: file.name)
def test_what_can_be_read_in_two_ways_is_asked(place: Place, file: AskingFile) -> None:
    """The import stops, and says which readings there are and how to choose."""
    with pytest.raises(ImportRefused, match=f"(?s){file.question}"):
        imported(place, file.name, file.content, file.hints)
