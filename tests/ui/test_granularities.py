"""Each granularity in each text that says it: chart, tooltip, table, split, filter, file, question."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, get_args

import numpy as np
import pytest
from conftest import LAST_DAY

from lib.figures import series
from lib.figures.numbers import Numbers
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query import filters
from lib.figures.series import ChartLine
from lib.people import Person
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.share.documents import question as snapshots
from lib.share.snapshot import chart as snapshot_chart
from lib.slicers.granularities import (
    CYCLES,
    GRANULARITIES,
    SPAN_KEY_FIELDS,
    TIME_KEY_FIELDS,
    Granularity,
    time_key_field,
)
from lib.slicers.models import Slicer
from lib.ui.charts import time_chart
from lib.ui.query import wording
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

MANAGER = Person("manager", "Max Manager", None, "admin")
DAYS = {"start": "-7d", "end": "yesterday"}
PERIOD = (date(2026, 9, 30), date(2027, 1, 1))
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
each = pytest.mark.parametrize("grain", GRANULARITIES)


def texts(grain: Granularity, start: datetime) -> tuple[str, str, str]:
    """A bucket's value, its label and its tick, by datetime alone."""
    date_text, quarter = f"{start.day} {start:%b}", f"{start.year} Q{(start.month + 2) // 3}"
    day = f"{start:%a} {date_text}"
    return {
        "hour": (
            f"{start:%Y-%m-%d %H:00}", f"{day} {start:%Y %H:%M}", f"{start:%H:%M}" if start.hour else day
        ),
        "day": (f"{start:%Y-%m-%d}", f"{day} {start:%Y}", day),
        "week": (f"{start:%G-W%V}", f"{start:%G-W%V}", date_text),
        "month": (f"{start:%Y-%m}", f"{start:%b %Y}", f"{start:%b %Y}"),
        "quarter": (quarter, quarter, quarter),
        "year": (f"{start:%Y}", f"{start:%Y}", f"{start:%Y}"),
    }[grain]  # fmt: skip


def starts(grain: Granularity, first: date, last: date) -> list[datetime]:
    """The first moments of the buckets that these days touch, by walking from hour to hour."""
    hours = (last - first).days * 24 + 24
    moments = [datetime.combine(first, datetime.min.time()) + timedelta(hours=hour) for hour in range(hours)]
    begins = {}
    for moment in moments:
        begins.setdefault(texts(grain, moment)[0], moment)
    day = first
    while texts(grain, datetime.combine(day, datetime.min.time()))[0] == texts(grain, moments[0])[0]:
        begins[texts(grain, moments[0])[0]] = datetime.combine(day, datetime.min.time())
        day -= timedelta(days=1)
    return [*begins.values()]


@pytest.fixture(scope="module")
def slicer(settings: Settings) -> Slicer:
    """What the slicer of the small demo is."""
    reporting = connect.connect(MANAGER, settings).reporting
    return reporting.info(InfoQuery(project_name="demo", slicer_name="delivery"))


@pytest.fixture(scope="module")
def answer(settings: Settings) -> Callable[[dict[str, str]], dict[str, Any]]:
    """The parts of the overview's answer about the small demo, by name."""
    answers = OverviewAnswers(settings)

    def parts(params: dict[str, str]) -> dict[str, Any]:
        request = OverviewRequest(
            project="demo", slicer="delivery", params=DAYS | params, parts=["head", "split"]
        )
        return {line["part"]: line for line in answers.lines(request, MANAGER, Deadline(60))}

    return parts


def test_a_granularity_is_one_row() -> None:
    """The names of the type, the rows, and the key fields of time are the same, the finest first."""
    assert [*GRANULARITIES] == [row.name for row in GRANULARITIES.values()] == [*get_args(Granularity)]
    assert [*SPAN_KEY_FIELDS] == [time_key_field(grain) for grain in GRANULARITIES]
    assert [*TIME_KEY_FIELDS] == [*SPAN_KEY_FIELDS, *(row.key_field for row in CYCLES.values())]


def test_cycles_come_again() -> None:
    """Weekdays and hours of the day are texts in their order, from before 1970 on."""
    moments = [datetime(1969, 12, 28) + timedelta(hours=hour) for hour in range(24 * 9)]  # noqa: DTZ001
    hours = np.array([(moment - EPOCH) // timedelta(hours=1) for moment in moments])
    weekdays, times = (row.write(hours).tolist() for row in CYCLES.values())
    assert weekdays == [f"{moment.isoweekday()} {moment:%A}" for moment in moments]
    assert times == [f"{moment:%H:00}" for moment in moments]
    assert CYCLES["weekday"].label("1 Monday") == "1 Monday"


@each
def test_a_bucket_is_written_read_and_labeled(grain: Granularity) -> None:
    """Each row writes a moment, reads it back, and has its words for rows and axes."""
    row = GRANULARITIES[grain]
    assert series.buckets(grain, PERIOD) == [texts(grain, start)[0] for start in starts(grain, *PERIOD)]
    for start in starts(grain, *PERIOD):
        value, label, tick = texts(grain, start)
        hours = np.array([(start - EPOCH) // timedelta(hours=1)])
        assert row.write(hours).tolist() == [value]
        assert row.span(value)[0] == start
        assert (row.label(value), row.tick(value)) == (label, tick)
    assert row.span(row.example)[0] <= datetime(2026, 11, 21, 9)  # noqa: DTZ001
    assert row.label("none") == "none"


def test_quarters_are_not_called_by_their_first_month() -> None:
    """On an axis a quarter is `2026 Q4`, not `Oct 2026`."""
    assert GRANULARITIES["quarter"].tick("2026 Q4") == "2026 Q4"


@each
def test_the_board_says_it(grain: Granularity, answer: Callable[[dict[str, str]], dict[str, Any]]) -> None:
    """The overview's chart has each bucket's label (tooltip) and its tick; a split's rows the label."""
    parts = answer(
        {"grain": grain, "split": time_key_field(grain), "rows": "200", "chart": "table", "lower": "split"}
    )
    buckets = parts["head"]["head"]["buckets"]
    expected = [texts(grain, datetime.fromisoformat(start)) for start in buckets["starts"]]
    assert expected
    assert buckets["names"] == [label for _, label, _ in expected]
    assert buckets["ticks"] == [tick for _, _, tick in expected]
    (table,) = parts["split"]["split"]
    labels = {row["cells"][0]["text"].split(" (")[0] for row in table["rows"]}
    assert labels <= {"Others", "Total", *buckets["names"]}
    assert len(labels) >= min(100, len(expected))
    page = snapshots.snapshot_chart(parts["head"]["head"], parts["head"]["head"]["fields"]["imps"])
    drawn = dict(snapshot_chart.ticks(page, 100))
    assert drawn == {place: buckets["ticks"][place] for place in drawn}


@each
def test_charts_of_the_desk_say_it(grain: Granularity, slicer: Slicer, settings: Settings) -> None:
    """Other charts say the label on hover and in their table; weeks and longer have the same ticks."""
    reporting = connect.connect(MANAGER, settings).reporting
    days = (LAST_DAY - timedelta(days=6), LAST_DAY)
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday",
        split_by=(time_key_field(grain),), data_fields=("imps",),
    )  # fmt: skip
    line = ChartLine("now", series.over(reporting.audience(query), "imps", grain, days))
    expected = [texts(grain, start) for start in line.series.starts]
    figure = time_chart.over_time([line], slicer.data_field("imps"), Numbers())
    hovers = {
        text for trace in figure.data for text in (trace.customdata if trace.customdata is not None else ())
    }
    assert all(any(f"({label}" in hover for hover in hovers) for _, label, _ in expected)
    if grain not in ("hour", "day"):
        assert list(figure.layout.xaxis.ticktext) == [tick for _, _, tick in expected]


@each
def test_a_file_and_a_filter_say_it(grain: Granularity, slicer: Slicer, settings: Settings) -> None:
    """A file has the values, a filter by one of them finds its rows alone and is said with its label."""
    reporting = connect.connect(MANAGER, settings).reporting
    name = time_key_field(grain)
    days = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-7d", "end_date": "yesterday"}
    file = reporting.export(ExportQuery(**days, split_by=(name,), data_fields=("imps",), export_format="tsv"))
    rows = dict(
        line.split("\t") for line in file.content.read().decode("utf-8-sig").split("\r\n")[1:] if line
    )
    expected = {
        texts(grain, start)[0]: texts(grain, start)[1]
        for start in starts(grain, LAST_DAY - timedelta(days=6), LAST_DAY)
    }
    assert {*rows} == {*expected}
    value = max(rows)
    where = Filter(name=name, value=(value,), match="equals")
    audience = reporting.audience(AudienceQuery(**days, filters=(where,), data_fields=("imps",)))
    assert audience.total.values["imps"] == int(rows[value])
    assert filters.sentence(where, slicer) == f"{grain.capitalize()} is {expected[value]}"


@each
def test_a_question_names_it(grain: Granularity, slicer: Slicer) -> None:
    """ "imps by quarter" and "quarterly imps" ask for its lines."""
    adverb = {"day": "daily"}.get(grain, f"{grain}ly")
    for text in (f"imps by {grain}", f"{adverb} imps"):
        best = wording.read(text, slicer, LAST_DAY, {}).best[0]
        assert (best.grain, best.fields, best.ignored) == (grain, ("imps",), ())
