"""The expected numbers of the slicer `hourly`: plain pandas on its rows."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pandas as pd

from conformance.reporting.hourly import ROWS, ZONE

Figures = dict[str, float | None]
Key = tuple[str, ...]
TIME_FORMATS = {
    "granularity_hour": "%Y-%m-%d %H:00",
    "granularity_day": "%Y-%m-%d",
    "granularity_week": "%G-W%V",
    "granularity_month": "%Y-%m",
    "granularity_year": "%Y",
    "granularity_hour_of_day": "%H:00",
}

AGGREGATES = {
    **{name: (name, "sum") for name in ("imps", "clicks", "revenue", "adjustment", "bonus")},
    "price": ("price", "mean"),
    "least": ("least", "min"),
    "most": ("most", "max"),
    "records": ("imps", "size"),
    "priced": ("price", "count"),
    "pages": ("pages", "nunique"),
    "unique_users": ("users", "nunique"),
    "unique_devices": ("devices", "nunique"),
}


def local(rows: pd.DataFrame, zone: int | str = ZONE) -> pd.Series:
    """The time of each row in a zone."""
    if isinstance(zone, str):
        return rows["time"].dt.tz_convert(zone).dt.tz_localize(None)
    return rows["time"] + pd.Timedelta(hours=zone)


def between(first: dt.date, last: dt.date, zone: int | str = ZONE) -> pd.DataFrame:
    """The rows of these days, both included, in a zone."""
    days = local(ROWS, zone).dt.date
    return ROWS[(days >= first) & (days <= last)]


def values(rows: pd.DataFrame, name: str, zone: int | str = ZONE) -> pd.Series:
    """The values of a key field: lists of text, one element each unless the field is segmented."""
    if name == "granularity_quarter":
        times = local(rows, zone)
        return (times.dt.year.astype(str) + " Q" + times.dt.quarter.astype(str)).map(lambda text: [text])
    if name == "granularity_weekday":
        times = local(rows, zone)
        return (times.dt.strftime("%u ") + times.dt.day_name()).map(lambda text: [text])
    if name in TIME_FORMATS:
        return local(rows, zone).dt.strftime(TIME_FORMATS[name]).map(lambda text: [text])
    column = rows[name].map(lambda value: value if isinstance(value, list) else [value])
    return column.map(lambda elements: list(dict.fromkeys(_text(value) for value in elements)) or [""])


def split(rows: pd.DataFrame, names: Sequence[str], zone: int | str = ZONE) -> dict[Key, Figures]:
    """The figures of every group."""
    keyed = rows.assign(**{f"key {place}": values(rows, name, zone) for place, name in enumerate(names)})
    keys = [f"key {place}" for place in range(len(names))]
    for key in keys:
        keyed = keyed.explode(key)
    table = keyed.groupby(keys, sort=False).agg(**AGGREGATES)
    groups = table.index.to_frame().itertuples(index=False, name=None)
    return {
        tuple(map(str, group)): _derive(sums)
        for group, sums in zip(groups, table.to_dict("records"), strict=True)
    }


def figures(rows: pd.DataFrame) -> Figures:
    """Every data field over these rows."""
    return _derive({name: rows[column].agg(how) for name, (column, how) in AGGREGATES.items()})


def _derive(sums: Mapping[str, float]) -> Figures:
    """The aggregates, null where there is none, and what the formulas make of them."""
    imps, clicks, records = sums["imps"], sums["clicks"], sums["records"]
    return {name: _number(value) for name, value in sums.items()} | {
        "ctr": _ratio(100 * clicks, imps),
        "value": _ratio(sums["revenue"] + sums["adjustment"], records),
        "reach": _ratio(imps, sums["unique_users"]),
    }


def _ratio(above: float, below: float) -> float | None:
    return above / below if below else None


def _number(value: float) -> float | None:
    return None if pd.isna(value) else value


def _text(value: object) -> str:
    return "" if value is None or pd.isna(value) else str(value)
