"""The demo has the specification's fields and the requested number of rows, is seeded, and ends today."""

import datetime as dt
from pathlib import Path

import duckdb
import numpy as np
import pytest
from peopled import people_in

from demo.conftest import SIZE, TODAY
from lib.demo import build
from lib.demo.cast import PASSWORD, PEOPLE
from lib.demo.stage import ACTS, ROWS, delivery
from lib.slicers.warehouse import Warehouse

GEO, AGENT = "bid_context_wrapper.user.geo", "bid_context_wrapper.user.agent"
DEMAND, SUPPLY = "bid_context_wrapper.demand", "bid_context_wrapper.supply"
KEY_FIELDS = [
    *(f"{DEMAND}.{name}" for name in ("advertiser_id", "campaign_id", "line_item_id", "creative_id")),
    f"{DEMAND}.tag_type",
    "bid_context_wrapper.bid.ssp",
    *(f"{SUPPLY}.{name}" for name in ("publisher_id", "site_id", "visibility", "site_domain", "page_domain")),
    *(f"{GEO}.{name}" for name in ("country", "country_region", "city", "dma", "zip")),
    *(f"{AGENT}.{name}" for name in ("browser.name", "browser.version", "os.name", "os.version")),
    *(f"{AGENT}.{name}" for name in ("device.type", "device.model", "device.maker")),
    *("is_secure_request", "is_app", "languages_list", "conversion_id", "blocked_adv_categories"),
    *("content_categories", "anomaly_segment", "requested_sizes", "segments_list", "hour_str"),
    *("granularity_year", "granularity_quarter", "granularity_month"),
    *("granularity_week", "granularity_day", "granularity_hour"),
]  # fmt: skip
SEGMENTED = {
    "languages_list", "conversion_id", "blocked_adv_categories", "content_categories", "requested_sizes",
    "segments_list",
}  # fmt: skip
DATA_FIELDS = [
    "bids", "nobids", "imps", "clicks", "bid_amount", "win_bid_amount", "anomaly_clicks_filtered", "pv_convs",
    "pc_convs", "payout.adv_payout", "payout.actual_pub", "pv_conversions", "pc_conversions",
    "attributed_pv_convs", "attributed_pc_convs", "vast_imp", "vast_start", "vast_25", "vast_50", "vast_75",
    "vast_complete", "vast_error", "vast_progress_30", "viewable_imps", "unique_users",
]  # fmt: skip
CURATION_KEYS = ["supply_package", "deal", "seat", "dsp", "app_bundle", "media_type", "country"]


def test_names_the_fields_of_the_specification(warehouse: Warehouse) -> None:
    """`delivery` has every key field and data field of the specification's sample slicer, none optional."""
    info = warehouse.open("demo", "delivery").info()
    cycles = {"granularity_weekday", "granularity_hour_of_day"}  # an extension
    assert {field.name for field in info.key_fields} - cycles == set(KEY_FIELDS)
    assert set(DATA_FIELDS) <= {field.name for field in info.data_fields}
    assert {field.name for field in info.key_fields if field.is_segmented} == SEGMENTED
    assert {f.name for f in info.key_fields if f.type == "int"} == {f"{GEO}.dma", "hour_str"}
    assert {f.name for f in info.key_fields if f.link} == {f"{SUPPLY}.site_domain", f"{SUPPLY}.page_domain"}
    assert not any(field.is_optional for field in info.data_fields)
    assert [(source.name, source.description) for source in info.audience_sources] == [
        ("users", "Unique users")
    ]


def test_curation_has_the_nouns_of_deals(warehouse: Warehouse) -> None:
    """`curation` can be split by supply package, deal, seat, DSP, app bundle, media type and country."""
    info = warehouse.open("demo", "curation").info()
    assert set(CURATION_KEYS) <= {field.name for field in info.key_fields}


@pytest.mark.parametrize("name", [act.name for act in ACTS])
def test_every_field_speaks(warehouse: Warehouse, name: str) -> None:
    """Every field has a label for people, no two the same, and every formula says what it means."""
    info = warehouse.open("demo", name).info()
    fields = (*info.key_fields, *info.data_fields)
    assert len({field.description for field in fields}) == len(fields)
    assert all(field.description != field.name for field in fields)
    assert all(field.formula_description for field in info.data_fields if field.formula)


@pytest.mark.parametrize("name", [act.name for act in ACTS])
def test_every_code_has_a_text(warehouse: Warehouse, rows: duckdb.DuckDBPyConnection, name: str) -> None:
    """Each value of a key field with a mapping is in that mapping."""
    stored = warehouse.open("demo", name)
    for field in stored.definition.key_fields:
        if field.mapping:
            values = f'unnest("{field.name}")' if field.segmented else f'"{field.name}"'
            codes = rows.execute(f"select distinct {values} from {name}").fetchall()
            assert {value for (value,) in codes if value is not None} <= set(stored.mapping(field.mapping))


def test_default_size_is_about_a_million() -> None:
    """Without a number, both slicers together have a million rows."""
    assert ROWS == 1_000_000
    assert sum(act.share for act in ACTS) == pytest.approx(1)


def test_size_and_days_are_as_asked(warehouse: Warehouse) -> None:
    """The rows asked for are there, on each of 61 days, the last of which is today."""
    slicers = [warehouse.open("demo", act.name) for act in ACTS]
    assert sum(stored.row_count for stored in slicers) == SIZE
    for stored in slicers:
        assert list(stored.rows) == [TODAY - dt.timedelta(days=back) for back in range(60, -1, -1)]


def test_same_seed_same_rows() -> None:
    """A seed and a day fix every value; another seed gives other rows."""
    first, again, other = (delivery(np.random.default_rng(seed), TODAY, 5_000) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_the_built_slicers_are_seeded(warehouse: Warehouse, tmp_path: Path) -> None:
    """Building twice gives the same stored rows."""
    people = people_in(tmp_path)
    again = build(Warehouse(tmp_path / "warehouse"), people, TODAY, rows=SIZE)
    for stored in again:
        before = warehouse.open("demo", stored.name)
        days = list(before.rows)[::20]
        assert stored.read(days).equals(before.read(days))


def test_building_again_replaces(tmp_path: Path) -> None:
    """A second build leaves the rows of the second alone, and its layout ready to be asked."""
    warehouse, people = Warehouse(tmp_path / "warehouse"), people_in(tmp_path)
    build(warehouse, people, TODAY - dt.timedelta(days=9), rows=20_000)
    told: list[float] = []
    slicers = build(warehouse, people, TODAY, rows=10_000, progress=lambda share, doing: told.append(share))
    assert sum(stored.row_count for stored in slicers) == 10_000
    assert {max(stored.rows) for stored in slicers} == {TODAY}
    assert all((stored.layout_folder / "layout.json").exists() for stored in slicers)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_people_may_see_the_demo(built: Path) -> None:
    """viewer, manager and admin sign in with the password demo and see the project demo."""
    people = people_in(built)
    assert [person.role for person in PEOPLE] == ["viewer", "manager", "admin"]
    for person in PEOPLE:
        signed_in = people.check(person.username, PASSWORD)
        assert signed_in is not None
        assert (signed_in.name, signed_in.role) == (person.name, person.role)
        assert signed_in.may_see("demo", "delivery")
