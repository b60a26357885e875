"""Quartiles of the win CPM: the figures of a slicer of six rows, worked out by hand."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import clients
from standin.app import served
from standin.known import CachedSlicer
from standin.state import TOKEN, State

from lib.insight.win_prices import WinFields, WinPrices, win_fields, win_prices, win_question
from lib.reporting.answers import Audience, Precision, Total
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.warehouse import Warehouse
from lib.wire.filters import Filter

FORMULA = "1000 * spend / imps"
ROWS = (  # site, country, day before the last, impressions, spend: the CPM is 1, 2, 3, 4, 2 and 99
    ("a.example", "US", 0, 1000, 1.0),
    ("a.example", "US", 1, 3000, 6.0),
    ("b.example", "US", 0, 2000, 6.0),
    ("b.example", "US", 1, 500, 2.0),
    ("c.example", "US", 0, 1500, 3.0),
    ("c.example", "DE", 0, 1000, 99.0),
)
TABLE = pd.DataFrame(
    {
        "time": [dt.datetime.combine(LAST_DAY - dt.timedelta(days=r[2]), dt.time(9), dt.UTC) for r in ROWS],
        "site": [row[0] for row in ROWS],
        "country": [row[1] for row in ROWS],
        "imps": [float(row[3]) for row in ROWS],
        "spend": [row[4] for row in ROWS],
    }
)
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="hour"),
    key_fields=(KeyFieldDefinition(name="site"), KeyFieldDefinition(name="country")),
    data_fields=(
        DataFieldDefinition(name="imps"),
        DataFieldDefinition(name="spend", display_type="float"),
        DataFieldDefinition(name="win_cpm", formula=FORMULA),
    ),
)
KNOWN = CachedSlicer(
    "",
    ({"name": "site"}, {"name": "country"}),
    ({"name": "imps"}, {"name": "spend", "display_type": "float"}, {"name": "win_cpm", "formula": FORMULA}),
    (),
    TABLE,
)
QUERY = AudienceQuery(
    project_name="demo",
    slicer_name="wins",
    start_date=(LAST_DAY - dt.timedelta(days=1)).isoformat(),
    end_date=LAST_DAY.isoformat(),
    filters=(Filter(name="country", value=("US",), match="equals"),),
    split_by=("site",),
)
FIELDS = WinFields("win_cpm", "imps")


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path):
    """The clients: of a service of our own, and of one that knows the specification and nothing more."""
    if request.param == "embedded":
        with Warehouse(own_home / "warehouse").writer("demo", "wins", DEFINITION, {}) as writer:
            writer.write(pa.Table.from_pandas(TABLE, schema=DEFINITION.schema(), preserve_index=False))
            writer.commit("made for the tests", "wins")
        yield clients(Settings(home=own_home, demo=True))
        return
    with served(State({("demo", "wins"): KNOWN})) as service:
        yield clients(
            Settings(
                home=own_home, demo=True, base_url=service.address, reporting_token=TOKEN, slicers="demo/wins"
            )
        )


def test_quartiles_by_hand(of: Clients) -> None:
    """Of 8,000 impressions in the US, 1,000 cost 1, 4,500 cost 2, 2,000 cost 3 and 500 cost 4 for a thousand:
    a quarter is reached at 2, half at 2, three quarters (6,000) at 3."""
    slicer = of.reporting.info(InfoQuery(project_name="demo", slicer_name="wins"))
    fields = win_fields(slicer)
    assert fields == FIELDS
    query = win_question(QUERY, slicer, fields)
    assert query.split_by == ("site", "granularity_day")
    quartiles = win_prices(of.reporting.audience(query, slicer), fields)
    assert quartiles == WinPrices(2.0, 2.0, 3.0, 5, 100.0, is_exact=True)


def answer(*groups: tuple[float, float], whole: float | None = None, read: int = 10) -> Audience:
    """An answer of groups with a CPM and wins; `whole` are all wins, `read` of ten records were read."""
    values = pd.DataFrame(groups, columns=["win_cpm", "imps"], dtype=float)
    total = values["imps"].sum() if whole is None else whole
    return Audience(
        values, values, values, Total({"imps": total}, len(values)), precision=Precision(read, 10)
    )


def test_edges_of_the_quartiles() -> None:
    """Four equal groups: the first reaches a quarter, the second half, the third three quarters."""
    quartiles = win_prices(answer((4, 1), (1, 1), (3, 1), (2, 1)), FIELDS)
    assert quartiles is not None
    assert (quartiles.low, quartiles.median, quartiles.high) == (1, 2, 3)


def test_what_does_not_count() -> None:
    """Groups without a win or a CPM don't count; the rest of the wins and a sample are said."""
    quartiles = win_prices(answer((5, 30), (9, 0), (float("nan"), 2), whole=60, read=5), FIELDS)
    assert quartiles == WinPrices(5, 5, 5, 1, 50.0, is_exact=False)
    assert win_prices(answer((9, 0)), FIELDS) is None


@pytest.mark.parametrize(
    ("price", "share"),
    [
        ("2", "at least three quarters"),
        ("2.01", "half to three quarters"),
        ("3", "half to three quarters"),
        ("4", "a quarter to a half"),
        ("4.01", "less than a quarter"),
    ],
)
def test_how_many_a_floor_lets_through(price: str, share: str) -> None:
    """Those that cost as much or more: three quarters cost the lower quartile or more."""
    assert WinPrices(2, 3, 4, 9, 100.0, is_exact=True).share_from(Decimal(price)) == share
