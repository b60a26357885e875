"""The demo's rows hang together: hierarchies, funnels, rhythm, tails."""

import itertools

import duckdb
import pytest

from lib.demo.stage import ACTS
from lib.slicers.warehouse import Warehouse

GEO, AGENT = "bid_context_wrapper.user.geo", "bid_context_wrapper.user.agent"
DEMAND, SUPPLY = "bid_context_wrapper.demand", "bid_context_wrapper.supply"


def one(rows: duckdb.DuckDBPyConnection, query: str) -> tuple[float, ...]:
    """The only row of an answer."""
    answer = rows.execute(query).fetchall()
    assert len(answer) == 1
    return answer[0]


@pytest.mark.parametrize(
    ("table", "child", "parent"),
    [
        ("delivery", f"{DEMAND}.campaign_id", f"{DEMAND}.advertiser_id"),
        ("delivery", f"{DEMAND}.line_item_id", f"{DEMAND}.campaign_id"),
        ("delivery", f"{DEMAND}.creative_id", f"{DEMAND}.line_item_id"),
        ("delivery", f"{DEMAND}.creative_id", f"{DEMAND}.tag_type"),
        ("delivery", f"{SUPPLY}.site_id", f"{SUPPLY}.publisher_id"),
        ("delivery", f"{SUPPLY}.site_domain", f"{SUPPLY}.publisher_id"),
        ("delivery", f"{SUPPLY}.page_domain", f"{SUPPLY}.site_domain"),
        ("delivery", f"{GEO}.country_region", f"{GEO}.country"),
        ("delivery", f"{GEO}.city", f"{GEO}.country_region"),
        ("delivery", f"{GEO}.dma", f"{GEO}.country"),
        ("delivery", f"{AGENT}.device.model", f"{AGENT}.device.maker"),
        ("delivery", "users", f"{GEO}.city"),
        ("delivery", "users", f"{AGENT}.device.type"),
        ("delivery", "users", f"{AGENT}.browser.version"),
        ("curation", "deal", "supply_package"),
        ("curation", "deal", "seat"),
        ("curation", "seat", "dsp"),
        ("curation", "supply_package", "media_type"),
        ("curation", "app_bundle", "content_categories"),
        ("curation", "region", "country"),
        ("curation", "users", "zip"),
    ],
)
def test_hierarchies_hold(rows: duckdb.DuckDBPyConnection, table: str, child: str, parent: str) -> None:
    """A value belongs to one value of what stands above it."""
    query = f"""select "{child}" from {table} where "{child}" is not null
        group by 1 having count(distinct coalesce("{parent}"::text, '')) > 1"""
    assert rows.execute(query).fetchall() == []


@pytest.mark.parametrize(
    "impossible",
    [
        f""""{AGENT}.browser.name" = 'Safari' and "{AGENT}.os.name" not in ('macOS', 'iOS', 'iPadOS')""",
        f""""{AGENT}.device.type" = 'desktop' and "{AGENT}.device.model" is not null""",
        f""""{GEO}.country" is distinct from 'US' and "{GEO}.dma" is not null""",
        f""""{DEMAND}.creative_id" is null and (bids > 0 or nobids = 0)""",
        f""""{DEMAND}.creative_id" is not null and (bids = 0 or nobids > 0)""",
        f"""is_app = '1' and "{SUPPLY}.site_domain" is not null""",
        f""""{AGENT}.device.type" = 'connected tv' and "{DEMAND}.tag_type" not in ('video')""",
        "len(conversion_id) > 0 and pv_convs + pc_convs = 0",
        "hour_str::int != extract(hour from time)",
    ],
)
def test_nothing_impossible_happens(rows: duckdb.DuckDBPyConnection, impossible: str) -> None:
    """No row contradicts what everybody knows."""
    assert one(rows, f"select count(*) from delivery where {impossible}") == (0,)


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        ("delivery", ["bids", "imps", "clicks", "pc_convs", "pc_conversions", "attributed_pc_convs"]),
        ("delivery", ["imps", "viewable_imps", "pv_convs", "pv_conversions", "attributed_pv_convs"]),
        ("delivery", ["imps", "vast_imp", "vast_start", "vast_25", "vast_50", "vast_75", "vast_complete"]),
        ("delivery", ["vast_50", "vast_progress_30"]),
        ("delivery", ["vast_imp - vast_start", "vast_error"]),
        ("delivery", ["bid_amount", "win_bid_amount", '"payout.actual_pub"']),
        ("delivery", ['"payout.adv_payout"', "win_bid_amount"]),
        ("curation", ["bid_requests", "bids", "imps", "viewable_imps"]),
        ("curation", ["imps", "clicks"]),
    ],
)
def test_funnels_narrow(rows: duckdb.DuckDBPyConnection, table: str, steps: list[str]) -> None:
    """No step counts more than the one before it, on any row, and each counts something, nothing below 0."""
    for wide, narrow in itertools.pairwise(steps):
        query = f"select count(*) filter ({narrow} > {wide} or {narrow} < 0), sum({narrow}) from {table}"
        broken, total = one(rows, query)
        assert broken == 0, f"{narrow} exceeds {wide}"
        assert total > 0, narrow


def test_counts_are_whole_numbers(warehouse: Warehouse, rows: duckdb.DuckDBPyConnection) -> None:
    """What is counted is whole; what is money is not."""
    for act in ACTS:
        stored = warehouse.open("demo", act.name)
        for field in stored.definition.data_fields:
            if field.source is not None:
                query = f'select count(*) from {act.name} where "{field.name}" != round("{field.name}")'
                assert (one(rows, query)[0] > 0) == field.is_float, field.name


def test_people_sleep_in_their_own_zone(rows: duckdb.DuckDBPyConnection) -> None:
    """New York is quietest around 4 and busiest around 20 o'clock of its own."""
    query = f"""select (extract(hour from time)::int + 19) % 24 as local, count(*) as visits from delivery
        where "{GEO}.city" = 'New York' group by 1 order by 2"""
    hours = [hour for hour, _ in rows.execute(query).fetchall()]
    assert set(hours[:3]) <= {2, 3, 4, 5}
    assert set(hours[-3:]) <= {18, 19, 20, 21, 22}


def test_weekends_are_quieter(rows: duckdb.DuckDBPyConnection) -> None:
    """A Saturday has fewer rows than a Wednesday, on the average."""
    query = """select isodow(time), count(*) / count(distinct time::date) from delivery group by 1"""
    a_day = dict(rows.execute(query).fetchall())
    assert a_day[6] < 0.92 * a_day[3]


@pytest.mark.parametrize("column", ["bids", "imps", '"payout.adv_payout"'])
def test_tails_are_heavy(rows: duckdb.DuckDBPyConnection, column: str) -> None:
    """The largest hundredth of the rows holds more than a tenth of the volume."""
    share = one(
        rows,
        f"""select sum(y) filter (place <= 0.01) / sum(y)
        from (select {column} as y, percent_rank() over (order by {column} desc) as place from delivery)""",
    )[0]
    assert 0.08 < share < 0.5


def test_a_few_users_come_often(rows: duckdb.DuckDBPyConnection) -> None:
    """Half of the users are seen at most twice, and some more than a hundred times."""
    often, most = one(
        rows,
        "select median(visits), max(visits) from (select count(*) as visits from delivery group by users)",
    )
    assert often <= 2
    assert most > 100
