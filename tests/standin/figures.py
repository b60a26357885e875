"""Questions about a slicer's rows, answered by plain pandas."""

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from standin.known import CachedSlicer
from standin.matching import kept

FORMATS = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
RELATIVE = re.compile(r"-(\d+)(d|days?|m|months?)(?:_(first|last))?")


class Refused(Exception):
    """What is wrong with a request: `status` and `reason`."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Found:
    """An answer: `table` is indexed by the key fields' values; `share` is what the sample had of the records.

    `counts` are the rows behind each line of the table, and behind the total.
    """

    table: pd.DataFrame
    total: pd.Series
    dates: list[str]
    counts: pd.Series
    total_count: int
    share: float


def answer(known: CachedSlicer, asked: dict[str, Any], limit: int | None = None, weight: int = 1) -> Found:
    """The figures by the question's split. Each row counts as `weight` records of which `limit` are read."""
    rows = known.rows.assign(local=known.rows["time"].dt.tz_localize(None))
    rows["local"] += pd.Timedelta(hours=int(asked.get("timezone") or 0))
    zone = int(asked.get("timezone") or 0)
    first, last = (day(asked[name], zone) for name in ("start_date", "end_date"))
    if first > last:
        raise Refused("bad_request", "start_date is after end_date")
    rows = rows[(rows["local"] >= first) & (rows["local"] < last + pd.Timedelta(days=1))]
    dates = sorted({str(moment.date()) for moment in rows["local"].dt.normalize().unique()})
    share = 1.0 if limit is None else min(1.0, limit / max(1, weight * len(rows)))
    rows = rows.sample(frac=share, random_state=7) if share < 1 else rows
    for wanted in asked.get("filters") or ():
        rows = rows[kept(known, _keyed(known, rows, wanted["name"]), wanted)]
    names = list(asked.get("split_by") or ())
    keyed = pd.DataFrame({name: _keyed(known, rows, name) for name in names}, index=rows.index)
    for name in names:
        keyed = keyed.explode(name)
    lines = rows.loc[keyed.index].assign(**{f"key {name}": keyed[name].to_numpy() for name in names})
    whole = _figures(known, rows.groupby(np.zeros(len(rows), dtype=int)), share)
    groups = lines.groupby([f"key {name}" for name in names]) if names else None
    table = whole if groups is None else _figures(known, groups, share)
    return Found(
        table=table,
        total=whole.iloc[0] if len(whole) else pd.Series(0.0, index=whole.columns),
        dates=dates,
        counts=pd.Series([len(rows)] * len(table)) if groups is None else groups.size(),
        total_count=len(rows),
        share=share,
    )


def day(text: str, zone: int = 0) -> pd.Timestamp:
    """An absolute or relative date (specification, Date values)."""
    today = pd.Timestamp.now("UTC").tz_localize(None) + pd.Timedelta(hours=zone)
    today = today.normalize()
    if text in ("today", "yesterday"):
        return today - pd.Timedelta(days=int(text == "yesterday"))
    if (parts := RELATIVE.fullmatch(text)) is None:
        return _absolute(text)
    count, is_days, edge = int(parts[1]), parts[2].startswith("d"), parts[3]
    if is_days:
        return today - pd.Timedelta(days=count)
    month = today - pd.DateOffset(months=count)
    if edge == "first":
        return month.replace(day=1)
    return month + pd.offsets.MonthEnd(0) if edge == "last" else month


def _absolute(text: str) -> pd.Timestamp:
    try:
        return pd.Timestamp(dt.date.fromisoformat(text))
    except ValueError:
        raise Refused("bad_request", f"Bad date {text!r}") from None


def _keyed(known: CachedSlicer, rows: pd.DataFrame, name: str) -> pd.Series:
    """The values of a key field: texts, or lists of them where it is segmented."""
    if name not in known.key_field:
        raise Refused("bad_request", f"Key field {name!r} not found")
    grain = name.removeprefix("granularity_")
    if grain == "quarter" and grain != name:
        return rows["local"].dt.year.astype(str) + " Q" + rows["local"].dt.quarter.astype(str)
    if grain != name:
        return rows["local"].dt.strftime(FORMATS[grain])
    return rows[name]


def _figures(known: CachedSlicer, groups: Any, share: float) -> pd.DataFrame:
    """Every data field of each group: sums, and what is made of them; NaN where a formula divides by zero."""
    plain = [name for name, told in known.data_field.items() if not told.get("formula")]
    table = groups[plain].sum() / share
    for name, column in known.unique.items():
        table[name] = (groups[column].nunique() / share).round()
    for name, told in known.data_field.items():
        if told.get("formula"):
            quoted = re.sub(r"[A-Za-z_][\w.]*", r"`\g<0>`", told["formula"])
            table[name] = table.eval(quoted).replace([np.inf, -np.inf], np.nan)
    return table[[*known.data_field, *known.unique]]
