"""The slicer `hourly`: hourly rows in a zone other than 0, with every kind of field that there is.

`ROWS` are what the expected numbers are computed from, by pandas: one row per hour and some more, from a
hundred days back until the day after tomorrow, so that no midnight changes what "today" finds.
"""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.slicers.definition import Definition

ZONE = 3
TODAY = dt.datetime.now(dt.UTC).date()
FIRST, LAST = TODAY - dt.timedelta(days=100), TODAY + dt.timedelta(days=2)
COUNTRIES = {
    "US": "United States",
    "DE": "Germany",
    "GB": "United Kingdom",
    "UK": "United Kingdom",
    "CI": "Côte d'Ivoire",
}
CATEGORIES = {"news": "News & politics", "sport": "Sport", "travel": "Travel and sports tours"}
DOMAINS = (
    "shop.example", "Shop.Example", "news.example", "NEWS.example", "münchen.example", "100%_sure\\",
    'the "quoted", one', "=SUM(A1:A9)", "+1", "-cmd", "@there", "\ttabbed", "\rreturned", "two\r\nlines",
    "'tis", "ΟΔΟΣ", "İzmir", None,
)  # fmt: skip

DEFINITION = Definition.model_validate(
    {
        "annotation": "Hours of a small shop",
        "timezone": ZONE,
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [
            {"name": "geo.country", "description": "Country", "mapping": "country",
             "annotation": "By address"},
            {"name": "site_id", "description": "Site", "type": "int"},
            {"name": "domain", "description": "Domain", "link": "domain"},
            {"name": "categories", "description": "Category", "segmented": "|", "mapping": "category"},
            {"name": "segments", "segmented": True},
        ],
        "data_fields": [
            {"name": "imps", "description": "Impressions", "annotation": "As served", "show_percents": 2},
            {"name": "clicks", "description": "Clicks"},
            {"name": "revenue", "display_type": "float", "display_precision": 3, "access": "private"},
            {"name": "adjustment", "display_type": "float", "display_pattern": "$ %s"},
            {"name": "price", "description": "Price, mean", "aggregate": "mean"},
            {"name": "least", "aggregate": "min"},
            {"name": "most", "aggregate": "max"},
            {"name": "records", "aggregate": "count"},
            {"name": "priced", "aggregate": "count", "column": "price"},
            {"name": "pages", "aggregate": "distinct"},
            {"name": "ctr", "description": "CTR", "formula": "100 * clicks / imps",
             "formula_description": "Clicks per hundred impressions"},
            {"name": "value", "formula": "(revenue + adjustment) / records", "display_precision": 4},
            {"name": "reach", "formula": "imps / unique_users"},
            {"name": "bonus", "is_optional": True, "access": "shared"},
        ],
        "audience_sources": [
            {"name": "users", "description": "Unique users", "annotation": "By cookie"},
            {"name": "devices"},
        ],
    }
)  # fmt: skip
USUAL = [
    "imps", "clicks", "revenue", "adjustment", "price", "least", "most", "records", "priced", "pages",
    "ctr", "value", "reach", "unique_users", "unique_devices",
]  # fmt: skip
ADDITIVE = ["imps", "clicks", "revenue", "adjustment", "records", "priced"]


def _some(draw: np.random.Generator, values: tuple[str | None, ...], size: int) -> list[str | None]:
    return [values[place] for place in draw.integers(0, len(values), size)]


def _sets(
    draw: np.random.Generator, values: tuple[str | None, ...], size: int
) -> list[list[str | None] | None]:
    """Up to three elements, in any order, some of them twice; sometimes none, sometimes null."""
    counts = draw.integers(-1, 4, size)
    return [None if count < 0 else _some(draw, values, count) for count in counts]


def _elements(raw: list[str | None] | None) -> list[str] | None:
    """The elements of a record: without blanks around them, and without empty ones."""
    return None if raw is None else [text.strip() for text in raw if text and text.strip()]


def _holed(draw: np.random.Generator, values: np.ndarray, share: float = 0.15) -> np.ndarray:
    return np.where(draw.random(len(values)) < share, np.nan, values)


def _rows() -> pd.DataFrame:
    draw = np.random.default_rng(20)
    midnight = pd.Timestamp(FIRST, tz="UTC") - pd.Timedelta(hours=ZONE)
    span = 24 * ((LAST - FIRST).days + 1)
    hours = np.concatenate([np.arange(span), draw.integers(0, span, 500)])
    size = len(hours)
    imps = np.where(draw.random(size) < 0.3, 0, draw.geometric(0.02, size)).astype(float)
    price = _holed(draw, draw.gamma(2, 1.5, size), 0.3)
    return pd.DataFrame(
        {
            "time": midnight + pd.to_timedelta(hours, unit="h"),
            "geo.country": _some(draw, (*COUNTRIES, "ZZ", None), size),
            "site_id": _some(draw, ("1", "2", "10", "-3", None), size),
            "domain": _some(draw, DOMAINS, size),
            "categories": _sets(draw, (*CATEGORIES, " sport ", "unmapped", ""), size),
            "segments": _sets(draw, ("a", "b", "c", "d", " b\u00a0", "", " ", None), size),
            "imps": imps,
            "clicks": _holed(draw, draw.binomial(imps.astype(int), 0.1).astype(float)),
            "revenue": _holed(draw, imps * draw.gamma(2, 0.01, size)),
            "adjustment": _holed(draw, draw.normal(0, 3, size)),
            "price": price,
            "least": price,
            "most": price,
            "priced": np.where(np.isnan(price), np.nan, 1.0),
            "pages": _some(draw, tuple(f"/{number}" for number in range(400)) + (None,) * 40, size),
            "bonus": _holed(draw, draw.random(size)),
            "users": _some(draw, tuple(map(str, range(900))) + (None,) * 50, size),
            "devices": _some(draw, tuple(map(str, range(50))), size),
        }
    )  # fmt: skip


RAW = _rows()
ROWS = RAW.assign(**{name: RAW[name].map(_elements) for name in ("categories", "segments")})


def table() -> pa.Table:
    """The rows as the warehouse takes them."""
    return _typed(ROWS, DEFINITION.schema())


def source() -> pa.Table:
    """The rows as a database has them: lists with blanks and empty elements, and a text with separators."""
    schema = DEFINITION.schema()
    place = schema.get_field_index("categories")
    texts = RAW["categories"].map(lambda raw: None if raw is None else f"|{'|'.join(raw)}|")
    return _typed(RAW.assign(categories=texts), schema.set(place, pa.field("categories", pa.string())))


def _typed(rows: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    arrays = [
        pa.array(rows[name].astype(object), schema.field(name).type, from_pandas=True)
        for name in schema.names
    ]
    return pa.table(arrays, schema=schema)
