"""Figures of the Audience page's overview, against files of the same questions, and against the page."""

from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import boards
import numpy as np
import pandas as pd
import pytest
from conftest import COUNTRIES, DEFINITION, LAST_DAY, copied, small_rows
from opening import of_delivery
from tsv2 import read_tsv2

from lib.figures.overview.answer import of_nothing
from lib.figures.overview.leaderboards import LIMIT
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.people import Person
from lib.reporting import links
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.slicers import dates
from lib.slicers.granularities import TIME_KEY_FIELDS, time_key_field
from lib.slicers.models import Slicer
from lib.wire.deadline import Deadline

MANAGER = Person("manager", "Max Manager", None, "admin")
QUESTIONS, DRAWS = 100, 10
KEYS = {"geo.country": (*COUNTRIES, ""), "campaign_id": tuple("12345678"), "categories": ("news", "sport")}
FIELDS = ("imps", "clicks", "revenue", "ctr", "unique_users")
Answer = Callable[..., dict[str, Any]]
Table = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def answer(settings: Settings) -> Answer:
    """The parts of an answer by name, as they are in the end."""
    answers = OverviewAnswers(settings)

    def ask(params: dict[str, str], *acts: list[Any], **fields: Any) -> dict[str, Any]:
        about: dict[str, Any] = {"project": "demo", "slicer": "delivery"} | fields
        request = OverviewRequest(**about, params=params, acts=list(acts))
        return {line["part"]: line for line in answers.lines(request, MANAGER, Deadline(60))}

    return ask


@pytest.fixture(scope="module")
def slicer(settings: Settings) -> Slicer:
    """What the slicer of the small demo is."""
    reporting = connect.connect(MANAGER, settings).reporting
    return reporting.info(InfoQuery(project_name="demo", slicer_name="delivery"))


@pytest.fixture(scope="module")
def file(settings: Settings) -> Callable[[AudienceQuery, tuple[str, ...], tuple[str, ...]], Table]:
    """The rows of an export, by first cell and column's name; without a split that cell is empty."""
    reporting = connect.connect(MANAGER, settings).reporting

    def read(query: AudienceQuery, split: tuple[str, ...], fields: tuple[str, ...]) -> Table:
        asked = ExportQuery(
            project_name="demo",
            slicer_name="delivery",
            start_date=query.start_date,
            end_date=query.end_date,
            filters=query.filters,
            split_by=split,
            data_fields=fields,
            export_format="tsv2",
        )
        header, *lines = read_tsv2(reporting.export(asked).content.read())
        rows = [dict(zip(header, (cell or "" for cell in line), strict=True)) for line in lines]
        return {row[split[0]] if split else "": row for row in rows}

    return read


def some(draw: np.random.Generator, among: tuple[str, ...], least: int = 1) -> list[str]:
    """A few of these."""
    return draw.choice(among, draw.integers(least, len(among) + 1), replace=False).tolist()


def question(draw: np.random.Generator) -> tuple[dict[str, str], list[list[Any]]]:
    """The parameters of a random link, and random clicks after it."""
    params = {
        "start": f"-{draw.integers(1, 15)}d",
        "end": "yesterday",
        "fields": links.join_texts(some(draw, FIELDS)),
    }
    for name in some(draw, tuple(KEYS), least=0):
        code = str(draw.choice(["is", "not", "has"]))
        params[f"{code}.{name}"] = links.join_texts(some(draw, KEYS[name])[:3])
    params |= {"cards": links.join_texts(some(draw, tuple(KEYS)))}
    acts: list[list[Any]] = []
    for _ in range(draw.integers(0, 3)):
        name = str(draw.choice([*KEYS]))
        kind = str(draw.choice(["add", "include", "exclude", "release"]))
        acts.append([kind, [[name, str(draw.choice(KEYS[name]))]]])
    if draw.random() < 0.5:
        acts.append(["field", str(draw.choice(FIELDS))])
    if draw.random() < 0.5:
        acts.append(["grain", str(draw.choice(["day", "week", "hour"]))])
    return params, acts


def written(text: str, places: int) -> str:
    """A number of a file as a screen writes it: a dash for none."""
    if not text:
        return "–"
    rounded = Decimal(text).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{rounded:,f}".replace("-", "\u2212")


@pytest.mark.parametrize("first", range(0, QUESTIONS, DRAWS))
def test_figures_are_those_of_the_file(
    answer: Answer, slicer: Slicer, file: Callable[..., Table], first: int
) -> None:
    """Headline, time chart and leaderboards of random questions have the figures of an export of the same."""
    for seed in range(first, first + DRAWS):
        params, acts = question(np.random.default_rng(seed))
        parts = answer(params, *acts)
        query = links.from_params(parts["head"]["params"], slicer, "demo", "delivery").query
        if parts["head"]["head"]["nothing"] is None:
            check_headline(parts["head"]["head"], query, slicer, file)
            check_chart(parts["head"]["head"], query, file)
        for card in parts["cards"]["cards"]:
            check_card(card, parts["head"]["head"]["field"], query, slicer, file)


def check_headline(head: Any, query: AudienceQuery, slicer: Slicer, file: Callable[..., Table]) -> None:
    """Each figure is the file's total, at the field's precision; the whole one is said first of its help."""
    names = tuple(figure["name"] for figure in head["figures"])
    totals = file(query, (), names)[""]
    for figure in head["figures"]:
        places, total = slicer.data_field(figure["name"]).display_precision, totals[figure["name"]]
        is_long = bool(total) and abs(float(total)) >= 1000
        assert figure["text"] == written(total, 0 if is_long else places), (figure, total)
        assert figure["help"].split(" · ")[0] == written(total, places)


def check_chart(head: Any, query: AudienceQuery, file: Callable[..., Table]) -> None:
    """Each value of each line is that of the file's row for its bucket; a sum without a row is zero."""
    key = time_key_field(head["grain"])
    file_rows = file(query, (key,), tuple(head["fields"]))
    rows = {TIME_KEY_FIELDS[key].label(name): row for name, row in file_rows.items()}
    for name, field in head["fields"].items():
        for bucket, value in zip(head["buckets"]["names"], field["now"]["values"], strict=True):
            text = rows.get(bucket, {}).get(name, "")
            if text:
                assert value == pytest.approx(float(text), rel=1e-5)
            else:
                assert value in (None, 0)


def check_card(
    card: Any, field: str, query: AudienceQuery, slicer: Slicer, file: Callable[..., Table]
) -> None:
    """The first values are the file's largest, without filters on the card's own values, with its figures."""
    own = {"equals", "not equals"}
    filters = tuple(
        row_filter
        for row_filter in query.filters
        if row_filter.name != card["id"] or row_filter.match not in own
    )
    volume = "imps" if slicer.data_field(field).formula else field
    rows = file(query.model_copy(update={"filters": filters}), (card["id"],), tuple({field, volume}))
    shown = [row for row in card["rows"] if row["kind"] == "row"]
    volumes = sorted((float(row[volume] or "-inf") for row in rows.values()), reverse=True)
    codes = [row["values"][0][1] for row in shown]
    assert [float(rows[code][volume] or "-inf") for code in codes[:LIMIT]] == pytest.approx(volumes[:LIMIT])
    for code, row in zip(codes, shown, strict=True):
        assert row["cells"][1]["text"] == written(
            rows[code][field], slicer.data_field(field).display_precision
        )
    assert card["card"]["about"].partition(" · *")[0] == str(len(rows))


def test_two_comparisons_are_those_of_the_files(
    answer: Answer, slicer: Slicer, file: Callable[..., Table]
) -> None:
    """Both dotted lines and both columns of changes have the figures of an export of the days they name."""
    days = {"start": "-5d", "end": "yesterday", "compare": "weekdays", "also": _days_back(15, 11)}
    parts = answer(days | {"cards": "geo.country"})
    head, query = parts["head"]["head"], links.from_params(days, slicer, "demo", "delivery").query
    assert len(head["before"]) == len(head["fields"]["imps"]["before"]) == 2
    now = file(query, ("geo.country",), ("imps",))
    card = next(card for card in parts["cards"]["cards"] if card["id"] == "geo.country")
    for place, before in enumerate(head["before"]):
        asked = query.model_copy(update={"start_date": before["first"], "end_date": before["last"]})
        by_day = file(asked, (time_key_field("day"),), ("imps",))
        line = head["fields"]["imps"]["before"][place]["values"]
        assert line == pytest.approx([float(row["imps"]) for row in by_day.values()], rel=1e-5)
        rows = file(asked, ("geo.country",), ("imps",))
        for row in card["rows"]:
            if row["kind"] == "row" and (code := row["values"][0][1]) in rows:
                change = 100 * (float(now[code]["imps"]) / float(rows[code]["imps"]) - 1)
                assert row["cells"][-2:][place]["text"].replace("−", "-") == f"{change:+.1f}"


def test_a_weekday_is_compared_by_its_own_days(answer: Answer) -> None:
    """Of ten days two are Mondays, say, and one of the ten before: a card's row and the headline of a filter
    by it are compared per Monday."""
    days = {"start": "-10d", "end": "yesterday", "field": "imps"}
    rows = small_rows(seed=0).to_pandas()
    ages = (pd.Timestamp(LAST_DAY) - pd.to_datetime(rows["time"].dt.date)).dt.days
    weekdays = rows["time"].dt.strftime("%u %A")
    parts = [
        rows.assign(age=ages)[of_side].groupby(weekdays) for of_side in (ages < 10, ages.between(10, 19))
    ]
    (now, now_days), (before, before_days) = ((part["imps"].sum(), part["age"].nunique()) for part in parts)
    changes = {
        name: f"{100 * (now[name] / now_days[name] / (before[name] / before_days[name]) - 1):+.1f}"
        for name in now.index
    }
    (card,) = answer(days | {"cards": "granularity_weekday"})["cards"]["cards"]
    shown = {row["values"][0][1]: row["cells"][-1]["text"] for row in card["rows"] if row["kind"] == "row"}
    assert {name: text.replace("−", "-") for name, text in shown.items()} == changes
    for name, change in changes.items():
        head = answer(days | {"is.granularity_weekday": name})["head"]["head"]
        (imps,) = (figure for figure in head["figures"] if figure["name"] == "imps")
        count, count_before = now_days[name], before_days[name]
        text = {1: "1 day", 2: "2 days"}[count]
        unlike = "" if count == count_before else f" ({text}, {count_before} before)"
        assert imps["delta"].replace("−", "-").removeprefix("≈ ") == f"{change} %{unlike}"


@pytest.mark.parametrize("name", ["1 Monday", "4 Thursday"])
def test_days_that_a_filter_leaves_out_are_unknown(answer: Answer, name: str) -> None:
    """A question about Mondays has no figures, and no zeros, on other days: in its chart now and before."""
    params = {"start": "-10d", "end": "yesterday", "grain": "day", "is.granularity_weekday": name}
    lines = answer(params)["head"]["head"]["fields"]["imps"]
    rows = small_rows(seed=0).to_pandas()
    sums = rows.groupby(rows["time"].dt.date)["imps"].sum()
    for line, days_back in ((lines["now"], 0), (lines["before"][0], 10)):
        days = pd.date_range(end=pd.Timestamp(LAST_DAY - timedelta(days=days_back)), periods=10)
        assert line["values"] == [sums[day.date()] if f"{day:%u %A}" == name else None for day in days]


def test_the_same_days_are_compared_once(answer: Answer) -> None:
    """Of a week the period before and the same weekdays are the same days: one line, one column."""
    once = answer({"start": "-7d", "end": "yesterday"})
    twice = answer({"start": "-7d", "end": "yesterday", "also": "weekdays"})
    assert len(twice["head"]["head"]["before"]) == 1
    assert twice["head"]["head"]["figures"] == once["head"]["head"]["figures"]
    assert twice["cards"]["cards"] == once["cards"]["cards"]


def _days_back(first: int, last: int) -> str:
    """A range of days as the link has it, so many days before yesterday."""
    return "~".join((LAST_DAY - timedelta(days=days)).isoformat() for days in (first, last))


def test_an_undone_click_gives_the_same_answer(answer: Answer) -> None:
    """Undo asks the question of before the click: its answer is the one of then, in every text."""
    before = answer({})
    clicked = answer(before["head"]["params"], ["add", [["geo.country", "US"]]], ["field", "clicks"])
    assert clicked["head"]["params"] != before["head"]["params"]
    assert answer(before["head"]["params"]) == before


def test_a_zoom_keeps_the_days_of_before(answer: Answer) -> None:
    """A brush asks about its days; zooming out asks about those of before, at the granularity of then."""
    params = {"start": "-14d", "end": "yesterday", "grain": "week"}
    day = LAST_DAY.isoformat()
    zoomed = answer(params, ["zoom", day, day])["head"]
    assert (zoomed["params"]["start"], zoomed["params"]["end"]) == (day, day)
    assert zoomed["head"]["is_zoomed"]
    assert answer(zoomed["params"], ["zoom_out"])["head"]["params"] == params


@pytest.mark.parametrize("compare", ["previous", "weekdays", "11-17"])
def test_a_zoom_compares_with_the_days_under_it(
    answer: Answer, slicer: Slicer, file: Callable[..., Table], compare: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zoom, one within it, and their link opened days later compare the same days: an offset."""
    custom = _days_back(10, 4)
    params = {"start": "-7d", "end": "yesterday", "compare": custom if compare == "11-17" else compare}
    params |= {"also": "year" if compare == "previous" else "previous"}
    offset = 4 if compare == "11-17" else 7
    first, last = LAST_DAY - timedelta(days=2), LAST_DAY - timedelta(days=1)
    zoomed = answer(params, ["zoom", first.isoformat(), last.isoformat()])["head"]["params"]
    zoomed = answer(zoomed, ["zoom", first.isoformat(), first.isoformat()])["head"]["params"]

    def clicks_on(day: Any) -> float:
        link = {"start": day.isoformat(), "end": day.isoformat()}
        query = links.from_params(link, slicer, "demo", "delivery").query
        return float(file(query, (), ("clicks",))[""]["clicks"])

    change = 100 * (clicks_on(first) / clicks_on(first - timedelta(days=offset)) - 1)
    for days_later in (0, 3):
        now = LAST_DAY + timedelta(days=1 + days_later)
        monkeypatch.setattr(dates, "today", lambda timezone, now=now: now)
        head = answer(zoomed, ["field", "clicks"])["head"]["head"]
        clicks = next(figure for figure in head["figures"] if figure["title"] == "Clicks")
        shown = clicks["delta"].replace("−", "-").removeprefix("≈").removesuffix("%").strip()
        assert float(shown) == pytest.approx(change, abs=0.051)


def test_the_day_so_far_ends_with_the_hour_that_runs(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the chart and in the sparkline, hours without a row that have not come have no value; others 0."""
    day = LAST_DAY.isoformat()
    params = {"start": day, "end": day, "grain": "hour", "is.campaign_id": "3", "is.geo.country": "DE"}
    over = answer(params)["head"]["head"]["fields"]["imps"]["now"]["values"]
    monkeypatch.setattr(dates, "clock", lambda zone: datetime.combine(LAST_DAY, time(9, 20)))
    head = answer(params)["head"]["head"]
    expected = [None if hour > 9 and not value else value for hour, value in enumerate(over)]
    assert head["fields"]["imps"]["now"]["values"] == expected
    assert None in expected and 0 in expected
    assert head["figures"][0]["spark"].count("–") == expected.count(None)


@pytest.mark.parametrize("params", [{}, {"start": "-14d", "end": "yesterday", "not.campaign_id": "3"}])
def test_the_page_says_the_same(
    answer: Answer, home: Path, monkeypatch: pytest.MonkeyPatch, params: dict[str, str]
) -> None:
    """The overview on the page is given its link's question: its figures are those of the answer to it."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    figures = answer(params)["head"]["head"]["figures"]
    assert boards.head(of_delivery(**params))["figures"] == figures


def test_numbers_are_written_for_the_reader(answer: Answer) -> None:
    """Marks of thousands and decimals are those of the browser's language."""
    english, german = (answer({}, locale=locale)["head"]["head"] for locale in ("en-US", "de-DE"))
    assert (english["separators"], german["separators"]) == ([",", "."], [".", ","])
    swap = str.maketrans(",.", ".,")
    assert [figure["text"].translate(swap) for figure in english["figures"]] == [
        figure["text"] for figure in german["figures"]
    ]


def test_no_data_has_a_way_on(answer: Answer) -> None:
    """Where a filter leaves nothing, the answer says which one, and the question without it."""
    params = {"start": "-7d", "end": "yesterday", "is.geo.country": "nowhere"}
    head = answer(params)["head"]["head"]
    assert head["figures"] == []
    assert head["nothing"]["sentence"].startswith("Nothing matches these filters")
    assert head["nothing"]["params"] == {"start": "-7d", "end": "yesterday"}
    assert answer(head["nothing"]["params"])["head"]["head"]["figures"]


@pytest.fixture
def sampled(home: Path, tmp_path: Path) -> Iterator[OverviewAnswers]:
    """Answers of a desk whose slicer is large enough that estimates come first."""
    own = copied(home, tmp_path / "home")
    desk = Settings(home=own, demo=True)
    with connect.installation(desk).warehouse.writer(
        "demo", "large", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        for _ in range(10):
            writer.write(small_rows(seed=1))
        writer.commit("made for the test", "many rows")
    yield OverviewAnswers(desk)


def test_exact_figures_follow_an_estimate(sampled: OverviewAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate comes with its range, and is not final; exact figures come as later lines."""
    monkeypatch.setattr("lib.figures.query.ask.FIRST", {"audience_rows_limit": 10_000, "exact_within": 0})
    about: dict[str, Any] = {
        "project": "demo",
        "slicer": "large",
        "params": {"start": "-21d", "end": "yesterday", "not.campaign_id": "3"},
    }
    lines = list(sampled.lines(OverviewRequest(**about), MANAGER, Deadline(60)))
    heads = [line for line in lines if line["part"] == "head"]
    assert [(line["stage"], line["is_final"]) for line in heads] == [("first", False), ("exact", True)]
    revenue = [
        next(figure for figure in line["head"]["figures"] if figure["name"] == "ctr") for line in heads
    ]
    assert revenue[0]["range"].startswith("± ")
    assert revenue[1]["range"] is None
    assert heads[1]["head"]["fields"]["imps"]["precision"] == "Exact"
    ahead = list(sampled.lines(OverviewRequest(**about | {"ahead": True}), MANAGER, Deadline(60)))
    assert [line["part"] for line in ahead] == ["head", "cards", "end"]


def test_an_answer_without_figures_has_the_same_parts(answer: Answer) -> None:
    """Whether there are figures, none, or no data fields at all, a head has the same fields."""
    head = answer({})["head"]["head"]
    empty = answer({"start": "-7d", "end": "yesterday", "is.geo.country": "nowhere"})["head"]["head"]
    assert {*head} == {*empty} == {*answers_without_fields()}


def answers_without_fields() -> dict[str, Any]:
    """The head of a slicer without data fields."""
    head = of_nothing("head")
    assert isinstance(head, dict)
    return head


def week_by_day() -> pd.DataFrame:
    """Impressions and clicks of the last seven complete days, by day and country."""
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    days = rows["time"].dt.date
    week = rows[days > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]
    return week.groupby([days, "geo.country"])[["imps", "clicks"]].sum().unstack(fill_value=0)


def test_lines_can_be_added_up(answer: Answer) -> None:
    """A cumulative line is the sum of its days, of a value too; what is not drawn stays as it is."""
    days = week_by_day()["imps"]
    head = answer({}, ["trend", "cumulative"])["head"]["head"]
    field, total = head["fields"]["imps"], days.sum(axis=1)
    assert field["now"]["values"] == total.tolist()
    assert field["drawn"]["now"]["values"] == pytest.approx(total.cumsum().tolist(), rel=1e-5)
    assert field["drawn"]["now"]["texts"][-1] == f"{total.sum():,.0f}"
    assert field["title"] == "Impressions, cumulative"
    lines = answer({}, ["trend", "cumulative"], ["draw", [["geo.country", "US"]]])["head"]["head"]["values"]
    assert lines[0]["now"]["values"] == pytest.approx(days["US"].cumsum().tolist(), rel=1e-5)


def test_lines_can_be_shares(answer: Answer) -> None:
    """A value's share is of all values each day, whatever filters keep; the question's is of all rows."""
    days = week_by_day()["imps"]
    share = 100 * days["US"] / days.sum(axis=1)
    only, trend = ["include", [["geo.country", "US"]]], ["trend", "share"]
    line = answer({}, only, trend)["head"]["head"]["fields"]["imps"]["drawn"]["now"]
    assert line["values"] == pytest.approx(share.tolist(), rel=1e-5)
    assert line["texts"] == [f"{percentage:.1f} %" for percentage in share]
    values = answer({}, only, trend, ["draw", [["geo.country", "US"]]])["head"]["head"]["values"]
    assert values[0]["now"]["values"] == line["values"]


def test_a_ratio_is_not_added_up(answer: Answer) -> None:
    """Of a ratio the single values are drawn, and a note says so."""
    field = answer({}, ["field", "ctr"], ["trend", "cumulative"])["head"]["head"]["fields"]["ctr"]
    assert field["drawn"] is None
    assert "CTR does not add up: its value per bucket is drawn." in field["notes"]


def test_a_second_metric_has_a_line_of_its_own(answer: Answer) -> None:
    """The second data field has its values by day, in the link too, though the headline does not have it."""
    head = answer({"fields": "imps"}, ["second", "clicks"])["head"]
    second = head["head"]["second"]
    assert head["params"]["second"] == "clicks"
    assert (second["name"], second["label"], second["has_zero"]) == ("clicks", "Clicks", True)
    assert second["values"] == week_by_day()["clicks"].sum(axis=1).tolist()
    assert [figure["name"] for figure in head["head"]["figures"]] == ["imps"]
    assert "beside Clicks" in head["head"]["fields"]["imps"]["alt"]
    assert answer(head["params"], ["second", ""])["head"]["head"]["second"] is None


@pytest.mark.parametrize(("start", "expected"), [("-14d", {"hour", "day", "week"}), ("yesterday", {"hour"})])
def test_granularities_are_those_that_draw_a_line(answer: Answer, start: str, expected: set[str]) -> None:
    """Offered are those with at least two points and at most 400, and the one that a link asks for."""
    params = {"start": start, "end": "yesterday"}
    grains = {*answer(params)["head"]["head"]["grains"]}
    assert grains - {"month"} == expected
    assert "year" in answer(params, ["grain", "year"])["head"]["head"]["grains"]
