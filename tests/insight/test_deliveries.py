"""What deals delivered in the last days: by hand, on made answers and bookings."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal

import pandas as pd
import pytest

from lib.deals.delivery import PERIODS
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.deal_report import DealReport
from lib.insight.deliveries import Deliveries
from lib.reporting.answers import Audience, Precision, Total
from lib.slicers.models import DataField, Slicer

DAY = dt.timedelta(days=1)
TODAY = dt.date(2026, 11, 22)
NOON = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
ROW = {"imps": 300.0, "bids": 1_200.0, "spend": 1.5, "win_cpm": 5.0}


def deliveries(
    row: Mapping[str, float],
    *,
    read: int = 10,
    deal: str = "7",
    dates: tuple[str, ...] = ("2026-11-21",),
    currency: str = "",
    code: str | None = None,
) -> Deliveries:
    """Those of a slicer with these data fields, and this row of one deal in each period.

    Spend is in `currency` by a key field, or in that of a `code` in the definition.
    """
    fields = [DataField(name=name, currency=code if name == "spend" else None) for name in row]
    slicer = Slicer(data_fields=tuple(fields), last_date="2026-11-21")
    values = pd.DataFrame([dict(row)], dtype=float)
    answer = Audience(
        pd.DataFrame({"deal": [deal]}), values, values, Total({}, 1, dates), precision=Precision(read, 10),
        currencies=pd.DataFrame({"spend": [currency]}) if currency else None,
    )  # fmt: skip
    report = DealReport("demo", "sold", slicer, TODAY, lambda query: answer, currency="EUR")
    return Deliveries(report, dict.fromkeys(PERIODS, answer))


def package(days_ago: float, days: float | None) -> SupplyPackage:
    """A package that began so many days before the end of the report, for so many days, or without an end."""
    start = NOON - days_ago * DAY
    return SupplyPackage(id=1, start_date=start, end_date=None if days is None else start + days * DAY)


def test_figures_of_a_deal() -> None:
    """Impressions, spend, the win rate as a part of the bids; no pacing without a goal."""
    figures = deliveries(ROW).figures(DemandDeal(id=7), [package(60, 90)])
    for days in PERIODS:
        assert figures[f"impressions_{days}_days"] == 300
        assert figures[f"spend_{days}_days"] == 1.5
        assert figures[f"win_rate_{days}_days"] == 25
        assert figures[f"pacing_{days}_days"] is None


@pytest.mark.parametrize(
    ("currency", "code", "spend"),
    [
        ("", None, 1.5),
        ("EUR", "currency", 1.5),
        ("USD", "currency", None),
        ("", "EUR", 1.5),
        ("", "USD", None),
    ],
)
def test_spend_in_another_currency_is_none(currency: str, code: str | None, spend: float | None) -> None:
    """Where the report says that a deal spent another currency than the desk's, there is no figure."""
    figures = deliveries(ROW, currency=currency, code=code).figures(DemandDeal(id=7), [])
    assert (figures["spend_7_days"], figures["impressions_7_days"]) == (spend, 300)


def test_spend_follows_from_the_win_price() -> None:
    """Where a slicer has no field for it: wins, else impressions, at the win CPM; nothing without either."""
    no_spend = {name: value for name, value in ROW.items() if name != "spend"}
    assert deliveries(no_spend).figures(DemandDeal(id=7), [])["spend_7_days"] == 1.5
    assert deliveries({**no_spend, "wins": 400.0}).figures(DemandDeal(id=7), [])["spend_7_days"] == 2
    figures = deliveries({"bids": 9.0}).figures(DemandDeal(id=7), [])
    assert {name: value for name, value in figures.items() if value is not None} == {}


@pytest.mark.parametrize(
    ("read", "dates", "spend", "is_estimate"),
    [(10, ("2026-11-21",), 0.0, False), (5, ("2026-11-21",), None, True), (10, (), None, False)],
)
def test_a_deal_without_rows(
    read: int, dates: tuple[str, ...], spend: float | None, is_estimate: bool
) -> None:
    """It had nothing; in a sample, or where the report has no data of these days, that is not known."""
    of = deliveries(ROW, read=read, dates=dates)
    figures = of.figures(DemandDeal(id=8), [])
    assert (figures["spend_7_days"], figures["win_rate_7_days"], of.is_estimate) == (spend, None, is_estimate)


@pytest.mark.parametrize(
    ("terms", "packages", "pacing_7", "pacing_30"),
    [
        pytest.param(
            {"units": 3_000}, [package(30, 60)], 300 / 350, 300 / 1_500, id="guaranteed impressions"
        ),
        pytest.param({"units": 3_000}, [package(2, 60)], 3.0, 3.0, id="began two days ago"),
        pytest.param({"units": 3_000}, [package(33, 30)], 300 / 400, 300 / 2_700, id="ended three days ago"),
        pytest.param({"budget": 15}, [package(30, 60)], 1.5 / 1.75, 1.5 / 7.5, id="budget"),
        pytest.param(
            {"units": 3_000, "budget": 1}, [package(30, 60)], 300 / 350, 0.2, id="impressions first"
        ),
        pytest.param({"units": 3_000}, [package(30, 10), package(10, 40)], 300 / 350, 0.2, id="two packages"),
        pytest.param({"units": 3_000}, [package(30, None)], None, None, id="no end"),
        pytest.param({"units": 3_000}, [], None, None, id="packages not known"),
        pytest.param({"units": 3_000}, [package(-3, 30)], None, None, id="not begun"),
    ],
)
def test_pacing_is_held_against_what_the_goal_needs(
    terms: dict[str, int], packages: list[SupplyPackage], pacing_7: float | None, pacing_30: float | None
) -> None:
    """In those of the days that are booked, if it is met evenly from the first start to the last end."""
    deal = DemandDeal(id=7, **{name: Decimal(value) for name, value in terms.items()})
    figures = deliveries(ROW).figures(deal, packages)
    for days, part in ((7, pacing_7), (30, pacing_30)):
        pacing = figures[f"pacing_{days}_days"]
        assert pacing == (None if part is None else pytest.approx(100 * part))
