"""Any dialect: a table written in it and imported by a guess has the figures that it was written from."""

import datetime as dt

import duckdb
import pandas as pd
import pytest
from dialects import Dialect, dialects, tables
from hypothesis import HealthCheck, given, settings
from ingesting import Place, reader
from needs import draws

from lib.ingest.inference import infer
from lib.slicers.definition.file import definition_yaml, parse_definition


@settings(max_examples=draws(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(dialect=dialects(), rows=tables())
def test_what_is_guessed_has_the_figures_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, dialect: Dialect, rows: pd.DataFrame
) -> None:
    """Sums by day and site, missing values and the mean rate agree with DuckDB on the original table."""
    place = Place(tmp_path_factory.mktemp("any"))
    path = place.file("a.csv", dialect.written(rows))
    definition = parse_definition(definition_yaml(infer(reader(path)).definition))
    stored = place.take(path, definition=definition, max_rejects=0)
    read = stored.read(stored.files).rename_columns(["time", "site", "imps", "cost", "rate"])
    parts = {part.name: part for part in definition.data_fields}
    rate, cost = list(parts.values())[-1], list(parts.values())[-2]
    assert (rate.unit, rate.aggregate) == ("%", "mean") and (cost.unit is None) == (dialect.unit == "")
    original = rows.assign(cost=rows["cost"].astype(float), date=pd.to_datetime(rows["date"]))
    assert figures(read.to_pandas().assign(date=lambda table: table["time"].dt.tz_localize(None))) == figures(
        original
    )


def figures(table: pd.DataFrame) -> list[tuple[dt.datetime, str, float, float | None, int, float]]:
    """By day and site: impressions, cost, rows that have a cost, and the mean rate."""
    return (
        duckdb.connect()
        .from_df(table[["date", "site", "imps", "cost", "rate"]])
        .aggregate(
            "date::date as day, site, sum(imps)::bigint as imps, round(sum(cost), 2) as cost, "
            "count(cost) as costs, round(avg(rate), 6) as rate"
        )
        .order("all")
        .fetchall()
    )
