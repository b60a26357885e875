"""The list of packages and deals: its rows, what narrows it, its CSV; and values and changes in words."""

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from dealing import clients

from lib.deals.models import Change, DemandDeal, Dsp, Reference, Seat, SupplyPackage
from lib.settings import Settings
from lib.ui.deals import facts, history
from lib.ui.deals.rows import Row, Wanted, csv, rows, table

DAY = dt.datetime(2026, 11, 20, 9, 0, tzinfo=dt.timezone(dt.timedelta(hours=1)))
ROWS = (
    Row("supply_deals", 1, "Morning News", "active", True, "banner", DAY, None, "US",
        ("Alpha", "Beta", "Gamma"), ("D1",), (Decimal("9"), Decimal("10.5")), ("Morning News - Alpha",)),
    Row("demand_deals", 7, "Morning News - Alpha", "paused", False, "banner", DAY, DAY, "US",
        ("Alpha",), ("D1",), (Decimal("9"),), ("Morning News",), "TR-1"),
    Row("demand_deals", 8, "=Evening", "complete", True, "video", None, None, "", ("Beta",), ("D2",)),
)  # fmt: skip


def test_rows_of_what_is_there(deals_home: Path) -> None:
    """Packages come with the latest first, each before its deals; seats and prices are those of the deals."""
    deals = clients(Settings(home=deals_home, demo=True)).deals
    found = rows(deals.list(SupplyPackage).results, deals.list(DemandDeal).results)
    assert [(row.entity, row.name) for row in found] == [
        ("supply_deals", "Evening Sports"),
        ("demand_deals", "Evening Sports - Alpha Buying"),
        ("supply_deals", "Morning News"),
        ("demand_deals", "Morning News - Alpha Buying"),
        ("demand_deals", "Morning News - Beta Media"),
        ("demand_deals", "Morning News - Gamma Trading"),
    ]
    news = found[2]
    assert news.seats == ("Alpha Buying", "Beta Media", "Gamma Trading")
    assert news.dsps == ("Syncing DSP", "Plain DSP")
    assert news.prices == (Decimal("2.5"), Decimal("3"), Decimal("3.25"))
    assert news.targeting == found[3].targeting == "US, DE · not smartphone"
    assert found[0].targeting == "News sites"
    assert found[3].others == ("Morning News",)


def test_a_deal_of_no_package_is_listed() -> None:
    """A deal that belongs to no package stands at the end, and one that a package names but nobody knows is
    left to the package."""
    alone = DemandDeal(id=3, name="Alone", seat=Seat(id=1, name="Alpha", dsp=Dsp(id=1, name="D1")))
    package = SupplyPackage(id=1, name="News", demand_deals=(Reference(id=99, name="Unknown"),))
    found = rows([package], [alone])
    assert [row.name for row in found] == ["News", "Alone"]
    assert (found[0].others, found[1].dsps, found[1].targeting) == (("Unknown",), ("D1",), "")


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Wanted(), [1, 7, 8]),
        (Wanted("morning ALPHA"), [1, 7]),
        (Wanted("tr-1"), [7]),
        (Wanted("8"), [8]),
        (Wanted("nothing"), []),
        (Wanted(kinds=["demand_deals"]), [7, 8]),
        (Wanted(statuses=["paused", "complete"]), [7, 8]),
        (Wanted(seats=["Beta"]), [1, 8]),
        (Wanted(dsps=["D2"]), [8]),
        (Wanted(media_types=["banner"], statuses=["active"]), [1]),
    ],
)
def test_narrowing(wanted: Wanted, ids: list[int]) -> None:
    """Every word of the search is found somewhere; of each filter any value, of all filters each."""
    assert [row.id for row in ROWS if wanted.has(row)] == ids


def test_prices_sort_as_numbers() -> None:
    """The price column is text, and sorts by the lowest price all the same."""
    prices = list(table(ROWS)["Price"])
    assert [price.strip() for price in prices] == ["9.00 – 10.50", "9.00", ""]
    dear = Row("demand_deals", 9, "Dear", prices=(Decimal("10"),))
    assert sorted(table([*ROWS[1:2], dear])["Price"])[0].strip() == "9.00"


def test_an_empty_table_has_its_columns() -> None:
    """Without rows there are still columns, of times where times belong."""
    empty = table([])
    assert list(empty)[:3] == ["Name", "Kind", "Status"]
    assert str(empty["Start"].dtype).startswith("datetime64")


def test_days_are_those_of_their_own_zone() -> None:
    """A package that starts at midnight in Berlin starts on that day, though it is the day before in UTC."""
    midnight = DAY.replace(hour=0)
    assert table([Row("supply_deals", 1, "News", start=midnight)])["Start"][0] == pd.Timestamp(2026, 11, 20)


def test_csv() -> None:
    """The file has times with offsets, decimals as they are, and no text that a spreadsheet would run."""
    frame = pd.read_csv(io.BytesIO(csv(ROWS)), dtype=str, keep_default_na=False)
    assert list(frame["Name"]) == ["Morning News", "Morning News - Alpha", "'=Evening"]
    assert frame["Start"][0] == "2026-11-20 09:00:00+01:00"
    assert (frame["Lowest price"][0], frame["Highest price"][0]) == ("9", "10.5")
    assert frame["Seats"][0] == "Alpha; Beta; Gamma"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("price", Decimal("2.5"), "2.50"),
        ("price", 3, "3.00"),
        ("agency_curation_fee", Decimal("0.125"), "0.125"),
        ("deal_sync", True, "yes"),
        ("agency_curation_fee_type", 1, "percent of spend"),
        ("end_date", None, "no end"),
        ("start_date", "2026-11-20 09:00:00+0100", "20 Nov 2026, 09:00 UTC+1"),
        ("start_date", DAY, "20 Nov 2026, 09:00 UTC+1"),
        ("contact_email", None, "–"),
        ("seat", {"id": 3, "name": "Alpha"}, "Alpha"),
        ("demand_deals", [{"id": 3, "name": "One"}, {"id": 4}], "One, 4"),
        ("geo_targetings", [{"type": "country", "value": "US", "is_excluded": True}], "not US"),
    ],
)
def test_values_in_words(field: str, value: object, words: str) -> None:
    """A field's value reads the same from the wire and from a model."""
    assert facts.value(field, value) == words


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"price": 2}, {"price": 2.5}, "Price: 2.00 → 2.50"),
        ({"is_active": True}, {"is_active": False}, "Paused"),
        ({"is_active": False}, {"is_active": True}, "Resumed"),
        (
            {"demand_deals": [{"id": 1, "name": "A"}]},
            {"demand_deals": [{"id": 2, "name": "B"}]},
            "Deals: added B; removed A",
        ),
    ],
)
def test_changes_in_words(before: dict[str, object], after: dict[str, object], sentence: str) -> None:
    """A change is told field by field; of a list, what came and what went."""
    change = Change(id=1, at=DAY, who="ada", action="changed", before=before, after=after)
    assert history.sentences(change) == [sentence]


def test_history_of_what_is_there(deals_home: Path) -> None:
    """The history of a package that was only created is that, with who and when."""
    deals = clients(Settings(home=deals_home, demo=True)).deals
    frame = history.table(deals.history(SupplyPackage, 1))
    assert list(frame["What"]) == ["Created"]
    assert list(frame["Who"]) == ["manager"]
