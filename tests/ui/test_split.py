"""The split's rows: labels, shares, changes, the rest; compared with pandas over the rows behind them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import httpx
import numpy as np
import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY, small_rows

from lib.figures import numbers
from lib.figures.numbers import Numbers
from lib.figures.overview import split_table
from lib.figures.query import split_rows
from lib.figures.query.compared_answers import Change, ComparedAnswers
from lib.figures.query.split_rows import SplitRows
from lib.figures.rows import Table
from lib.reporting.answers import Audience, Precision, Total
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.slicers.models import DataField, KeyField, Order, Slicer
from lib.ui.audience import chart_kinds, split_charts
from lib.ui.charts import heatmap
from lib.ui.charts.heatmap import Grid
from lib.wire.filters import Filter

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
        keys=pd.DataFrame({key: list(values)}),
        values=frame,
        percents=100 * frame / total,
        total=Total({"imps": total}, len(frame) if found is None else found),
    )


def split(found: Audience, before: Audience | None = None) -> SplitRows:
    """A split of impressions."""
    return SplitRows(found, None if before is None else ComparedAnswers(found, before), IMPS, SLICER)


def board(rows: SplitRows, order: tuple[Order, ...] = (), filters: tuple[Filter, ...] = ()) -> Table:
    """The split's table as the component draws it."""
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday", filters=filters
    )
    return split_table.overview_table(split_table.table(rows, [], ENGLISH), rows, query, order, "A table")


def test_rows_of_real_answers(http: httpx.Client, token: Callable[[str], str]) -> None:
    """The table's rows, total and rest are those that pandas adds up from the rows themselves."""
    client = Reporting(http, token("manager"))
    slicer = client.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-60d", end_date=LAST_DAY.isoformat(),
        split_by="geo.country", data_fields=("imps", "ctr"), order_by=(Order(name="imps"),), limit=2,
        include_mappings=1, precision=1,
    )  # fmt: skip
    shown = SplitRows(client.audience(query, slicer), None, slicer.data_field("imps"), slicer)
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
    audience = answer({"1": 5, "2": 3, "3": 1, "": 1}, 10)
    described = pd.DataFrame({"site": ["News", "News", "3", ""]})
    rows = split(replace(audience, descriptions=described))
    assert split_rows.row_labels(rows) == ["News · 1", "News · 2", "3", "(not set)"]


def test_values_that_differ_by_blanks_look_different() -> None:
    """A blank at an end, one more, or another kind of one is drawn where values would look alike without."""
    codes = ["News", "News ", " ", "", "A B", "A  B", "A\N{NO-BREAK SPACE}B", "Sport "]
    expected = ["News", "News·", "·", "(not set)", "A B", "A ·B", "A·B", "Sport "]
    assert split_rows.row_labels(split(answer(dict.fromkeys(codes, 1), 10))) == expected


def test_partial_weeks_are_named_in_the_table() -> None:
    """In a split by week, one that the period cuts says how much of it there is; its value stays plain."""
    slicer = SLICER.model_copy(
        update={"key_fields": (KeyField(name="granularity_week", description="Week"),)}
    )
    weeks = answer({"2026-W46": 6, "2026-W47": 4, "another": 1}, 11, key="granularity_week")
    shown = SplitRows(weeks, None, IMPS, slicer, (date(2026, 11, 12), date(2026, 11, 22)), date(2026, 12, 1))
    assert split_rows.row_labels(shown) == ["2026-W46 (4 of 7 days)", "2026-W47", "another"]
    assert board(shown).rows[1].values == (("granularity_week", "2026-W46"),)


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
        total=replace(exact.total, missing={"imps": 0.02 * sum(values)}),
        precision=Precision(100, 1000),
    )


def test_errors_are_shown_where_there_are_any() -> None:
    """A column says how far off a row may be, only where records were sampled."""
    table = split_table.table(split(sampled([6, 4], off=5, n_eff=50)), [], ENGLISH).frame
    np.testing.assert_allclose(table["±, %"], [0, 5, 5, np.nan])
    assert "±, %" not in split_table.table(split(answer({"1": 6}, 6)), [], ENGLISH).frame


def test_a_count_of_a_sample_is_a_lower_bound() -> None:
    """The number of rows of a sample is said to be at least so many; an exact one stands as it is."""
    few = sampled([6, 4], off=5, n_eff=12)
    assert chart_kinds.count_label(few, 2, ENGLISH) == "2 of at least 9 rows"
    assert chart_kinds.count_label(few, 9, ENGLISH) == "At least 9 rows"
    exact = replace(few, precision=Precision(1000, 1000))
    assert chart_kinds.count_label(exact, 2, ENGLISH) == "2 of 9 rows"
    assert chart_kinds.count_label(exact, 9, ENGLISH) == "9 rows"
    single = replace(exact, total=Total({}, 1))
    assert chart_kinds.count_label(single, 1, ENGLISH) == "1 row"


def test_total_and_others_have_their_change() -> None:
    """Of 10 against 8 in all, rows of 7 against 4 leave 3 against 4: -25 %; the total rose by 25 %."""
    now, before = answer({"1": 6, "2": 1}, 10, found=5), answer({"1": 4}, 4)
    whole = ComparedAnswers(answer({"": 10}, 10), answer({"": 8}, 8))
    rows = replace(split(now, before), whole=whole)
    table = split_table.table(rows, [], ENGLISH)
    np.testing.assert_allclose(table.frame["Change, %"], [25, 50, np.nan, -25])
    assert [changed.is_certain for changed in table.columns[-1].changes] == [True] * 4
    vague = replace(whole, before=replace(whole.before, precision=Precision(10, 100)))
    gray = split_table.table(replace(rows, whole=vague), [], ENGLISH)
    assert [changed.is_certain for changed in gray.columns[-1].changes] == [False, True, True, False]


def test_two_comparisons_have_a_column_each() -> None:
    """Rows of 6 against 4 and against 5 rose by half and by a fifth, in columns that say the days."""
    rows = replace(split(answer({"1": 6}, 6), answer({"1": 4}, 4)), against="1–7 Oct")
    rows = replace(rows, also=replace(split(answer({"1": 6}, 6), answer({"1": 5}, 5)), against="8 Oct 2025"))
    frame = split_table.table(rows, [], ENGLISH).frame
    np.testing.assert_allclose(frame["Change vs 1–7 Oct, %"][1], 50)
    np.testing.assert_allclose(frame["Change vs 8 Oct 2025, %"][1], 20)


def test_a_relative_change_of_a_rate_says_so() -> None:
    """Of a rate the column's title says that the change is relative; of a sum there is nothing to say."""
    rate = DataField(name="imps", description="Win rate", formula="100 * a / b", display_pattern="#%")
    rows = replace(split(answer({"1": 6}, 6), answer({"1": 5}, 5)), field=rate)
    titles = [column.title for column in split_table.table(rows, [], ENGLISH).columns]
    assert "Relative change, %" in titles
    assert numbers.change_title(IMPS) == "Change, %"
    assert ENGLISH.signed(0.314, rate.model_copy(update={"display_precision": 2})) == "+0.31 points"


def test_doubts_are_said() -> None:
    """Rows that rest on few records, and volume that the sample did not meet, are named."""
    assert split_rows.doubts(split(sampled([6, 4], off=5, n_eff=12)), ENGLISH) == [
        "2 rows are based on few records: their figures are rough.",
        "Rows missing from the sample may hold 2.0 % of Impressions.",
    ]
    assert split_rows.doubts(split(answer({"1": 6}, 6)), ENGLISH) == []


def test_uncertain_changes_are_gray() -> None:
    """A change smaller than its uncertainty is grayed, the others are not."""
    rows = split(sampled([100, 50], 10, 50), sampled([99, 10], 10, 50))
    shown = board(rows)
    change = [column.title for column in shown.columns].index("Change, %")
    cells = [row.cells[change] for row in shown.rows if row.kind == "row"]
    assert [(cell.text, cell.is_faint) for cell in cells] == [("+1.0", True), ("+400.0", False)]


def test_titles_differ() -> None:
    """Two fields of one description get columns of their own."""
    twin = DataField(name="imps", description="Impressions")
    frame = split_table.table(split(answer({"1": 6}, 6)), [twin], ENGLISH).frame
    assert list(frame) == ["Site", "Impressions", "Share, %", "Impressions (2)"]


def test_total_first_and_others_last() -> None:
    """Whatever the order, the total comes first and the rest last; neither leads anywhere."""
    for direction in ("asc", "desc"):
        shown = board(
            split(answer({"1": 6, "2": 3}, 10, found=5)), order=(Order(name="imps", direction=direction),)
        )
        assert [row.kind for row in shown.rows] == ["total", "row", "row", "rest"]
        assert [row.values for row in shown.rows] == [(), (("site", "1"),), (("site", "2"),), ()]
        assert [column.sorted for column in shown.columns[:3]] == [None, direction, None]


def test_headers_order_what_the_service_can_order() -> None:
    """A header orders by its data field; one of values in words does not: the service orders their codes."""
    rows = split(answer({"1": 6, "2": 3}, 9))
    described = split(replace(rows.answer, descriptions=pd.DataFrame({"site": ["News", "Sport"]})))
    assert [column.order for column in board(rows).columns] == ["asc", "desc", None]
    assert [column.order for column in board(described).columns] == [None, "desc", None]


def test_a_row_knows_whether_it_is_asked_for() -> None:
    """A row whose value a filter asks for says so, one that is only searched for does not."""
    filters = (
        Filter(name="site", value=("2", "7"), match="equals"),
        Filter(name="site", value=("1",), match="contains"),
    )
    shown = board(split(answer({"1": 6, "2": 3}, 9)), filters=filters)
    assert [list(row.included) for row in shown.rows[1:]] == [[False], [True]]


def test_bars_are_shares_of_the_total() -> None:
    """A full bar is the total: a bar ends at its value's share of it, its whiskers at those of its range."""
    total, first, second, rest = board(split(sampled([100, 50], 10, 50))).rows
    np.testing.assert_allclose(first.cells[1].bar, [100 / 150, 90 / 150, 110 / 150])
    np.testing.assert_allclose(second.cells[1].bar, [50 / 150, 45 / 150, 55 / 150])
    assert (total.cells[1].bar, rest.cells[1].bar) == (None, None)


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
    grid = split_charts.cells(SplitRows(Audience(names, values, values, Total({}, 3)), None, IMPS, slicer))
    assert grid.index.tolist() == codes
    assert grid.columns.tolist() == ["q", "p"]
    assert np.isnan(grid.loc[sorted(codes)[0], "q"])


def test_rows_whose_ranges_overlap_share_a_rank() -> None:
    """100 ± 10, 95 ± 10 and 50 ± 5 of all rows are 1–2, 1–2 and 3; exact rows have no rank."""
    rows = sampled([100, 95, 50], 10, 50)
    whole = replace(rows, total=replace(rows.total, records_found=3))
    assert split_rows.ranks(split(whole)) == ["1–2", "1–2", "3"]
    assert split_rows.ranks(split(answer({"1": 6, "2": 4}, 10))) == []
    table = split_table.table(split(whole), [], ENGLISH, is_ranked=True).frame
    assert table["Rank"].tolist()[1:] == ["1–2", "1–2", "3"]
    assert "Rank" not in split_table.table(split(whole), [], ENGLISH).frame


def test_rows_that_are_not_shown_may_rank_as_high() -> None:
    """Where more rows are there than are shown, those that reach down to the last one have no lower end."""
    assert split_rows.ranks(split(sampled([100, 52, 50], 10, 50))) == ["1", "2+", "2+"]


def test_a_rank_is_drawn_where_the_largest_come_first() -> None:
    """The table has a column of ranks, with a dash for the total."""
    rows = sampled([100, 95], 10, 50)
    query = AudienceQuery(project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday")
    shown = split_table.overview_table(
        split_table.table(split(rows), [], ENGLISH, is_ranked=True), split(rows), query, (), ""
    )
    place = [column.title for column in shown.columns].index("Rank")
    assert [row.cells[place].text for row in shown.rows if row.kind != "rest"] == ["–", "1+", "1+"]


def test_few_records() -> None:
    """Estimates of few records are marked, exact sums are not, exact ratios are."""
    rough, fine = sampled([6, 4], off=5, n_eff=12), sampled([6, 4], off=5, n_eff=50)
    assert split_rows.few(split(rough)).tolist() == [True, True]
    assert split_rows.few(split(fine)).tolist() == [False, False]
    exact = sampled([6, 4], off=0, n_eff=12)
    ratio = IMPS.model_copy(update={"formula": "a / b"})
    assert split_rows.few(split(exact)).tolist() == [False, False]
    assert split_rows.few(SplitRows(exact, None, ratio, SLICER)).tolist() == [True, True]


def test_few_records_are_hatched_and_not_colored() -> None:
    """A cell of few records gets hatches, and neither end of the colors."""
    few = np.array([[False, True], [False, False]])
    grid = Grid(["a", "b"], ["c", "d"], np.array([[1.0, 90.0], [2.0, 3.0]]), few)
    ratio = IMPS.model_copy(update={"formula": "a / b"})
    figure = heatmap.figure(grid, ratio, ENGLISH)
    cells, hatches, squares = figure.data
    assert (cells.zmin, np.asarray(cells.z).tolist()) == (1.0, [[1.0, 1.0], [2.0, 3.0]])
    assert cells.zmax < 3.01
    assert np.nanmin(np.array(hatches.x, dtype=float)) == 0.5
    assert np.nanmax(np.array(hatches.y, dtype=float)) == 0.5
    assert "90" in squares.customdata[1]
    assert len(heatmap.figure(replace(grid, few=None), ratio, ENGLISH).data) == 2
