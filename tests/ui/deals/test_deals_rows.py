"""The list of packages and deals: its rows, cells, orders and CSV; and values and changes in words."""

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from dealing import clients

from lib.deals.abilities import Abilities
from lib.deals.delivery import FIGURES
from lib.deals.models import DemandDeal, Dsp, EntityChange, Reference, Seat, SupplyPackage
from lib.figures.deals import change_text, field_text
from lib.figures.numbers import Numbers
from lib.settings import Settings
from lib.ui.deals import catalog, deal_rows
from lib.ui.deals.deal_rows import DealRow, cells, csv, of_deal, of_package
from lib.ui.deals.drawer import history
from lib.ui.deals.list_state import NEWEST, ListSearch, orders, read_order

DAY = dt.datetime(2026, 11, 20, 9, 0, tzinfo=dt.timezone(dt.timedelta(hours=1)))
NAMES = deal_rows.COLUMNS["supply_deals"]
ROWS = (
    DealRow("supply_deals", 1, "Morning News", "active", True, "banner", DAY, None, "US",
        ("Alpha", "Beta", "Gamma"), ("D1",), (("", Decimal("9")), ("", Decimal("10.5"))),
        ("Morning News - Alpha",)),
    DealRow("demand_deals", 7, "Morning News - Alpha", "paused", False, "banner", DAY, DAY, "US",
        ("Alpha",), ("D1",), (("", Decimal("9")),), ("Morning News",), "TR-1"),
    DealRow("demand_deals", 8, "=Evening", "complete", True, "video", None, None, "", ("Beta",), ("D2",)),
)  # fmt: skip


def test_rows_of_a_page(deals_home: Path) -> None:
    """Packages have seats, DSPs and prices of their deals; deals dates and targeting of their package."""
    client = clients(Settings(home=deals_home, demo=True)).deals
    sports, news = catalog.read_page(client, ListSearch(), 0, 50).rows
    assert (sports.name, news.name) == ("Evening Sports", "Morning News")
    assert news.seats == ("Alpha Buying", "Beta Media", "Gamma Trading")
    assert news.dsps == ("Syncing DSP", "Plain DSP")
    assert news.prices == (("", Decimal("2.5")), ("", Decimal("3")), ("", Decimal("3.25")))
    assert (news.targeting, sports.targeting) == ("US, DE · not smartphone", "News sites")
    cheapest, *_ = catalog.read_page(client, ListSearch("demand_deals", order=("price", "asc")), 0, 50).rows
    assert (cheapest.name, cheapest.others) == ("Morning News - Alpha Buying", ("Morning News",))
    assert (cheapest.targeting, cheapest.start) == (news.targeting, news.start)


def test_a_part_of_a_list_is_counted_whole(deals_home: Path) -> None:
    """The count is that of all that is found, however few rows are read; all are read page by page."""
    client = clients(Settings(home=deals_home, demo=True)).deals
    wanted = ListSearch("demand_deals", "morning", order=("name", "desc"))
    part = catalog.read_page(client, wanted, 1, 1)
    assert (part.count, [row.name for row in part.rows]) == (3, ["Morning News - Beta Media"])
    assert [row.id for row in catalog.all_rows(client, wanted)] == [3, 2, 1]


def test_rows_of_what_is_linked_with_nothing() -> None:
    """A deal of no package has no targeting and no dates; a package names deals that are not known."""
    process_lock = of_deal(
        DemandDeal(id=3, name="Alone", seat=Seat(id=1, name="Alpha", dsp=Dsp(id=1, name="D1"))), {}
    )
    package = SupplyPackage(id=1, name="News", demand_deals=(Reference(id=99, name="Unknown"),))
    unsold = of_package(package, ())
    assert (unsold.others, process_lock.dsps, process_lock.targeting, process_lock.start) == (
        ("Unknown",),
        ("D1",),
        "",
        None,
    )


def test_cells() -> None:
    """Prices are a span in whole digits, seats beyond two are counted, a status is a badge."""
    texts = {name: cell.text for name, cell in zip(NAMES, cells(ROWS[0], NAMES), strict=True)}
    assert texts["price"] == "9.00 – 10.50"
    assert texts["seat"] == "Alpha, Beta and 1 more"
    assert [cells(row, ("status",))[0].tone for row in ROWS] == ["green", "orange", "gray"]
    assert [cells(row, ("price",))[0].text for row in ROWS[1:]] == ["9.00", ""]


def test_days_are_those_of_their_own_zone() -> None:
    """A package that starts at midnight in Berlin starts on that day, though it is another in UTC."""
    midnight = DAY.replace(hour=0)
    assert cells(DealRow("supply_deals", 1, "News", start=midnight), ("start_date",))[0].text == "20 Nov 2026"


def test_orders_are_those_of_the_service() -> None:
    """A header orders by what the service orders by; the URL's order is read, or the newest come first."""
    simple = Abilities(finds=False)
    assert "price" in orders("supply_deals", Abilities())
    assert "price" not in orders("supply_deals", simple)
    assert read_order("-price", orders("supply_deals", Abilities())) == ("price", "desc")
    for text in ("-price", "nonsense"):
        assert read_order(text, orders("supply_deals", simple)) == NEWEST
    for has_health in (True, False):
        assert ("spend_7_days" in orders("demand_deals", Abilities(), has_health)) == has_health
    heads = deal_rows.list_columns(
        ("name", "targeting"), "Price", orders("supply_deals", simple), ("name", "asc")
    )
    assert [(head.order, head.sorted) for head in heads] == [("asc", "asc"), (None, None)]


@pytest.mark.parametrize(("is_estimate", "sign"), [(False, ""), (True, "≈ ")])
def test_figures_of_the_last_days(is_estimate: bool, sign: str) -> None:
    """Counts are whole, money has cents, shares are percents; estimates are marked, what is not known left
    out."""
    figures = {
        "impressions_7_days": 1204.0,
        "spend_7_days": 3.5,
        "win_rate_30_days": 25.04,
        "pacing_7_days": 99.6,
    }
    texts = deal_rows.delivery_texts({**figures, "pacing_30_days": None}, is_estimate, Numbers())
    assert texts == {
        "impressions_7_days": f"{sign}1,204", "spend_7_days": f"{sign}3.50",
        "win_rate_30_days": f"{sign}25.0 %", "pacing_7_days": f"{sign}100 %",
    }  # fmt: skip


def test_a_card_has_room_for_one_figure() -> None:
    """On a phone the first of the figures that are chosen stands in the third line, with its title; else the
    start does."""
    for names, below in (
        (deal_rows.COLUMNS["demand_deals"], ["impressions_7_days"]),
        (deal_rows.ALL_COLUMNS["demand_deals"], ["impressions_7_days"]),
        (("name", "start_date"), ["start_date"]),
    ):
        heads = [head for head in deal_rows.list_columns(names, "Price") if head.on_phone == "below"]
        assert [head.id for head in heads] == below
        assert all(head.is_titled == (head.id in FIGURES) for head in heads)


def test_csv() -> None:
    """The file has times with offsets, decimals as they are, and no text that a spreadsheet would run."""
    frame = pd.read_csv(io.BytesIO(b"".join(csv(ROWS))), dtype=str, keep_default_na=False)
    assert list(frame["Name"]) == ["Morning News", "Morning News - Alpha", "'=Evening"]
    assert frame["Start"][0] == "2026-11-20 09:00:00+01:00"
    assert (frame["Lowest price, USD CPM"][0], frame["Highest price, USD CPM"][0]) == ("9", "10.5")
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
    assert field_text.value(field, value) == words


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"price": 2}, {"price": 2.5}, "Price, USD CPM: 2.00 → 2.50"),
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
    change = EntityChange(id=1, at=DAY, who="ada", action="changed", before=before, after=after)
    assert change_text.sentences(change) == [sentence]


def test_history_of_what_is_there(deals_home: Path) -> None:
    """The history of a package that was only created is that, with who and when."""
    deals = clients(Settings(home=deals_home, demo=True)).deals
    frame = history.table(deals.history(SupplyPackage, 1))
    assert list(frame["What"]) == ["Created"]
    assert list(frame["Who"]) == ["manager"]
