"""The smaller slicers of this suite: each has one thing to show."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.definition import Definition

DAILY_ZONE = -5
DAILY_FIRST, DAILY_LAST = dt.date(2026, 1, 30), dt.date(2026, 2, 3)
DAILY = Definition.model_validate(
    {
        "timezone": DAILY_ZONE,
        "time": {"column": "day"},
        "key_fields": [{"name": "site"}],
        "data_fields": [{"name": "imps"}],
    }
)
WIDE_DAY = dt.date(2026, 1, 1)
WIDE = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [
            {"name": "case"},
            {"name": "left", "segmented": "|"},
            {"name": "right", "segmented": "|"},
        ],
        "data_fields": [{"name": "imps"}],
    }
)
MANY_FIRST, MANY_DAYS, MANY_ROWS = dt.date(2026, 3, 1), 4, 40_000
MANY = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [{"name": "site"}, {"name": "rare"}],
        "data_fields": [
            {"name": "imps"},
            {"name": "revenue", "display_type": "float"},
            {"name": "ecpm", "formula": "1000 * revenue / imps"},
            {"name": "most", "aggregate": "max"},
        ],
        "audience_sources": [{"name": "users"}],
    }
)


def daily() -> pa.Table:
    """Two sites on the first, second and last of five days."""
    days = [DAILY_FIRST, DAILY_FIRST, DAILY_FIRST + dt.timedelta(days=1), DAILY_LAST]
    columns = {"time": _midnights(days), "site": ["a", "b", "a", "b"], "imps": [1.0, 2.0, 4.0, 8.0]}
    return pa.table(columns, schema=DAILY.schema())


def wide() -> pa.Table:
    """Three records whose elements multiply: to a million pairs, to 1,001,000, and to 1,000,001 singles."""
    texts = [f"{number:07}" for number in range(1_000_001)]
    columns = {
        "time": _midnights([WIDE_DAY] * 3),
        "case": ["a million", "too many", "alone"],
        "left": [texts[:1000], texts[:1001], texts],
        "right": [texts[:1000], texts[:1000], ["only"]],
        "imps": [1.0, 1.0, 1.0],
    }
    return pa.table(columns, schema=WIDE.schema())


def many_frame() -> pd.DataFrame:
    """More records than the least audience_rows_limit, with heavy tails."""
    draw = np.random.default_rng(5)
    hours = np.sort(draw.integers(0, 24 * MANY_DAYS, MANY_ROWS))
    imps = np.ceil(draw.pareto(1.3, MANY_ROWS) * 10)
    return pd.DataFrame(
        {
            "time": pd.Timestamp(MANY_FIRST, tz="UTC") + pd.to_timedelta(hours, unit="h"),
            "site": draw.choice([f"site {number}" for number in range(8)], MANY_ROWS),
            "rare": np.where(draw.random(MANY_ROWS) < 0.0002, "rare", "usual"),
            "imps": imps,
            "revenue": imps * draw.gamma(2, 0.001, MANY_ROWS),
            "most": imps,
            "users": draw.integers(0, 9_000, MANY_ROWS).astype(str),
        }
    )


def many() -> pa.Table:
    """The same as the warehouse takes it."""
    return pa.Table.from_pandas(many_frame(), schema=MANY.schema(), preserve_index=False)


def _midnights(days: list[dt.date]) -> list[dt.datetime]:
    return [dt.datetime.combine(day, dt.time(), dt.UTC) for day in days]
