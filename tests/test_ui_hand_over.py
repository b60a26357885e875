"""What the buyers of a package get: deal ids per seat, as text and as CSV."""

import datetime as dt
import io
from decimal import Decimal

import pandas as pd
from dealing import START, Visit, clean

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.new_package.creation import Created
from lib.ui.supply import hand_over
from lib.ui.supply.prices import Prices
from lib.ui.supply.rows import DealRow

PACKAGE = SupplyPackage(
    id=7, name="=Spring", media_type="video", start_date=START, end_date=START + dt.timedelta(days=30)
)
ROWS = (
    DealRow("demand_deals", 1, "Spring - Alpha", seats=("Alpha",), dsps=("Plain DSP",),
            prices=(Decimal("1250.5"),), deal_id="TR-1"),
    DealRow("demand_deals", 2, "Spring - Beta", seats=("@Beta",)),
)  # fmt: skip


def test_text() -> None:
    """The text says what it is and when it runs, then seat, deal id and price in a line each."""
    assert hand_over.text(PACKAGE, ROWS, Prices()).splitlines() == [
        "=Spring (video)",
        "1 Jan 2026, 09:30 UTC+1 – 31 Jan 2026, 09:30 UTC+1",
        "",
        "Alpha (Plain DSP): TR-1, 1,250.50 USD CPM",
        "@Beta: 2",
    ]


def test_csv() -> None:
    """The file has a row per deal, prices as plain numbers, and no text that a spreadsheet would run."""
    frame = pd.read_csv(io.BytesIO(hand_over.csv(PACKAGE, ROWS, Prices())), dtype=str, keep_default_na=False)
    assert frame["Deal id"].tolist() == ["TR-1", "2"]
    assert frame["Price, USD CPM"].tolist() == ["1250.50", ""]
    assert frame["Seat"].tolist() == ["Alpha", "'@Beta"]
    assert set(frame["Package"]) == {"'=Spring"}
    assert frame["End"].tolist() == ["2026-01-31 09:30:00+01:00"] * 2


def test_on_the_success_page_and_in_the_drawer(visit: Visit, deals: Deals) -> None:
    """Both show the deal ids of all seats of the package, to copy."""
    ids = [deals.get(DemandDeal, number).deal_id for number in (1, 2, 3)]
    desk = visit("deals", open="supply_deals-1")
    copied = desk.code[0].value
    assert [line.split(": ")[1].split(",")[0] for line in copied.splitlines()[3:]] == ids
    desk = visit("new_package")
    desk.session_state["np_created"] = Created(deals.get(SupplyPackage, 1))
    assert clean(desk.run()).code[0].value == copied
