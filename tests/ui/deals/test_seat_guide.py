"""What wins cost beside each price on New package and in a deal's drawer, and what the chosen seats may win
at their prices: a slicer against plain pandas."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import LAST_DAY, copied
from dealing import SOLD, Visit, clean, clients, sold_rows, stock, visiting
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.deals.models import GeoTarget, Seat, SupplyPackage
from lib.figures.numbers import Numbers
from lib.insight import expected, seat_prices
from lib.insight.deal_report import DealReport
from lib.insight.win_prices import win_scales
from lib.people import DealsGrant, Grant, Person
from lib.reporting.models import InfoQuery
from lib.reporting.query_batch import QueryBatch
from lib.settings import Settings
from lib.slicers import dates
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.warehouse import Warehouse

ADA = Person("ada", "Ada", None, "manager", (Grant("demo"),), deals=DealsGrant("write", frozenset({1})))
KEYS = ("supply_package", "deal", "seat", "site_domain", "country")
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="hour"),
    key_fields=tuple(KeyFieldDefinition(name=name) for name in KEYS),
    data_fields=(
        DataFieldDefinition(name="imps"),
        DataFieldDefinition(name="bids"),
        DataFieldDefinition(name="spend", display_type="float"),
        DataFieldDefinition(name="win_cpm", formula="1000 * spend / imps", display_pattern="$#"),
        DataFieldDefinition(name="win_rate", formula="100 * imps / bids"),
    ),
)


def seated_rows() -> pd.DataFrame:
    """Forty days of the seats 1 and 2, in two countries; the seat 2 won nothing in Germany."""
    draw, size = np.random.default_rng(3), 1500
    first = dt.datetime.combine(LAST_DAY - dt.timedelta(days=39), dt.time(), dt.UTC)
    seat, country = draw.integers(1, 3, size), draw.choice(["US", "DE"], size)
    bids = draw.integers(50, 100, size).astype(float)
    imps = np.where((seat == 2) & (country == "DE"), 0.0, np.floor(bids * draw.uniform(0.1, 0.6, size)))
    return pd.DataFrame(
        {
            "time": [first + dt.timedelta(hours=int(hour)) for hour in np.sort(draw.integers(0, 960, size))],
            "supply_package": "1",
            "deal": seat.astype(str),
            "seat": seat.astype(str),
            "site_domain": draw.choice(["news.example", "cats.example", "dogs.example"], size),
            "country": country,
            "imps": imps,
            "bids": bids,
            "spend": imps * draw.gamma(3, 0.001, size) * seat,
        }
    )


FLOOR, FIXED = "As a floor, your price lets through", "Your fixed price is at or below what"
BOOKED = "The booked period (28 days), "
NO_OTHER = "This seat won nothing by other deals in this targeting. Wins of all seats:"


@pytest.fixture(scope="module")
def seated_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with deals and that slicer."""
    stocked: Path = copied(home, tmp_path_factory.mktemp("seated") / "home")
    stock(stocked)
    with Warehouse(stocked / "warehouse").writer("demo", "seated", DEFINITION, {}) as writer:
        writer.write(pa.Table.from_pandas(seated_rows(), schema=DEFINITION.schema(), preserve_index=False))
        writer.commit("made for the tests", "seated")
    return stocked


@pytest.fixture
def visit(seated_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    """Opens its screens; no draft is left over for the next test."""
    yield visiting(seated_home, monkeypatch)
    clients(Settings(home=seated_home, demo=True)).drafts.discard()


@pytest.fixture
def seated() -> pd.DataFrame:
    """The rows of that slicer."""
    return seated_rows()


def by_hand(rows: pd.DataFrame, days: int = 30) -> tuple[list[float], float]:
    """Quartiles of the win CPM of sites on days in the last ones, by impressions; and the win rate."""
    rows = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=days)]
    groups = rows.groupby(["site_domain", rows["time"].dt.date])[["spend", "imps"]].sum()
    groups = groups[groups["imps"] > 0]
    groups = groups.assign(cpm=1000 * groups["spend"] / groups["imps"]).sort_values("cpm")
    reached = groups["imps"].cumsum() / groups["imps"].sum()
    quartiles = [float(groups["cpm"][reached >= part].iloc[0]) for part in (0.25, 0.5, 0.75)]
    return quartiles, 100 * rows["imps"].sum() / rows["bids"].sum()


def come(desk: AppTest) -> AppTest:
    """The screen once everything that is computed in the background has come."""
    for _, insight in list(desk.session_state["insights"].values()):
        assert insight.wait(60)
    return clean(desk.run())


def said(desk: AppTest) -> list[str]:
    """The sentences beside the prices, and what they are of."""
    captions = [caption.value.replace("\\", "") for caption in desk.caption]
    words = ("Wins of", "This seat won", "No wins", "Win CPM", "what wins cost", "no data field for the win")
    return [text for text in captions if any(word in text for word in words)]


def form(visit: Visit, slicer: str, country: str | None, prices: dict[int, str]) -> AppTest:
    """New package with these seats and prices, before anything has come."""
    desk = visit("new_package", slicer=slicer)
    if country:
        desk.session_state["np_target_country_only"] = [country]
    desk.session_state["np_seats"] = list(prices)
    for seat, price in prices.items():
        desk.session_state[f"np_price_{seat}"] = price
    return clean(desk.run())


def figures(quartiles: list[float]) -> str:
    """As the sentence has them."""
    low, median, high = (f"${value:.2f}" for value in quartiles)
    return f"quartiles {low}, {median} and {high}."


def test_each_seat_beside_its_price(visit: Visit, seated: pd.DataFrame) -> None:
    """Each seat has the quartiles and win rate of its own wins in the targeting, and where its price is."""
    there = seated[seated["country"] == "US"]
    (first, rate), (second, other) = (by_hand(there[there["seat"] == seat]) for seat in "12")
    prices = {1: f"{first[2] + 0.01:.2f}", 2: f"{second[0] - 0.01:.2f}"}
    desk = come(form(visit, "seated", "US", prices))
    first_seat, two, note = said(desk)
    assert first_seat == (
        f"Wins of this seat: {figures(first)} {FLOOR} less than a quarter of these wins. "
        f"Win rate {rate:.1f} %."
    )
    assert two == (
        f"Wins of this seat: {figures(second)} {FLOOR} at least three quarters of these wins. "
        f"Win rate {other:.1f} %."
    )
    assert "demo/seated · Exact · averages by site_domain and day, weighted by imps" in note
    known = desk.session_state["insights"]["form_prices"][1]
    desk.text_input(key="np_price_1").set_value(f"{(first[0] + first[1]) / 2:.3f}").run()
    assert f"{FLOOR} half to three quarters of these wins." in said(clean(desk))[0]
    assert desk.session_state["insights"]["form_prices"][1] is known, "typing asks nothing"


def test_a_fixed_price_is_not_called_a_floor(visit: Visit, seated: pd.DataFrame) -> None:
    """The words fit the price type: that of the new deals, and that of the deal in the drawer."""
    there = seated[seated["country"] == "US"]
    ((_, median, _), _), (other, _) = (
        by_hand(there[there["seat"] == "1"]),
        by_hand(seated[seated["deal"] != "1"]),
    )
    desk = form(visit, "seated", "US", {1: f"{median - 0.01:.2f}"})
    desk.session_state["np_price_type"] = "fixed"
    desk = come(clean(desk.run()))
    assert f"{FIXED} half to three quarters of these wins cost." in said(desk)[0]
    desk.session_state["np_price_type"], desk.session_state["np_deal_type"] = None, "guaranteed"
    assert f"{FIXED} half to three quarters of these wins cost." in said(come(clean(desk.run())))[0]
    desk = come(change(visit, 1))
    desk.text_input(key="change-demand_deals-1-price").set_value(f"{other[0] - 0.01:.2f}")
    desk.session_state["change-demand_deals-1-price_type"] = "fixed"
    assert f"{FIXED} at least three quarters of these wins cost." in said(clean(desk.run()))[0]
    desk.session_state["change-demand_deals-1-price_type"] = "floor"
    assert f"{FLOOR} at least three quarters of these wins." in said(clean(desk.run()))[0]


def forecasts(desk: AppTest) -> list[str]:
    """The sentences about the booked period."""
    texts = [markdown.value.replace("\\", "") for markdown in desk.markdown]
    return [text.removeprefix(BOOKED) for text in texts if text.startswith(BOOKED)]


def won_at(rows: pd.DataFrame, seat: str, price: float = 0.0) -> float:
    """What a seat won in the last week on sites and days whose wins cost that much on average."""
    rows = rows[(rows["seat"] == seat) & (rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7))]
    groups = rows.groupby(["site_domain", rows["time"].dt.date])[["spend", "imps"]].sum()
    return float(groups["imps"][1000 * groups["spend"] / groups["imps"] >= price].sum())


def test_seats_and_prices_enter_the_forecast(visit: Visit, seated: pd.DataFrame) -> None:
    """Four weeks have four times what the last one had: of the wins of the chosen seats, those at or above
    its price for a seat that has one. What all buyers had stands below it, and is called so."""
    there = seated[seated["country"] == "US"]
    price = by_hand(there[there["seat"] == "1"])[0][1]
    desk = form(visit, "seated", "US", {1: f"{price:.2f}", 2: ""})
    desk.session_state["np_start_date"], desk.session_state["np_end_date"] = "2031-01-01", "2031-01-28"
    desk = come(clean(desk.run()))
    first_wins, two = won_at(there, "1", float(f"{price:.2f}")), won_at(there, "2")
    assert 0 < first_wins < won_at(there, "1")
    every = there[there["time"].dt.date > LAST_DAY - dt.timedelta(days=7)][["bids", "imps"]].sum()
    tail, write = "(no range: too few past periods to test one, or it held in too few)", Numbers().rough
    everyone = f"about {write(4 * every['bids'])} bids {tail}; about {write(4 * every['imps'])} imps {tail}."
    assert forecasts(desk) == [
        "what these 2 seats may win at or above their floors (1 without one at any price): "
        f"about {write(4 * (first_wins + two))} imps {tail}.",
        f"what all buyers together may have: {everyone}",
    ]
    desk.session_state["np_seats"] = [1]
    desk.session_state["np_price_type"] = "fixed"
    assert forecasts(come(clean(desk.run())))[0] == (
        f"what this seat may win at or above its price: about {write(4 * first_wins)} imps {tail}."
    )
    desk.session_state["np_currency"] = "EUR"
    desk = come(clean(desk.run()))
    assert forecasts(desk) == [f"what all buyers together may have: {everyone}"]
    assert any("Prices in EUR are not comparable in USD" in caption.value for caption in desk.caption)
    assert any("Your price in EUR is not comparable in USD." in text for text in said(desk))
    desk.session_state["np_seats"] = []
    assert forecasts(come(clean(desk.run()))) == [f"what all buyers together may have: {everyone}"]


def test_a_slicer_without_seats_forecasts_all_buyers(visit: Visit) -> None:
    """Where a slicer can't tell what a seat won, the forecast is called that of all buyers, and says why."""
    desk = form(visit, SOLD, "US", {1: "2.50"})
    desk.session_state["np_start_date"], desk.session_state["np_end_date"] = "2031-01-01", "2031-01-28"
    desk = come(clean(desk.run()))
    assert [text.split(":")[0] for text in forecasts(desk)] == ["what all buyers together may have"]
    captions = " ".join(caption.value.replace("\\", "") for caption in desk.caption)
    assert "can't tell what a seat won: seats and prices, seasons" in captions


def test_the_deals_of_a_package_enter_its_forecast(visit: Visit, seated: pd.DataFrame) -> None:
    """In a package's drawer the seats and prices are those of its deals that are not paused."""
    desk = visit("deals", slicer="seated", open="supply_deals-1")
    desk = come(clean(desk.button_group(key="drawer_shown").set_value("Targeting").run()))
    texts = [markdown.value.replace("\\", "") for markdown in desk.markdown if "may win" in markdown.value]
    assert [text.split(":")[0].partition(", ")[2] for text in texts] == [
        "what these 3 seats may win at or above their floors"
    ]


def test_a_seat_that_won_nothing(visit: Visit, seated: pd.DataFrame) -> None:
    """A seat without wins in the targeting is told so, and has the quartiles of all seats instead."""
    quartiles, rate = by_hand(seated[seated["country"] == "DE"])
    desk = come(form(visit, "seated", "DE", {2: ""}))
    assert said(desk)[0] == (
        f"This seat won nothing in this targeting. Wins of all seats: {figures(quartiles)} "
        f"Win rate {rate:.1f} %."
    )


def test_without_any_win(visit: Visit, seated: pd.DataFrame) -> None:
    """Where nothing was won nothing is said of prices but that."""
    desk = come(form(visit, "seated", "FR", {1: "3"}))
    [only] = said(desk)
    assert "No wins are recorded in this targeting," in only


def test_a_slicer_without_seats(visit: Visit, seated: pd.DataFrame) -> None:
    """A slicer that can't tell seats has the quartiles of all of them, without a win rate that it lacks."""
    quartiles, _ = by_hand(sold_rows().to_pandas())
    desk = come(form(visit, SOLD, None, {1: "0.5", 3: ""}))
    all_seats, three, note = said(desk)
    assert all_seats.startswith(f"Wins of all seats: {figures(quartiles)} {FLOOR} ")
    assert three == f"Wins of all seats: {figures(quartiles)}"
    assert "Exact" in note


def test_another_seat_that_may_not_be_seen_is_asked_nothing(visit: Visit, seated_home: Path) -> None:
    """A seat of a draft of before, or of a script, that may not be seen has no wins and no forecast."""
    people_in(seated_home).add(ADA, "a password")
    desk = visit("new_package", "ada", slicer="seated")
    desk.session_state["np_seats"], desk.session_state["np_price_2"] = [1, 2], "2"
    desk.session_state["np_start_date"], desk.session_state["np_end_date"] = "2031-01-01", "2031-01-28"
    desk = clean(desk.run())
    keys = [key for key, _ in desk.session_state["insights"].values()]
    filters = [condition for key in keys for query in key[1:] for condition in query.filters]
    assert {condition.value for condition in filters if condition.name == "seat"} == {("1",)}


def test_another_targeting_gives_up_what_was_asked(visit: Visit, seated: pd.DataFrame) -> None:
    """The form is drawn before anything has come; another targeting cancels what was on its way."""
    desk = form(visit, "seated", "US", {1: "3"})
    first: QueryBatch = desk.session_state["insights"]["form_prices"][1]
    desk.session_state["np_target_country_only"] = ["DE"]
    desk.run()
    assert first.is_done
    assert desk.session_state["insights"]["form_prices"][1] is not first
    desk.session_state["np_seats"] = []
    clean(desk.run())
    assert "form_prices" not in desk.session_state["insights"]


def change(visit: Visit, deal: int) -> AppTest:
    """The form Change in the drawer of a deal, before anything has come, without what another test typed."""
    desk = visit("deals", slicer="seated", open=f"demand_deals-{deal}")
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    for button in desk.button:
        if button.key == f"change-demand_deals-{deal}-_drop":
            clean(button.click().run())
    return desk


def test_beside_the_price_of_a_deal(visit: Visit, seated: pd.DataFrame) -> None:
    """Change has what was won in the package in the last 30 days without the deal itself, and what of it the
    typed price lets through; the seat has no other deal."""
    first, rate = by_hand(seated[seated["deal"] != "1"])
    desk = come(change(visit, 1))
    key = "change-demand_deals-1-price"
    desk = clean(desk.text_input(key=key).set_value(f"{first[0] - 0.01:.2f}").run())
    own, note = said(desk)
    assert own == (
        f"{NO_OTHER} {figures(first)} {FLOOR} at least three quarters of these wins. Win rate {rate:.1f} %."
    )
    assert (
        "Win CPM of other deals" in note
        and "Exact" in note
        and "Not counted in: " in note
        and "Device" in note
    )
    desk = clean(desk.text_input(key=key).set_value("not a price").run())
    assert said(desk)[0] == f"{NO_OTHER} {figures(first)} Win rate {rate:.1f} %."


def test_each_package_of_a_deal(visit: Visit, seated: pd.DataFrame) -> None:
    """A deal of two packages has a sentence for each, and one of none has none."""
    desk = change(visit, 1)
    desk.session_state["change-demand_deals-1-supply_deals"] = [1, 2]
    desk = come(clean(desk.run()))
    sentences = [text for text in said(desk) if "Wins of all seats" in text]
    assert [text.split(":")[0] for text in sentences] == ["Morning News", "Evening Sports"]
    desk.session_state["change-demand_deals-1-supply_deals"] = []
    assert not said(clean(desk.run()))


def test_a_failure_is_asked_anew(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the service fails beside a price this is said, and the next run asks again."""
    with monkeypatch.context() as broken:
        broken.setattr(
            seat_prices, "prices_query", lambda _, base, *rest: base.model_copy(update={"split_by": ("no",)})
        )
        desk = change(visit, 1)
        captions = [caption.value for caption in desk.caption]  # it may have failed by now, and is said once
        desk = come(desk)
        captions += [caption.value for caption in desk.caption]
        assert any("What wins cost could not be loaded" in text for text in captions)
    desk = come(clean(desk.run()))
    assert said(desk)[0].startswith("This seat won nothing by other deals")


def by_day(rows: pd.DataFrame) -> tuple[Decimal, Decimal]:
    """The outer quartiles of the win CPM of seats on days in the last 30, by impressions, in cents."""
    rows = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=30)]
    groups = rows.groupby(["seat", rows["time"].dt.date])[["spend", "imps"]].sum()
    groups = groups[groups["imps"] > 0]
    groups = groups.assign(cpm=1000 * groups["spend"] / groups["imps"]).sort_values("cpm")
    reached = groups["imps"].cumsum() / groups["imps"].sum()
    low, high = (groups["cpm"][reached >= part].iloc[0] for part in (0.25, 0.75))
    return Decimal(f"{low:.2f}"), Decimal(f"{high:.2f}")


def test_what_prices_are_compared_with(seated_home: Path, seated: pd.DataFrame) -> None:
    """In one question: the quartiles of each seat, and of all of them for a seat that won nothing; a person
    with some seats is compared with those alone."""
    settings = Settings(home=seated_home, demo=True)
    mine = clients(settings)
    slicer = mine.reporting.info(InfoQuery(project_name="demo", slicer_name="seated"))
    ask = partial(mine.reporting.audience, slicer=slicer)
    report = DealReport("demo", "seated", slicer, dates.today(slicer.timezone), ask, sees_all_seats=True)
    seats = list(mine.deals.everything(Seat))
    scales = win_scales(report, seats)
    for seat in (1, 2):
        scale = scales.find(seat, [])
        assert scale is not None
        assert (scale.low, scale.high) == by_day(seated[seated["seat"] == str(seat)])
    everybody = scales.find(3, [])
    assert everybody is not None
    assert (everybody.low, everybody.high) == by_day(seated)
    mine_alone = win_scales(report, [seat for seat in seats if seat.id == 1]).find(3, [])
    assert mine_alone is not None
    assert (mine_alone.low, mine_alone.high) == by_day(seated[seated["seat"] == "1"])


@pytest.mark.parametrize(
    ("seat", "price", "whose"),
    [(1, "900", "this seat may win"), (2, "900", "all buyers together"), (1, "0.01", "this seat may win")],
)
def test_a_guarantee_beside_what_its_seat_wins(seat: int, price: str, whose: str, seated_home: Path) -> None:
    """In Germany the seat 1 wins nothing at 900 and something at 0.01; the seat 2 never won there, so that it
    is compared with all buyers."""
    mine = clients(Settings(home=seated_home, demo=True))
    slicer = mine.reporting.info(InfoQuery(project_name="demo", slicer_name="seated"))
    ask = partial(mine.reporting.audience, slicer=slicer)
    report = DealReport("demo", "seated", slicer, dates.today(slicer.timezone), ask, sees_all_seats=True)
    now = dt.datetime.now(dt.UTC)
    package = SupplyPackage(
        media_type="banner",
        end_date=now + dt.timedelta(days=28),
        geo_targetings=(GeoTarget(type="country", value="DE"),),
    )
    supply = expected.available(report, package, {}, [(mine.deals.get(Seat, seat), Decimal(price))], now)
    assert supply is not None
    assert whose in supply.whose
    assert (supply.units == 0) == ((seat, price) == (1, "900"))
