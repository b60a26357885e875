"""Others where refunds outweigh charges: what is left of a total is below zero, everywhere it is shown."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import boards
import pytest
from click.testing import CliRunner
from conftest import LAST_DAY, PEOPLE
from hypothesis import given
from hypothesis import strategies as st
from opening import opened

from lib.cli import main
from lib.figures.overview import leaderboards, split_levels
from lib.figures.palette import MINUS
from lib.reporting.answers import remainder
from lib.settings import Settings
from lib.share.documents.documents import Documents
from lib.share.snapshot import models

ABOUT, LEFT = ("demo", "refunds"), f"{MINUS}355.00"
DAY = LAST_DAY - dt.timedelta(days=2)


@pytest.fixture
def snapshots(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Documents]:
    """Nine sellers on two sites with charges, and one whose refunds are 355.00 more than its charges."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setattr(leaderboards, "LIMIT", 9)
    monkeypatch.setattr(split_levels, "ACROSS", 9)
    rows = [
        f"{day},seller {place},site {place % 2},{100 + place}.25"
        for day in (DAY, DAY - dt.timedelta(7))
        for place in range(9)
    ]
    rows += [f"{DAY},refunder,site 1,{amount}" for amount in ("45.00", "-400.00")]
    file = own_home / "refunds.csv"
    file.write_text("\n".join(["time,seller,site,revenue", *rows]) + "\n")
    ran = CliRunner().invoke(main, ["import", str(file), "--project", "demo", "--slicer", "refunds"])
    assert ran.exit_code == 0, ran.output
    yield Documents(Settings(home=own_home, demo=True))


def others(table: models.Table, column: str = "Revenue") -> list[str]:
    """What the rows of others say in a column."""
    place = next(n for n, title in enumerate(table.columns) if title.startswith(column))
    return [row.cells[place].text for row in table.rows if is_rest(row)]


def is_rest(row: models.Row) -> bool:
    """Whether the row is that of others."""
    return row.kind == "rest"


DAYS = {"start": str(DAY - dt.timedelta(2)), "end": str(DAY), "field": "revenue"}


def test_a_card_and_a_table_have_others_below_zero(snapshots: Documents) -> None:
    """The leaderboard and the split as a table say what refunds leave, and its change."""
    taken = snapshots.of_question(PEOPLE[1], ABOUT, DAYS | {"split": "seller", "lower": "split", "top": "9"})
    (card,) = (card for card in taken.cards if card.title == "Seller")
    for table in (card, taken.tables[0]):
        assert others(table) == [LEFT], table


def test_a_pivot_has_others_below_zero(snapshots: Documents) -> None:
    """So does the pivot."""
    pivot = draw_pivot(split="seller", top="9")
    assert ("Others", LEFT) in {(row[0].partition(" (")[0], row[1]) for row in pivot[1:]}


def test_a_pivot_has_others_below_zero_across(snapshots: Documents) -> None:
    """So do the columns of a pivot: what is left of a row beside the values that are columns."""
    titles, *rows = draw_pivot(split="site~seller", cross="seller")
    column = titles.index("Others")
    assert {row[0]: row[column] for row in rows} == {"Total": LEFT, "site 0": "0.00", "site 1": LEFT}


def draw_pivot(**params: str) -> list[list[str]]:
    """The texts of the pivot on screen, its titles first."""
    desk = opened("audience", project="demo", slicer="refunds", chart="pivot", **DAYS, **params)
    assert not desk.exception
    table = boards.split(desk)
    titles = [column["title"] for column in table["columns"]]
    return [titles, *([cell["text"] for cell in row["cells"]] for row in table["rows"])]


@given(st.lists(st.integers(-(10**9), 10**9), max_size=40), st.integers(0, 40))
def test_what_is_left_is_that_of_the_decimals(cents: list[int], count: int) -> None:
    """A total less any of its parts is the sum of the others, exactly nothing where they cancel out."""
    parts = [cent / 100 for cent in cents]
    left = remainder(sum(cents) / 100, parts[:count])
    expected = sum(cents[count:]) / 100
    assert left == pytest.approx(expected, abs=1e-4, rel=0)
    assert left == 0 or expected != 0


def test_what_estimates_leave_below_zero_is_not_known() -> None:
    """Estimates of parts may add up to more than that of the total: that is no refund."""
    assert remainder(100.0, [60.0, 50.0], is_estimate=True) is None
    assert remainder(100.0, [60.0, 50.0]) == -10.0
    assert remainder(None, [60.0]) is None
    assert remainder(0.3, [0.1, 0.2], is_estimate=True) == 0.0
