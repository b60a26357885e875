"""The smaller slicers of this suite: each has one thing to show."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.slicers.definition import Definition

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
LONG_ROWS, LONG_TEXT = 100_000, 120
LONG = Definition.model_validate(
    {"time": {"column": "day"}, "key_fields": [{"name": "page"}], "data_fields": [{"name": "imps"}]}
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
MIXED_FIRST, MIXED_DAYS, MIXED_ROWS = dt.date(2026, 4, 1), 3, 24_000
MIXED_FORMULAS = {
    "ecpm": "1000 * revenue / imps",
    "spread": "most - least",
    "half": "unique_users / 2",
    "per_user": "imps / unique_users",
    "fee": "0.5",
}
MIXED = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [{"name": "site"}, {"name": "tags", "segmented": "|"}, {"name": "page"}],
        "data_fields": [
            {"name": "imps"},
            {"name": "revenue", "display_type": "float"},
            {"name": "price", "aggregate": "mean"},
            {"name": "records", "aggregate": "count"},
            {"name": "least", "aggregate": "min"},
            {"name": "most", "aggregate": "max"},
            {"name": "kinds", "aggregate": "distinct"},
            *({"name": name, "formula": formula} for name, formula in MIXED_FORMULAS.items()),
        ],
        "audience_sources": [{"name": "users"}],
    }
)
MONEY = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [{"name": "country"}, {"name": "currency_code"}],
        "data_fields": [
            {"name": "imps"},
            {"name": "spend", "currency": "currency_code", "display_type": "float"},
            {"name": "price", "currency": "currency_code", "aggregate": "mean"},
            {"name": "most", "currency": "currency_code", "aggregate": "max"},
            {"name": "fee", "currency": "EUR", "display_type": "float"},
            {"name": "ecpm", "formula": "1000 * spend / imps"},
        ],
    }
)
BARE = Definition.model_validate({"time": {"column": "time"}, "key_fields": [{"name": "site"}]})


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


def long() -> pa.Table:
    """Pages whose addresses make a file too large for what a socket takes by itself."""
    columns = {
        "time": _midnights([WIDE_DAY] * LONG_ROWS),
        "page": [f"{number:0{LONG_TEXT}}" for number in range(LONG_ROWS)],
        "imps": np.ones(LONG_ROWS),
    }
    return pa.table(columns, schema=LONG.schema())


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


def mixed_frame() -> pd.DataFrame:
    """Every kind of data field on more records than the least audience_rows_limit."""
    draw = np.random.default_rng(11)
    hours = draw.integers(0, 24 * MIXED_DAYS, MIXED_ROWS)
    imps, price = np.ceil(draw.pareto(1.5, MIXED_ROWS) * 10), draw.normal(2, 1, MIXED_ROWS)
    users = draw.integers(0, 5_000, MIXED_ROWS).astype(str)
    return pd.DataFrame(
        {
            "time": pd.Timestamp(MIXED_FIRST, tz="UTC") + pd.to_timedelta(hours, unit="h"),
            "site": draw.choice(["a", "b", "c"], MIXED_ROWS, p=[0.9, 0.0999, 0.0001]),
            "tags": [list("xyz")[:count] for count in draw.integers(0, 4, MIXED_ROWS)],
            "page": draw.integers(0, 300, MIXED_ROWS).astype(str),
            "imps": imps,
            "revenue": imps * draw.gamma(2, 0.001, MIXED_ROWS),
            "price": price,
            "least": price,
            "most": price,
            "kinds": draw.integers(0, 40, MIXED_ROWS).astype(str),
            "users": users,
        }
    )


def mixed() -> pa.Table:
    """The same as the warehouse takes it."""
    return pa.Table.from_pandas(mixed_frame(), schema=MIXED.schema(), preserve_index=False)


def bare() -> pa.Table:
    """Days and sites, and nothing that is counted."""
    columns = {"time": _midnights([DAILY_FIRST, DAILY_LAST]), "site": ["a", "b"]}
    return pa.table(columns, schema=BARE.schema())


def _midnights(days: list[dt.date]) -> list[dt.datetime]:
    return [dt.datetime.combine(day, dt.time(), dt.UTC) for day in days]


def money_frame() -> pd.DataFrame:
    """Spend of Germany in euros, of Japan in yen, of Switzerland in either; a site's is in micros too."""
    rows = [
        ("2026-05-01", "DE", "EUR", 1000, 120.50, 0.1), ("2026-05-01", "JP", "JPY", 1000, 15400.0, 0.2),
        ("2026-05-01", "CH", "EUR", 500, 10.10, 0.3), ("2026-05-01", "CH", "JPY", 100, 900.0, 0.7),
        ("2026-05-02", "DE", "EUR", 1010, 120.87, 0.000001), ("2026-05-02", "JP", "JPY", 1010, 15400.37, 0.4),
        ("2026-05-02", "AT", "EUR", 10, 0.0, 0.2), ("2026-05-03", "CH", "EUR", 400, 7.20, 0.1),
        ("2026-05-03", "US", "", 30, 3.0, 0.1), ("2026-05-04", "US", "USD", 40, 4.0, 0.1),
        ("2026-05-04", "US", "", 50, 5.0, 0.1),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["day", "country", "currency_code", "imps", "spend", "fee"])


def money() -> pa.Table:
    """The rows of the frame; missing codes are missing."""
    frame = money_frame()
    columns = {
        "time": _midnights([dt.date.fromisoformat(day) for day in frame["day"]]),
        "country": frame["country"],
        "currency_code": [code or None for code in frame["currency_code"]],
        "imps": frame["imps"].astype(float),
        "spend": frame["spend"],
        "price": frame["spend"],
        "most": frame["spend"],
        "fee": frame["fee"],
    }
    return pa.table(columns, schema=MONEY.schema())
