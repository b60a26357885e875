"""The stories of the demo can be found in its data."""

import datetime as dt
from pathlib import Path

import duckdb
import numpy as np
import pytest
from dealing import clients
from peopled import people_in

from demo.conftest import TODAY
from lib.demo import build, stories
from lib.demo.cast import DEALS, PROJECT, SEATS
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.moved.explain import explain
from lib.settings import Settings
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.warehouse import Warehouse

COUNTRY, PUBLISHER = '"bid_context_wrapper.user.geo.country"', '"bid_context_wrapper.supply.publisher_id"'
WEEKDAYS, ROWS, SLICER = 7, 300_000, "curation"
BROWSER = '"bid_context_wrapper.user.agent.browser.name"'


def test_story_of_the_publisher(rows: duckdb.DuckDBPyConnection) -> None:
    """The win rate of one publisher collapses on one day, twelve days before the end; its bids don't."""
    query = f"""select {PUBLISHER}, time::date, sum(imps) / sum(bids), sum(bids) from delivery
        group by all"""
    rates: dict[str, dict[dt.date, tuple[float, float]]] = {}
    for publisher, day, win_rate, bids in rows.execute(query).fetchall():
        rates.setdefault(publisher, {})[day] = (win_rate, bids)
    ours = rates[stories.PUBLISHER]
    (collapsed, bids), others = ours.pop(TODAY - dt.timedelta(days=12)), list(ours.values())
    assert collapsed < 0.25 * min(rate for rate, _ in others)
    assert bids > 0.5 * np.median([bids for _, bids in others])


def test_story_of_the_country(rows: duckdb.DuckDBPyConnection) -> None:
    """Brazil grows from week to week, more than twofold over the whole time; all others together don't."""
    for table, country in (("delivery", COUNTRY), ("curation", "country")):
        query = f"""select count(*) filter ({country} = 'BR'), count(*) filter ({country} != 'BR')
            from {table} where time >= date '{TODAY}' - 55
            group by date_diff('day', time::date, date '{TODAY}') // 7 order by min(time)"""
        weeks = np.array(rows.execute(query).fetchall(), dtype=float)
        assert len(weeks) == 8
        assert weeks[-1, 0] > 1.8 * weeks[0, 0]
        assert np.corrcoef(np.arange(8), weeks[:, 0])[0, 1] > 0.94
        assert weeks[-1, 1] < 1.1 * weeks[0, 1]


def test_story_of_the_browser(rows: duckdb.DuckDBPyConnection) -> None:
    """Ads in Opera are seen less than half as often as in any other browser."""
    query = f"select {BROWSER}, sum(viewable_imps) / sum(imps) from delivery group by 1"
    seen = dict(rows.execute(query).fetchall())
    worst = seen.pop(stories.BROWSER)
    assert len(seen) > 5
    assert worst < 0.5 * min(seen.values())


def test_story_of_the_deal(rows: duckdb.DuckDBPyConnection) -> None:
    """One deal bids more than most and never wins; every other deal wins."""
    query = "select deal, sum(bids), sum(imps), sum(spend) from curation group by 1 order by 2 desc"
    deals = {
        deal: (place, imps, spend)
        for place, (deal, _, imps, spend) in enumerate(rows.execute(query).fetchall())
    }
    place, imps, spend = deals.pop(str(stories.DEAL))
    assert place < 5
    assert imps == spend == 0
    assert all(imps > 0 for _, imps, _ in deals.values())


def test_curation_follows_the_cast(rows: duckdb.DuckDBPyConnection) -> None:
    """Every deal of the cast has rows, with its own package, seat, DSP, countries and kinds of device."""
    query = """select deal, any_value(supply_package), any_value(seat), any_value(dsp), any_value(media_type),
        list(distinct coalesce(country, '')), list(distinct device_type) from curation group by 1"""
    by_deal = {row[0]: row[1:] for row in rows.execute(query).fetchall()}
    assert set(by_deal) == {str(deal.id) for deal in DEALS}
    for deal in DEALS:
        package, seat, dsp, media_type, countries, devices = by_deal[str(deal.id)]
        assert (package, seat, dsp) == (str(deal.package.id), str(deal.seat.id), str(deal.seat.dsp.id))
        assert media_type == deal.package.media_type
        assert not deal.package.countries or set(countries) <= set(deal.package.countries)
        assert not deal.package.device_types or set(devices) <= set(deal.package.device_types)


def test_the_cast_is_consistent() -> None:
    """No seat has two deals on one package, every seat has deals, and every price is a price."""
    pairs = [(deal.package.id, deal.seat.id) for deal in DEALS]
    assert len(set(pairs)) == len(pairs)
    assert {deal.seat for deal in DEALS} == set(SEATS)
    assert all(deal.price > 0 for deal in DEALS)


@pytest.mark.random
@pytest.mark.parametrize("later", range(WEEKDAYS))
def test_what_moved_names_the_cheap_deal_on_every_weekday(later: int, tmp_path: Path) -> None:
    """Made on any weekday, the demo names the deal of the story: its last 7 days against those before."""
    today = TODAY + dt.timedelta(days=later)
    (tmp_path / "tranche.toml").write_text("demo = true\n")
    build(Warehouse(tmp_path / "warehouse"), people_in(tmp_path), today, rows=ROWS)
    reporting = clients(Settings(home=tmp_path, demo=True)).reporting
    slicer = reporting.info(InfoQuery(project_name=PROJECT, slicer_name=SLICER))
    now, before = ((today - dt.timedelta(days=far), today - dt.timedelta(days=far - 6)) for far in (7, 14))
    moved = explain(
        lambda queries: [reporting.audience(query, slicer) for query in queries],
        AudienceQuery(
            project_name=PROJECT,
            slicer_name=SLICER,
            start_date=str(now[0]),
            end_date=str(now[1]),
            data_fields=("imps",),
        ),
        slicer,
        slicer.data_field("imps"),
        (before, now),
        [field.name for field in slicer.key_fields if field.name not in TIME_KEY_FIELDS],
    )
    codes = {mover.code for moves in moved.top if moves.name == "deal" for mover in moves.movers}
    assert str(stories.CHEAP_DEAL) in codes
