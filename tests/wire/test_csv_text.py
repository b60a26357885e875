"""How a CSV of a spreadsheet elsewhere is read: decimal commas, and the order of day and month."""

import pytest

from lib.wire.csv_text import CsvShape, read

SHAPE = CsvShape("deals", ("Name", "Price"), ("Units", "Start"), numbers=("Price", "Units"), dates=("Start",))


def cells(text: str, title: str = "Price") -> list[str]:
    """The cells of a column as they are read on."""
    return [row[title] for row in read(text, SHAPE).rows]


@pytest.mark.parametrize(
    ("lines", "prices", "is_noted"),
    [
        ("Name;Price\nA;1,60\nB;2\nC;1.250,75", ["1.60", "2", "1250.75"], True),
        ("Name;Price\nA;1,60\nB;1.600", ["1.60", "1600"], True),
        ("Name\tPrice\nA\t0,5", ["0.5"], True),
        ("Name;Price\nA;1,600\nB;2,000", ["1,600", "2,000"], False),
        ("Name;Price\nA;1,60\nB;1.60", ["1,60", "1.60"], False),
        ('Name,Price\nA,"1,60"', ["1,60"], False),
        ("Name;Price\nA;1.60", ["1.60"], False),
        ("Name;Price\nA;2,10 €", ["2,10 €"], False),
    ],
)
def test_decimal_commas(lines: str, prices: list[str], is_noted: bool) -> None:
    """They are read where the file settles it: not where a comma may part thousands, nor beside points."""
    assert cells(lines) == prices
    assert bool(read(lines, SHAPE).notes) is is_noted


def test_names_keep_their_commas() -> None:
    """Only columns of numbers are read so."""
    assert cells("Name;Price\n1,60;1,60", "Name") == ["1,60"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["03/04/2027", "27/11/2026"], ["2027-04-03", "2026-11-27"]),
        (["03/04/2027", "11/27/2026 09:00"], ["2027-03-04", "2026-11-27 09:00"]),
        (["03/03/2027"], ["03/03/2027"]),
        (["27/11/2026", "11/27/2026"], ["27/11/2026", "11/27/2026"]),
    ],
)
def test_dates_with_slashes(dates: list[str], expected: list[str]) -> None:
    """A day above twelve settles the order for its file; without one, or with both, cells stay a question."""
    lines = ["Name,Price,Start", *(f"A,1,{date}" for date in dates)]
    assert cells("\n".join(lines), "Start") == expected
    assert read("\n".join(lines), SHAPE).faults == ()


@pytest.mark.parametrize("others", [[], ["03/03/2027"], ["27/11/2026", "11/27/2026"], ["2026-11-27"]])
def test_a_date_that_could_be_two_days(others: list[str]) -> None:
    """Where no other line settles the order, or lines contradict each other, the line is a fault that names
    both days, whatever the reader's locale is."""
    lines = ["Name,Price,Start", *(f"A,1,{date}" for date in [*others, "3/4/2027"])]
    [fault] = read("\n".join(lines), SHAPE).faults
    assert (fault.line, fault.text) == (
        len(lines), "Start: It could be two days: write 2027-03-04 or 2027-04-03."
    )  # fmt: skip
