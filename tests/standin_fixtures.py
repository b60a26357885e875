"""The stand-in for tests: with the rows of the small demo, described in the specification's words alone."""

from collections.abc import Iterator

import pytest
from conftest import COUNTRIES, small_rows
from standin.app import Standin, served
from standin.known import CachedSlicer
from standin.state import State

KEY_FIELDS = (
    {"name": "geo.country", "description": "Country", "mapping": "country"},
    {"name": "campaign_id", "description": "Campaign", "type": "int"},
    {"name": "categories", "description": "Content category", "is_segmented": 1},
)
DATA_FIELDS = (
    {"name": "imps", "description": "Impressions"},
    {"name": "clicks", "description": "Clicks"},
    {"name": "revenue", "description": "Revenue", "display_type": "float"},
    {"name": "ctr", "description": "CTR", "formula": "100 * clicks / imps"},
)
SOURCES = ({"name": "users", "description": "Unique users"},)


def small(seed: int) -> CachedSlicer:
    """The slicer of `conftest.small_rows`."""
    rows = small_rows(seed).to_pandas().fillna({"geo.country": ""})
    rows["categories"] = [list(category) or [""] for category in rows["categories"]]
    annotation = "A small demo for the tests"
    return CachedSlicer(annotation, KEY_FIELDS, DATA_FIELDS, SOURCES, rows, {"country": COUNTRIES})


@pytest.fixture(scope="session")
def standing() -> Iterator[Standin]:
    """A stand-in that goes on from test to test: its slicers are those of `home`."""
    with served(
        State({("demo", name): small(seed) for seed, name in enumerate(("delivery", "curation"))})
    ) as one:
        yield one


@pytest.fixture
def standin(standing: Standin) -> Iterator[Standin]:
    """The stand-in for one test, which may change its state."""
    standing.state.reset()
    yield standing
    standing.state.reset()
