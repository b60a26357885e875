"""Forecasts on screen: the ledger as a page, what forms add to it, and ranges scaled by it."""

import datetime as dt
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from boards import components
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, clients, table_rows
from streamlit.testing.v1 import AppTest

from lib import connect
from lib.connect import Clients
from lib.deals.client import Deals
from lib.deals.forecasts import ForecastScores, NewForecast, StoredForecast
from lib.deals.models import SupplyPackage
from lib.people import DealsGrant, Grant
from lib.settings import Settings

ONE, NOW = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
US = {"name": "geo.country", "value": ["US"], "match": "equals"}
PAST = NewForecast(
    kind="targeting", project="demo", slicer=SOLD, field="bids", first_day="2026-10-05",
    last_day="2026-10-11", data_day="2026-10-04", subject={"filters": [US]}, estimate=100.0, low=80.0,
    high=125.0, raw_low=80.0, raw_high=125.0, scale=1.0,
)  # fmt: skip


@pytest.fixture
def settings(own_deals_home: Path) -> Settings:
    """Those of a data directory with deals, and without forecasts."""
    return Settings(home=own_deals_home, demo=True)


@pytest.fixture
def manager(settings: Settings) -> Clients:
    """The manager's clients."""
    return clients(settings)


def score(
    settings: Settings, manager: Clients, came: list[float], new: NewForecast = PAST, **entity: int
) -> None:
    """Add a forecast for each of these figures, and what came."""
    for number, actual in enumerate(came):
        first = dt.date.fromisoformat(new.first_day) - number * ONE
        days = {"first_day": first.isoformat(), "last_day": (first + 6 * ONE).isoformat()}
        for kind, of in entity.items() or [(None, None)]:
            manager.forecasts.keep([replace(new, **days)], kind, of)
        store = ForecastScores(connect.installation(settings).access.store.engine, "")
        store.settle([(one, actual) for one in store.waiting(dt.date(2026, 11, 1))], NOW)


def rows(desk: AppTest) -> list[list[str]]:
    """The cells of the list."""
    (listing,) = [data for data in components(desk) if str(data.get("label", "")).startswith("Forecasts")]
    return [[re.sub(r"\u2060", "", cell["text"]) for cell in row["cells"]] for row in listing["rows"]]


def words(desk: AppTest) -> str:
    """All sentences on screen."""
    texts = "\n".join(one.value for one in (*desk.markdown, *desk.caption, *desk.warning, *desk.info))
    return re.sub(r"\\(.)|\u2060", r"\1", texts)


def ledger(manager: Clients) -> list[StoredForecast]:
    """All that the manager sees."""
    return manager.forecasts.visible()


def test_coverage_and_misses(visit: Visit, settings: Settings, manager: Clients) -> None:
    """12 forecasts of which 9 held: the share with its interval, that they are too few to scale; the misses
    by how far they were outside, and each with its question and package."""
    score(settings, manager, [100.0] * 9 + [150.0, 40.0, 126.0], supply_deals=1)
    desk = visit("forecasts", slicer=SOLD)
    (table,) = table_rows(desk, "How often the ranges of each kind held")
    assert table == {
        "Held": "9 of 12", "Share": "75.0 %", "95 % interval": "47 % to 91 %",
        "Held before scaling": "75.0 %", "Width": "45 %",
        "Width before scaling": "45 %", "Next ranges": "as made: 12 scored, 30 needed",
    }  # fmt: skip
    assert [(row[0], row[4], row[5], row[6]) for row in rows(desk)] == [
        ("Bids: Morning News", "80 to 125", came, outside)
        for came, outside in (("40", "50.0 %"), ("150", "20.0 %"), ("126", "0.8 %"))
    ]
    assert desk.button_group(key="forecasts_which").options == [
        "Misses 3",
        "Held 9",
        "Waiting 0",
        "Not scored 0",
    ]
    desk.session_state["forecasts_chosen"] = next(one.id for one in ledger(manager) if one.actual == 40)
    clean(desk.run())
    assert "Estimate 100, range 80 to 125. It came to 40." in words(desk)
    links = [json.dumps(one.proto.page + one.proto.query_string) for one in desk.get("page_link")]
    assert any("audience" in link and "is.geo.country=US" in link for link in links)
    assert any("open=supply_deals-1" in link for link in links)


def test_what_waits_and_what_has_no_score(visit: Visit, settings: Settings, manager: Clients) -> None:
    """Each stands in its group, the latter with its reason; a page without any says how one comes."""
    assert "No forecast is kept yet" in words(visit("forecasts", slicer=SOLD))
    manager.forecasts.keep([PAST, replace(PAST, field="imps", last_day="2099-01-01")])
    store = ForecastScores(connect.installation(settings).access.store.engine, "")
    store.settle([(store.waiting(dt.date(2026, 11, 1))[0], "The slicer is gone")], NOW)
    desk = visit("forecasts", slicer=SOLD)
    clean(desk.button_group(key="forecasts_which").set_value("Not scored").run())
    assert [row[5] for row in rows(desk)] == ["The slicer is gone"]
    clean(desk.button_group(key="forecasts_which").set_value("Waiting").run())
    assert [row[0] for row in rows(desk)] == ["Impressions: Country is US"]


def test_a_change_of_the_report_is_said(visit: Visit, settings: Settings, manager: Clients) -> None:
    """Where the latest thirty were off far more often than those before them."""
    score(settings, manager, [150.0] * 10 + [101.0] * 50)
    assert "expect more misses" in words(visit("forecasts", slicer=SOLD))


def test_who_sees_the_page(visit: Visit, settings: Settings, manager: Clients) -> None:
    """Managers and administrators, with the forecasts of slicers that they may see."""
    manager.forecasts.keep([PAST, replace(PAST, slicer="delivery")])
    people = connect.installation(settings).people
    people.change("manager", grants=(Grant("demo", "delivery"),))
    desk = visit("forecasts", slicer="delivery")
    clean(desk.button_group(key="forecasts_which").set_value("Waiting").run())
    assert len(rows(desk)) == 1
    people.change("viewer", deals=DealsGrant("propose"))
    assert "Forecasts of targetings" not in words(visit("deals", "viewer"))
    assert "Forecasts of targetings" not in words(visit("forecasts", "viewer"))


def book(deals: Deals) -> None:
    """Package 1 runs for the seven days after the report's."""
    start = dt.datetime.combine(LAST_DAY + 2 * ONE, dt.time(), dt.UTC)
    deals.change(SupplyPackage, 1, {"start_date": start, "end_date": start + 7 * ONE})


def targeting(visit: Visit) -> AppTest:
    """The drawer of package 1 at its targeting, once all is computed."""
    desk = visit("deals", slicer=SOLD, open="supply_deals-1")
    clean(desk.button_group(key="drawer_shown").set_value("Targeting").run())
    for _, batch in list(desk.session_state["insights"].values()):
        assert batch.wait(60)
    return clean(desk.run())


def test_a_package_that_is_looked_at_is_added_once(visit: Visit, manager: Clients) -> None:
    """Its bids and impressions, however often; with days to come alone."""
    targeting(visit)
    assert ledger(manager) == []  # it began long ago
    book(manager.deals)
    for _ in range(2):
        targeting(visit)
    added = ledger(manager)
    assert {(one.field, one.entity, one.entity_id, one.first_day, one.scale) for one in added} == {
        (field, "supply_deals", 1, (LAST_DAY + 2 * ONE).isoformat(), 1.0) for field in ("bids", "imps")
    }
    assert all(one.low < one.estimate < one.high for one in added)
    assert {one.data_day for one in added} == {LAST_DAY.isoformat()}


def test_ranges_are_scaled_by_what_was_learned(visit: Visit, settings: Settings, manager: Clients) -> None:
    """Forty that came at the square of their factors double the range on both sides; the screen says so."""
    book(manager.deals)
    (plain,) = (text for text in words(targeting(visit)).splitlines() if "all buyers" in text)
    (raw,) = (one for one in ledger(manager) if one.field == "bids")
    score(settings, manager, [100 * 1.25**2] * 40)
    desk = targeting(visit)
    (scaled,) = (text for text in words(desk).splitlines() if "all buyers" in text)
    assert plain != scaled
    assert "Ranges are scaled by what past forecasts were off: Bids by 2.00" in words(desk)
    book_again = {"end_date": dt.datetime.combine(LAST_DAY + 8 * ONE, dt.time(), dt.UTC)}
    manager.deals.change(SupplyPackage, 1, book_again)
    targeting(visit)
    new = max((one for one in ledger(manager) if one.field == "bids"), key=lambda one: one.id)
    assert (new.scale, raw.scale) == (2.0, 1.0)
    assert new.high / new.estimate == pytest.approx((new.raw_high / new.estimate) ** 2)


def test_a_form_is_added_once_it_is_sent(visit: Visit, manager: Clients) -> None:
    """What is typed is not; the created package has its forecasts and its price guide."""
    desk = visit("new_package", slicer=SOLD)
    desk.text_input(key="np_name").set_value("Autumn")
    start = LAST_DAY + 2 * ONE
    for name, day in (("start_date", start), ("end_date", start + 7 * ONE)):
        desk.text_input(key=f"np_{name}").set_value(day.isoformat())
    desk.multiselect(key="np_seats").set_value([1]).run()
    desk.text_input(key="np_price_1").set_value("2").run()
    for _, batch in list(desk.session_state["insights"].values()):
        assert batch.wait(60)
    clean(desk.run())
    assert ledger(manager) == []
    clean(desk.button(key="np_create_button").click().run())
    assert {(one.kind, one.field, one.entity_id) for one in ledger(manager)} == {
        ("targeting", "bids", 3), ("targeting", "imps", 3), ("price", "win_cpm", 3),
    }  # fmt: skip
    price = next(one for one in ledger(manager) if one.kind == "price")
    assert price.low <= price.estimate <= price.high
    assert (price.first_day, price.last_day) == (
        (LAST_DAY + ONE).isoformat(), (LAST_DAY + 7 * ONE).isoformat(),
    )  # fmt: skip
