"""Real data that nobody here wrote goes in whole, and adds up as an independent database says."""

import os
from pathlib import Path

import duckdb
import pytest
from ingesting import Place, reader

from lib.ingest.inference import infer
from lib.slicers.definition.file import read_definition
from lib.slicers.warehouse.slicer import read_mapping

DATA = Path(os.environ.get("TRANCHE_TEST_DATA", ""))
WIKI, NAB = DATA / "wikiticker_sampled.ndjson.gz", DATA / "nab_ad_exchange.csv"
TEXTS, NUMBERS = ("channel", "page", "countryIsoCode", "metroCode", "isRobot"), ("added", "deleted", "delta")
REAL = Path(__file__).parents[1] / "real"
pytestmark = pytest.mark.skipif(
    not os.environ.get("TRANCHE_TEST_DATA"),
    reason="TRANCHE_TEST_DATA does not name the folder of the real data",
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with a warehouse."""
    return Place(tmp_path)


def test_wikipedia_s_edits(place: Place) -> None:
    """Every row and value of the edits is in: sums by channel, missing values, letters of all kinds."""
    mappings = {"country": read_mapping(DATA / "country_iso2.csv"), "dma": read_mapping(DATA / "dma.csv")}
    stored = place.take(
        WIKI, definition=read_definition(REAL / "wiki.yaml"), mappings=mappings, max_rejects=0
    )
    kinds = dict.fromkeys(("time", *TEXTS, "user"), "varchar") | dict.fromkeys(NUMBERS, "double")
    source = f"read_json('{WIKI}', format='newline_delimited', columns={kinds})"
    columns = ", ".join([*TEXTS, *NUMBERS])
    ours = duckdb.from_arrow(stored.read(stored.files)).project(
        f"{columns}, users as \"user\", strftime(time at time zone 'UTC', '%Y-%m-%dT%H') as hour"
    )
    theirs = duckdb.sql(f'select {columns}, "user", time[:13] as hour from {source}')
    assert stored.row_count == 39_244 == len(theirs)
    assert not ours.except_(theirs).fetchall()
    assert stored.rows[min(stored.rows)] > 0 and stored.info().first_date == "2015-09-08"
    assert stored.mapping("dma")["501"] == "New York"


def test_the_ad_exchanges(place: Place) -> None:
    """Every observation is in, a doubled hour twice; means are kept as values, not sums."""
    stored = place.take(NAB, definition=read_definition(REAL / "nab.yaml"), max_rejects=0)
    theirs = duckdb.sql(
        f"select exchange, metric, date_trunc('hour', timestamp) as hour, value from read_csv('{NAB}')"
    )
    ours = duckdb.from_arrow(stored.read(stored.files)).filter("avg = max and avg = min")
    ours = ours.project("exchange, metric, time at time zone 'UTC' as hour, avg")
    assert stored.row_count == 9_610 == len(theirs)
    assert not ours.except_(theirs).fetchall()


@pytest.mark.parametrize("path", [WIKI, NAB], ids=lambda path: path.name)
def test_real_files_need_no_definition(place: Place, path: Path) -> None:
    """What is guessed takes every row; codes are key fields, amounts data fields."""
    definition = infer(reader(path)).definition
    assert place.take(path, definition=definition, max_rejects=0).row_count in (39_244, 9_610)
    data = {part.name for part in definition.data_fields}
    assert data == ({"records", "added", "deleted", "delta"} if path == WIKI else {"records", "value"})
    assert definition.time.granularity == "hour"
