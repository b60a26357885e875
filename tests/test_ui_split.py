"""The split's rows: labels, shares, changes, the rest; compared with pandas over the rows behind them."""

from collections.abc import Callable
from dataclasses import replace

import httpx
import numpy as np
import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY, small_rows

from lib.reporting.answers import Audience, Precision, Total
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, DataField, InfoQuery, KeyField, Order, Slicer
from lib.ui import split_charts, split_rows, split_table
from lib.ui.change import Change
from lib.ui.numbers import Numbers
from lib.ui.split_rows import Split

ENGLISH = Numbers.of("en")
SLICER = Slicer(
    key_fields=(
        KeyField(name="site", description="Site", mapping="site"),
        KeyField(name="tags", description="Tags", is_segmented=1),
    ),
    data_fields=(DataField(name="imps", description="Impressions", show_percents=2),),
)
IMPS = SLICER.data_field("imps")


def answer(values: dict[str, float], total: float, found: int | None = None, key: str = "site") -> Audience:
    """An exact answer, split by one key field."""
    frame = pd.DataFrame({"imps": list(values.values())})
    return Audience(
        names=pd.DataFrame({key: list(values)}),
        values=frame,
        percents=100 * frame / total,
        total=Total({"imps": total}, len(frame) if found is None else found),
    )


def split(found: Audience, before: Audience | None = None) -> Split:
    """A split of impressions."""
    return Split(found, before, IMPS, SLICER)


def test_rows_of_real_answers(http: httpx.Client, token: Callable[[str], str]) -> None:
    """The table's rows, total and rest are those that pandas adds up from the rows themselves."""
    client = Reporting(http, token("manager"))
    slicer = client.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-60d", end_date=LAST_DAY.isoformat(),
        split_by="geo.country", data_fields=("imps", "ctr"), order_by=(Order(name="imps"),), limit=2,
        include_mappings=1, precision=1,
    )  # fmt: skip
    shown = Split(client.audience(query, slicer), None, slicer.data_field("imps"), slicer)
    table = split_table.table(shown, [slicer.data_field("ctr")], ENGLISH).frame

    rows = small_rows(seed=0).to_pandas()
    sums = (
        rows.groupby(rows["geo.country"].fillna(""))[["imps", "clicks"]]
        .sum()
        .sort_values("imps", ascending=False)
    )
    top, whole = sums.head(2), sums.sum()
    assert table["Country"].tolist() == ["Total", *(COUNTRIES[code] for code in top.index), "Others"]
    expected = [whole["imps"], *top["imps"], whole["imps"] - top["imps"].sum()]
    np.testing.assert_allclose(table["Impressions"], expected)
    np.testing.assert_allclose(table["Share, %"], 100 * np.array(expected) / whole["imps"])
    ratios = [100 * whole["clicks"] / whole["imps"], *(100 * top["clicks"] / top["imps"]), np.nan]
    np.testing.assert_allclose(table["CTR"], ratios)


def test_others_are_total_less_shown() -> None:
    """What is not shown is the total less what is; nothing where all is shown."""
    assert split_rows.others(split(answer({"1": 6, "2": 3}, 10, found=5))) == 1
    assert split_rows.others(split(answer({"1": 6, "2": 4}, 10))) is None


def test_no_others_where_nothing_adds_up() -> None:
    """For a ratio, and where a record has several values, there is no rest."""
    ratio = replace(answer({"1": 6}, 10, found=5), percents=pd.DataFrame(index=[0]))
    assert split_rows.others(split(ratio)) is None
    assert split_rows.others(split(answer({"a": 6}, 10, found=5, key="tags"))) is None


def test_values_in_words() -> None:
    """A value is shown by its description; where two codes share one, with the code; missing as not set."""
    found = answer({"1": 5, "2": 3, "3": 1, "": 1}, 10)
    described = pd.DataFrame({"site": ["News", "News", "3", ""]})
    rows = split(replace(found, descriptions=described))
    assert split_rows.row_labels(rows) == ["News · 1", "News · 2", "3", "(not set)"]


def test_changes_by_row() -> None:
    """Each row is compared with the same value before, whatever the order; a new value has no change."""
    rows = split(answer({"1": 6, "2": 3, "4": 1}, 10), answer({"2": 4, "1": 5}, 9))
    assert split_rows.changes(rows) == [Change(0.2), Change(-0.25), Change(None)]
    table = split_table.table(rows, [], ENGLISH).frame
    np.testing.assert_allclose(table["Change, %"], [np.nan, 20, -25, np.nan])


def test_no_column_of_changes_from_nothing() -> None:
    """Where nothing was there before, there is no column of changes."""
    table = split_table.table(split(answer({"1": 6}, 6), answer({}, 0)), [], ENGLISH)
    assert "Change, %" not in table.frame


def sampled(values: list[float], off: float, n_eff: float) -> Audience:
    """An answer whose values may be off by so many percent."""
    exact = answer({str(place): value for place, value in enumerate(values)}, sum(values), found=9)
    share = off / 100
    return replace(
        exact,
        low=exact.values * (1 - share),
        high=exact.values * (1 + share),
        n_eff=exact.values * 0 + n_eff,
        precision=Precision(100, 1000, {"imps": 0.02 * sum(values)}),
    )


def test_errors_are_shown_where_there_are_any() -> None:
    """A column says how far off a row may be, only where records were sampled."""
    table = split_table.table(split(sampled([6, 4], off=5, n_eff=50)), [], ENGLISH).frame
    np.testing.assert_allclose(table["±, %"], [0, 5, 5, np.nan])
    assert "±, %" not in split_table.table(split(answer({"1": 6}, 6)), [], ENGLISH).frame


def test_doubts_are_said() -> None:
    """Rows that rest on few records, and volume that the sample did not meet, are named."""
    assert split_rows.doubts(split(sampled([6, 4], off=5, n_eff=12)), ENGLISH) == [
        "2 rows rest on few records: their figures are rough.",
        "Rows that the sample did not meet may hold 2.0 % of Impressions.",
    ]
    assert split_rows.doubts(split(answer({"1": 6}, 6)), ENGLISH) == []


def test_uncertain_changes_are_grey() -> None:
    """A change smaller than its uncertainty is greyed, the others are not."""
    table = split_table.table(split(sampled([100, 50], 10, 50), sampled([99, 10], 10, 50)), [], ENGLISH)
    html = table.styled.to_html()
    assert [change.is_certain for change in table.changes] == [False, True]
    assert "+1.0" in html and "+400.0" in html
    assert table.styled._compute().ctx[1, list(table.frame).index("Change, %")]


def test_titles_differ() -> None:
    """Two fields of one description get columns of their own."""
    twin = DataField(name="imps", description="Impressions")
    frame = split_table.table(split(answer({"1": 6}, 6)), [twin], ENGLISH).frame
    assert list(frame) == ["Site", "Impressions", "Share, %", "Impressions (2)"]


def test_a_column_knows_its_key_field() -> None:
    """A click on a column of values drills into its key field, one on a figure into the whole row."""
    table = split_table.table(split(answer({"1": 6}, 6)), [], ENGLISH)
    assert (table.key_of("Site"), table.key_of("Impressions")) == ("site", None)


@pytest.mark.parametrize(
    ("key", "codes"), [("site", ["b", "a"]), ("granularity_day", ["2026-11-01", "2026-11-02"])]
)
def test_heatmap_order(key: str, codes: list[str]) -> None:
    """A heatmap's rows are in the order of their volume, those of a time key field as time runs."""
    slicer = SLICER.model_copy(
        update={"key_fields": (*SLICER.key_fields, KeyField(name="granularity_day"), KeyField(name="x"))}
    )
    names = pd.DataFrame({key: [sorted(codes)[0], *([sorted(codes)[1]] * 2)], "x": ["p", "p", "q"]})
    values = pd.DataFrame({"imps": [1.0, 5.0, 7.0]})
    grid = split_charts.cells(Split(Audience(names, values, values, Total({}, 3)), None, IMPS, slicer))
    assert grid.index.tolist() == codes
    assert grid.columns.tolist() == ["q", "p"]
    assert np.isnan(grid.loc[sorted(codes)[0], "q"])
