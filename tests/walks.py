"""Random walks over the Audience page, and whether what it shows is the API's exact answer for its link.

A walk is clicks, brushes, tabs, pickers, undo, reloads and links, each a step from the parameters of one link
to those of the next. What a link asks is worked out here from its text, by other means than the page's.
"""

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from conftest import COUNTRIES, DAYS, LAST_DAY

from lib.reporting import links
from lib.reporting.answers import Audience
from lib.reporting.answers.records import RecordTable
from lib.reporting.client import Reporting
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, RecordsQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import GRANULARITIES, time_key_field
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

Params = dict[str, str]
Act = list[Any]
Key = tuple[str, ...]
Parts = Mapping[str, Any]
VALUES = {
    "geo.country": (*COUNTRIES, ""),
    "campaign_id": tuple("12345678"),
    "categories": ("news", "sport", "travel", ""),
}
METRICS = ("imps", "clicks", "revenue", "ctr", "unique_users")
SUMS = ("imps", "clicks", "revenue")
DAY = "granularity_day"
FIRST_DAY = LAST_DAY - timedelta(days=DAYS - 1)
BACK = ("-1w", "-2w", "-1m", "-1q")
PERIODS = ("-1d", "-2d", "-5d", "-7d", "-14d", "-21d")
GRAINS = ("hour", "day", "week", "month")
SIZES = {"k": 1e3, "M": 1e6, "B": 1e9}
STEPS = 8


@dataclass
class Walk:
    """Where a walk is: the parameters of its link, and those that undo and redo lead to."""

    draw: np.random.Generator
    params: Params = field(default_factory=dict)
    before: list[Params] = field(default_factory=list)
    undone: list[Params] = field(default_factory=list)

    def step(self) -> list[Act]:
        """The clicks of the next step, after which `arrive` says where they led; none of a link or undo."""
        return getattr(
            self, f"_{self._one('click', 'click', 'click', 'zoom', 'set', 'pick', 'undo', 'redo')}"
        )()

    def arrive(self, params: Params) -> None:
        """Go on from the parameters that the page has now."""
        if params != self.params:
            self.before, self.undone, self.params = [*self.before, self.params], [], params

    def _one(self, *among: Any) -> Any:
        return among[self.draw.integers(len(among))]

    def _pair(self) -> list[str]:
        name = self._one(*VALUES)
        return [name, self._one(*VALUES[name])]

    def _day(self) -> str:
        """A day with data, seldom one without."""
        return (FIRST_DAY + timedelta(days=int(self.draw.integers(-1, DAYS)))).isoformat()

    def _click(self) -> list[Act]:
        name = self._one(*VALUES)
        way = self._one("asc", "desc")
        column = self._one("value", "change", "name", *(f".{metric}" for metric in METRICS))
        choices: list[Act] = [
            [self._one("add", "include", "exclude", "release", "draw", "undraw"), [self._pair()]],
            ["order", name, column, way],
            ["order", "split", self._one(*VALUES, *METRICS), way],
            ["find", name, self._one("", "e", "1", "UNITED")],
            ["card", name],
            ["open", name],
            ["records", name, [self._pair()]],
            ["records", "split", [self._pair(), [DAY, self._day()]]],
            ["records", "chart", [[DAY, f"{self._day()}T00:00:00"]]],
            [self._one("expand", "collapse"), [self._pair()]],
        ]
        return [self._one(choices[0], *choices) for _ in range(self._one(1, 1, 2))]

    def _zoom(self) -> list[Act]:
        first, last = days_of(self.params)
        if self._one(*"abc") == "a":
            return [["zoom_out"]]
        ends = sorted(
            first + timedelta(days=int(day)) for day in self.draw.integers(0, length((first, last)), 2)
        )
        return [["zoom", *(day.isoformat() for day in ends)]]

    def _set(self) -> list[Act]:
        choices = {
            "field": METRICS,
            "grain": GRAINS,
            "trend": ("each", "cumulative", "share"),
            "second": ("", *METRICS),
            "lower": ("cards", "split", "moved", "records"),
        }
        name = self._one(*choices)
        return [[name, self._one(*choices[name])]]

    def _pick(self) -> list[Act]:
        """Another link, as pickers or somebody's hand write it."""
        days = [LAST_DAY - timedelta(days=int(day)) for day in sorted(self.draw.integers(0, DAYS, 2))[::-1]]
        span = links.join_texts(day.isoformat() for day in days)
        key, other = self.draw.permutation([*VALUES])[:2].tolist()
        changes: list[Params] = [
            {"start": self._one(*PERIODS), "end": "yesterday", "zoom": ""},
            {
                "start": self._one("-0w_first", "-0m_first", "-0q_first"),
                "end": self._one("yesterday", "today"),
                "zoom": "",
            },
            self._one(*({"start": f"{back}_first", "end": f"-1{back[2]}_last", "zoom": ""} for back in BACK)),
            {"start": days[0].isoformat(), "end": days[1].isoformat(), "zoom": ""},
            {"compare": self._one("previous", "weekdays", "none", span)},
            {"also": self._one("previous", "weekdays", "none", span)},
            {"fields": links.join_texts(self.draw.permutation(METRICS)[: self._one(1, 3, 5)].tolist())},
            {"columns": links.join_texts(self.draw.permutation(METRICS)[: self._one(0, 1, 3)].tolist())},
            {"changes": self._one("percent", "amount")},
            {"beside": self._one("previous", "amount", "previous~amount", "")},
            {"split": links.join_texts(self._one([key], [key, other], [key, DAY], [DAY, key], [DAY]))},
            {"split": f"{key}~{other}", "chart": "pivot", "lower": "split"},
            {"chart": self._one("table", "pivot"), "lower": "split"},
            {f"{self._one('has', 'hasnt', 'starts', 'is-i')}.{key}": self._one("1", "s", "U")},
            {f"any.is.{key}": self._one(*VALUES[key]) or "1", f"any.is.{other}": "1"},
            {"having": self._one("imps~ge~100000", "clicks~lt~2000", "")},
            {"tz": self._one("-5", "3", "")},
        ]
        return self._go(self.params | self._one(*changes))

    def _go(self, params: Params) -> list[Act]:
        self.arrive({name: text for name, text in params.items() if text})
        return []

    def _undo(self) -> list[Act]:
        if self.before:
            self.undone, self.params = [self.params, *self.undone], self.before.pop()
        return []

    def _redo(self) -> list[Act]:
        if self.undone:
            self.before, self.params = [*self.before, self.params], self.undone[0]
            self.undone = self.undone[1:]
        return []


def length(days: Days) -> int:
    """How many days these are."""
    return (days[1] - days[0]).days + 1


def today(params: Mapping[str, str]) -> date:
    """Today, in the time zone of a link."""
    return (datetime.now(UTC) + timedelta(hours=int(params.get("tz", "0")))).date()


def day_of(text: str, today: date) -> date:
    """The day that a date in a link means."""
    if back := re.fullmatch(r"-(\d+)d", text):
        return today - timedelta(days=int(back[1]))
    if edge := re.fullmatch(r"-(\d+)([wmq])_(first|last)", text):
        unit = unit_of(today, edge[2])
        for _ in range(int(edge[1])):
            unit = unit_of(unit[0] - timedelta(days=1), edge[2])
        return unit[edge[3] == "last"]
    return today - timedelta(days=1) if text == "yesterday" else date.fromisoformat(text)


def unit_of(day: date, unit: str) -> Days:
    """The week, month or quarter that a day is in."""
    if unit == "w":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=6)
    months = 3 if unit == "q" else 1
    month = day.month - (day.month - 1) % months
    last_month = month + months - 1
    return day.replace(month=month, day=1), date(
        day.year, last_month, calendar.monthrange(day.year, last_month)[1]
    )


def days_of(params: Mapping[str, str]) -> Days:
    """The days of a link; of a week, month or quarter to date on its first day, those of the last one."""
    start, end = params.get("start", "-7d"), params.get("end", "yesterday")
    now = today(params)
    first, last = day_of(start, now), now if end == "today" else day_of(end, now)
    return (unit_of(last, start[2])[0], last) if first > last else (first, last)


def part_before(start: str, period: Days, complete: date) -> Days:
    """The same part of the calendar's period before, day by day; of days without a name as many before."""
    name = re.fullmatch(r"-\d+([wmq])_first", start)
    if name is None:
        back = timedelta(days=length(period))
        return period[0] - back, period[1] - back
    unit, first = name[1], period[0]
    last = max(first, min(period[1], complete))
    units, before = {unit_of(day, unit) for day in each_day(period)}, first
    for _ in units:
        before = unit_of(before - timedelta(days=1), unit)[0]
    if last == unit_of(last, unit)[1]:
        return same_length(before, first - timedelta(days=1), last, period)
    if unit == "w":
        return same_length(before, last - timedelta(weeks=len(units)), last, period)
    months = (last.year - first.year) * 12 + last.month - first.month
    year, month = divmod(before.year * 12 + before.month - 1 + months, 12)
    day = min(last.day, calendar.monthrange(year, month + 1)[1])
    return same_length(before, date(year, month + 1, day), last, period)


def same_length(first: date, last: date, complete: date, period: Days) -> Days:
    """These days, and after them one for each that is not complete, if that is before the period."""
    later = last + (period[1] - complete)
    return first, later if later < period[0] else last


def compared_days(params: Mapping[str, str], name: str, complete: date) -> tuple[Days, Days] | None:
    """All days that a link compares its days with: an offset, which a zoom keeps; and those of before a zoom.

    A zoom compares none of the days outside of a range of its own, where that is not as long.
    """
    kind = params.get(name, "previous" if name == "compare" else "none")
    period = days_of(params)
    if kind == "none" or (name == "also" and params.get("compare") == "none"):
        return None
    whole, start = period, params.get("start", "-7d")
    if "zoom" in params:
        start, end, _, *fixed = [*links.split_texts(params["zoom"]), ""]
        whole = (
            (date.fromisoformat(fixed[0]), date.fromisoformat(fixed[1]))
            if len(fixed) > 2
            else days_of({**params, "start": start, "end": end})
        )
    if kind == "previous":
        before = part_before(start, whole, complete)
    elif kind == "weekdays":
        back = timedelta(weeks=-(-length(whole) // 7))
        before = whole[0] - back, whole[1] - back
    else:
        first, last = map(date.fromisoformat, links.split_texts(kind))
        before = first, last
    if "zoom" in params:
        offset = before[0] - whole[0]
        moved = period[0] + offset, period[1] + offset
        return moved, moved if length(before) == length(whole) else before
    return before, before


class Oracle:
    """The API's exact answers for the link of a walk."""

    def __init__(self, reporting: Reporting, slicer: Slicer, params: Params, about: tuple[str, str]) -> None:
        self.params, self._reporting, self._slicer = params, reporting, slicer
        self.query = links.from_params(params, slicer, *about).query
        self.period = days_of(params)
        yesterday = today(params) - timedelta(days=1)
        first, last = (date.fromisoformat(day or "") for day in (slicer.first_date, slicer.last_date))
        self.data_days = first, min(last, yesterday)

    def rows(
        self,
        days: Days,
        split: Sequence[str],
        fields: Sequence[str],
        filters: Sequence[Filter] | None = None,
        **more: Any,
    ) -> "Answer":
        """The figures by key on these days; the empty key has the total."""
        query = AudienceQuery(
            project_name=self.query.project_name,
            slicer_name=self.query.slicer_name,
            start_date=days[0].isoformat(),
            end_date=days[1].isoformat(),
            timezone=self.query.timezone,
            filters=self.query.filters if filters is None else tuple(filters),
            any_of=self.query.any_of,
            split_by=tuple(split),
            data_fields=tuple(dict.fromkeys(fields)),
            audience_rows_limit=ROWS_LIMITS[1],
            **more,
        )
        return Answer(self._reporting.audience(query, self._slicer), days)

    def records(self, query: RecordsQuery) -> RecordTable:
        """The rows of a page."""
        return self._reporting.records(query, self._slicer)


class Answer:
    """An answer of the API as figures by key."""

    def __init__(self, answer: Audience, days: Days) -> None:
        assert answer.precision is None or not answer.precision.is_sampled
        self.days, self.count = len(answer.total.dates) or length(days), answer.total.records_found
        self.total = answer.total.values
        keys = [tuple(map(str, key)) for key in answer.names.itertuples(index=False, name=None)]
        self.rows = dict(zip(keys, answer.values.to_dict("records"), strict=True))

    def value(self, key: Key, name: str) -> float | None:
        """The figure of a row; None where there is none."""
        value = self.rows.get(key, {}).get(name)
        return None if value is None or np.isnan(value) else float(value)


def says(text: str, value: float | None) -> bool:
    """Whether a text is this number, as exactly as it is written."""
    if value is None or not np.isfinite(value):
        return text == "–"
    plain = re.fullmatch(r"([−+]?)\$?([\d,]+(?:\.(\d+))?)\s?([kMB])?\s?(?:%|points)?", text)
    if plain is None:
        return False
    number = float(plain[2].replace(",", "")) * (-1 if plain[1] == "−" else 1)
    size = SIZES.get(plain[4], 1)
    return abs(number * size - value) <= 0.5000001 * size * 10 ** -len(plain[3] or "") + 1e-9 * abs(value)


def change(
    name: str, now: float | None, before: float | None, days: tuple[int, int]
) -> tuple[float | None, float | None]:
    """The relative change in percent and the difference: of sums of unlike many days, per day."""
    if now is None or before is None:
        return None, None
    if days[0] != days[1]:
        if name == "unique_users":
            return None, None
        before = before * days[0] / days[1] if name in SUMS else before
    return (100 * (now - before) / abs(before) if before else None), now - before


@dataclass
class Check:
    """Compares what a page shows with the oracle's answers. `parts` are those of the overview's route."""

    oracle: Oracle
    parts: Parts

    @property
    def head(self) -> Any:
        """The head as the route sends it."""
        return self.parts["head"]

    @property
    def shown(self) -> str:
        """The metric shown."""
        return self.head["field"]

    def all(self) -> None:
        """Every part."""
        assert self.head["period"]["first"] == self.oracle.period[0].isoformat(), self.head["period"]
        assert self.head["period"]["last"] == self.oracle.period[1].isoformat(), self.head["period"]
        self.comparisons = [*self._comparisons()]
        if self.head["nothing"] is None:
            self.headline()
            self.lines()
            self.value_lines()
        else:
            assert not any(self.oracle.rows(self.oracle.period, (), ["imps"]).total.values())
        for card in self.parts["cards"]:
            self.card(card)
        for table in self.parts["split"]:
            self.split(table)

    def _comparisons(self) -> Iterator[tuple[Days, Days]]:
        """The days compared, both sides: those on screen, which are what the link says of days with data."""
        data_days = self.oracle.data_days
        expected = [compared_days(self.oracle.params, name, data_days[1]) for name in ("compare", "also")]
        pairs = [
            both for days in expected if days and (both := in_data(self.oracle.period, *days, data_days))
        ]
        on_screen = [
            tuple(date.fromisoformat(side[end]) for end in ("first", "last")) for side in self.head["before"]
        ]
        assert on_screen == [before for _, before in dict.fromkeys(pairs)], (on_screen, pairs)
        yield from dict.fromkeys(pairs)

    def headline(self) -> None:
        """Figures, changes, ranges."""
        names = [figure["name"] for figure in self.head["figures"]]
        total = self.oracle.rows(self.oracle.period, (), names).total
        sides = [[self.oracle.rows(days, (), names) for days in both] for both in self.comparisons[:1]]
        for figure in self.head["figures"]:
            name = figure["name"]
            assert says(figure["text"], total[name]), (figure, total[name])
            assert figure["range"] is None, figure
            for now, before in sides:
                ratio, amount = change(name, now.total[name], before.total[name], (now.days, before.days))
                covered = self.coverage(0, now, before)
                ratio, text = (
                    None if covered is None else ratio,
                    figure["delta"].removeprefix("≈ ").partition(" ("),
                )
                assert says(text[0], ratio), (figure, ratio, amount)
                assert bool(text[2]) == (covered is not True), (figure, covered)
        for name in names:
            assert self.head["fields"][name]["precision"].startswith("Exact"), self.head["fields"][name]

    def coverage(self, index: int, now: Answer, before: Answer) -> bool | None:
        """Whether both sides of a comparison have data on all of as many days; None where a side lacks most.

        Days are those of the link that are over, and the days that these are set against.
        """
        yesterday, period = today(self.oracle.params) - timedelta(days=1), self.oracle.period
        expected = [
            days
            for name in ("compare", "also")
            if (days := compared_days(self.oracle.params, name, self.oracle.data_days[1])) is not None
            and in_data(period, *days, self.oracle.data_days)
        ][index][0]
        past = length((period[0], min(period[1], yesterday)))
        wholes = past, past if length(expected) == length(period) else length(expected)
        parts = [side.days / whole for side, whole in zip((now, before), wholes, strict=True)]
        if min(parts) < 0.5:
            return None
        return parts == [1, 1] and wholes[0] == wholes[1]

    def lines(self) -> None:
        """The chart of each metric: values per bucket of each line, and what is drawn of them."""
        if self.head["grain"] is None:
            return
        key, names = time_key_field(self.head["grain"]), [*self.head["fields"]]
        sides = [self.oracle.period, *(before for _, before in self.comparisons)]
        answers = [self.oracle.rows(days, (key,), names) for days in sides]
        buckets = [self.head["buckets"]["names"], *(side["names"] for side in self.head["buckets_before"])]
        assert len(buckets) == len(answers)
        for name, field_head in self.head["fields"].items():
            lines = [field_head["now"], *field_head["before"]]
            for line, names_of_line, answer in zip(lines, buckets, answers, strict=True):
                self._line(line["values"], names_of_line, answer, (), name)
            if field_head["drawn"] is not None and self.head["trend"] == "cumulative":
                for single, drawn in zip(
                    [field_head["now"], *field_head["before"]],
                    [field_head["drawn"]["now"], *field_head["drawn"]["before"]],
                    strict=True,
                ):
                    added = np.nancumsum([value or 0 for value in single["values"]])
                    for value, expected in zip(drawn["values"], added, strict=True):
                        assert value is None or abs(value - expected) <= 1e-5 * abs(expected)
        second = self.head["second"]
        if second is not None and self.head["trend"] == "each":
            self._line(
                second["values"],
                buckets[0],
                self.oracle.rows(sides[0], (key,), [second["name"]]),
                (),
                second["name"],
            )

    def _line(
        self, values: Sequence[float | None], buckets: Sequence[str], answer: Answer, below: Key, name: str
    ) -> None:
        label = GRANULARITIES[self.head["grain"]].label
        by_words = {label(row[0]): row for row in answer.rows if row[1:] == below}
        for value, bucket in zip(values, buckets, strict=True):
            expected = answer.value(by_words[bucket], name) if bucket in by_words else None
            if expected is None:
                assert value in (None, 0), (name, bucket, value)
            else:
                assert value is not None, (name, bucket, expected)
                assert abs(value - expected) <= 1e-5 * abs(expected) + 1e-9, (name, bucket, value, expected)

    def value_lines(self) -> None:
        """The lines of values, of the metric shown."""
        if not self.head["values"] or self.head["trend"] != "each":
            return
        lines = self.oracle.params.get("lines")
        key = time_key_field(self.head["grain"])
        labels = {label: code for code, label in COUNTRIES.items()}
        if lines:
            name, *codes = links.split_texts(lines)
        else:
            name = next(
                condition.name for condition in self.oracle.query.filters if condition.match == "equals"
            )
            codes = []
        filters = self.others(name)
        answer = self.oracle.rows(self.oracle.period, (key, name), [self.shown], filters)
        for place, line in enumerate(self.head["values"]):
            label = line["label"]
            code = codes[place] if codes else "" if label == "(not set)" else labels.get(label, label)
            self._line(line["now"]["values"], self.head["buckets"]["names"], answer, (code,), self.shown)

    def others(self, name: str, filters: Sequence[Filter] | None = None) -> list[Filter]:
        """These filters, the link's if none are given, but for those on whole values of a key field."""
        return [
            condition
            for condition in (self.oracle.query.filters if filters is None else filters)
            if condition.name != name or condition.match not in ("equals", "not equals")
        ]

    def card(self, card: Any) -> None:
        """A leaderboard: which values, in which order, each figure of each column, and the rest."""
        name = card["id"]
        assert not (card["card"]["message"] or "").startswith("The service"), card["card"]
        assert "±" not in card["card"]["about"]
        columns = {column["id"]: place for place, column in enumerate(card["columns"])}
        metrics = [self.shown, *(column[1:] for column in columns if column.startswith("."))]
        filters = self.others(name)
        whole = self.oracle.rows(self.oracle.period, (name,), metrics, filters)
        pairs = [
            [self.oracle.rows(days, (name,), [self.shown], filters) for days in both]
            for both in self.comparisons
        ]
        rows = [row for row in card["rows"] if row["kind"] == "row"]
        codes = [row["values"][0][1] for row in rows]
        assert len(codes) == len({*codes})
        for code, row in zip(codes, rows, strict=True):
            texts = {column: row["cells"][place]["text"] for column, place in columns.items()}
            value = whole.value((code,), self.shown)
            assert says(
                texts["value"],
                0.0
                if value is None and code not in {key[0] for key in whole.rows} and self.shown in SUMS
                else value,
            ), (name, code, texts, value)
            for metric in metrics[1:]:
                expected = whole.value((code,), metric)
                if (code,) in whole.rows:
                    assert says(texts[f".{metric}"], expected), (name, code, metric, texts, expected)
            if "share" in columns and value is not None and whole.total[self.shown]:
                assert says(texts["share"], 100 * value / whole.total[self.shown]), (name, code, texts)
            self._changes(texts, columns, (code,), pairs)
        if not any(row["kind"] == "rest" for row in card["rows"]) or self.shown not in SUMS:
            return
        rest = next(row for row in card["rows"] if row["kind"] == "rest")
        shown_sum = sum(whole.value((code,), self.shown) or 0 for code in codes)
        assert says(rest["cells"][columns["value"]]["text"], max(0.0, whole.total[self.shown] - shown_sum)), (
            card,
            shown_sum,
        )

    def _changes(
        self,
        texts: Mapping[str, str],
        columns: Mapping[str, int],
        key: Key,
        pairs: Sequence[Sequence[Answer]],
    ) -> None:
        """The columns of changes, and of the days compared first."""
        for column, pair in zip(("change", "also"), pairs, strict=False):
            if column not in columns:
                continue
            now, before = pair
            sides = [side.value(key, self.shown) for side in pair]
            if self.coverage(pairs.index(pair), now, before) is None:
                assert texts[column] == "–", (key, column, texts)
                continue
            if key not in now.rows and self.shown in SUMS:
                sides[0] = 0.0
            if sides[0] is None or sides[1] is None:
                continue
            ratio, amount = change(self.shown, *sides, (now.days, before.days))
            is_amount = self.oracle.params.get("changes") == "amount"
            assert says(texts[column], amount if is_amount else ratio), (key, column, texts, ratio, amount)
            if column == "change" and "previous" in columns and now.days == before.days:
                assert says(texts["previous"], sides[1]), (key, texts, sides)
            if column == "change" and "amount" in columns:
                assert says(texts["amount"], amount), (key, texts, amount)

    def split(self, table: Any) -> None:
        """The split's table or pivot: each metric of each row, total and rest included."""
        split = self.oracle.query.split_by
        cross = self.oracle.params.get("cross", "")
        keys = tuple(name for name in split if name != cross) or split if table["is_tree"] else split
        metrics = {
            column["id"]: place for place, column in enumerate(table["columns"]) if column["id"] in METRICS
        }
        assert self.shown in metrics
        for row in table["rows"]:
            if row["kind"] == "rest":
                continue
            names = keys[: row["level"]] if table["is_tree"] else keys
            days = self.oracle.period
            filters = [*self.oracle.query.filters]
            answer = self.answers(days, names if row["kind"] == "row" else (), [*metrics], filters)
            key = tuple(value for _, value in row["values"])
            for metric, place in metrics.items():
                value = answer.value(key, metric) if row["kind"] == "row" else answer.total.get(metric)
                assert says(row["cells"][place]["text"], value), (key, metric, row, value)
        by_title = {column["title"]: place for place, column in enumerate(table["columns"])}
        place = next(
            (place for title, place in by_title.items() if re.match("(Change|Relative change), %", title)),
            None,
        )
        if place is None or len(self.comparisons) != 1:
            return
        for row in table["rows"]:
            if row["kind"] != "row":
                continue
            names = keys[: row["level"]] if table["is_tree"] else keys
            key = tuple(value for _, value in row["values"])
            now, before = (
                self.answers(days, names, [self.shown], [*self.oracle.query.filters])
                for days in self.comparisons[0]
            )
            # A day is compared with the day at its place, whatever the lengths of both periods.
            offset = self.comparisons[0][0][0] - self.comparisons[0][1][0]
            earlier = tuple(
                (date.fromisoformat(value) - offset).isoformat() if name == DAY else value
                for name, value in zip(names, key, strict=True)
            )
            sides = now.value(key, self.shown), before.value(earlier, self.shown)
            if None not in sides:
                days = (1, 1) if DAY in names else (now.days, before.days)
                ratio, _ = change(self.shown, *sides, days)
                ratio = None if self.coverage(0, now, before) is None else ratio
                assert says(row["cells"][place]["text"], ratio), (key, row, ratio)

    def moved(self, table: Any, sentence: str) -> None:
        """What moved: the difference of all, and of each value both sides and what it contributes.

        A sum of before counts as on so many days as there are now.
        """
        (now_days, before_days), name = self.comparisons[0], self.shown
        filters = [*self.oracle.query.filters]
        sides = [self.answers(days, (), [name], filters) for days in (now_days, before_days)]
        weight = sides[0].days / sides[1].days if name in SUMS and sides[1].days else 1.0
        now, before = (side.total[name] or 0.0 for side in sides)
        if name in SUMS:
            difference = re.search(r" ([−+]?\$?[\d.,]+\s?[kMB]?) \(", sentence)
            assert difference and says(difference[1], now - weight * before), (sentence, now, before, weight)
        columns = {column["id"]: index for index, column in enumerate(table["columns"])}
        for row in table["rows"]:
            ((field, code),) = row["values"]
            texts = {column: row["cells"][index]["text"] for column, index in columns.items()}
            answers = [self.answers(days, (field,), [name], filters) for days in (now_days, before_days)]
            figures = [answer.value((code,), name) for answer in answers]
            if name in (*SUMS, "unique_users"):
                figures = [figure or 0.0 for figure in figures]
            now, before = figures
            before = before if before is None else weight * before
            assert says(texts["now"], now) and says(texts["before"], before), (field, code, texts, figures)
            if now is not None and before is not None and name != "ctr":
                assert says(texts["contribution"], now - before), (field, code, texts, figures)

    def records(self, query: RecordsQuery) -> None:
        """The rows behind the figure, the latest first: of each day that is whole the sums are the API's.

        Of more rows than are shown, the earliest day among these may have more of them.
        """
        kind, *parts = links.split_texts(self.oracle.params.get("records", "")) or [""]
        values = [*zip(parts[::2], parts[1::2], strict=True)]
        filters = [*self.oracle.query.filters]
        for name, _ in values if kind == "card" else ():
            filters = self.others(name, filters)
        filters += [Filter(name=name, value=(value,), match="equals") for name, value in values]
        shown = self.oracle.records(query)
        assert len(shown.frame) == min(shown.records_found, query.limit)
        days = shown.frame["granularity_hour"].str[:10]
        assert days.is_monotonic_decreasing
        sums = shown.frame.groupby(days)[[*SUMS]].sum()
        answer = self.oracle.rows(self.oracle.period, (DAY,), SUMS, filters)
        is_whole = len(shown.frame) == shown.records_found
        assert not is_whole or {*sums.index} == {key[0] for key in answer.rows}
        for day in sums.index[0 if is_whole else 1 :]:
            for name in SUMS:
                expected = answer.value((day,), name) or 0.0
                assert abs(sums[name][day] - expected) <= 1e-9 * abs(expected), (day, name, sums, values)

    def answers(
        self, days: Days, split: Sequence[str], fields: Sequence[str], filters: Sequence[Filter]
    ) -> Answer:
        """The oracle's answer, each once."""
        key = (days, tuple(split), tuple(fields))
        if key not in self._cache:
            self._cache[key] = self.oracle.rows(days, split, fields, filters)
        return self._cache[key]

    def __post_init__(self) -> None:
        """Nothing is asked yet."""
        self._cache: dict[Any, Answer] = {}


def in_data(period: Days, before: Days, limits: Days, data_days: Days) -> tuple[Days, Days] | None:
    """Both sides without days that have no data, of which either side lacks the counterpart."""
    first_day, last_day = data_days
    if length(period) == length(before):
        pairs = [
            (now, then)
            for now, then in zip(each_day(period), each_day(before), strict=True)
            if first_day <= now <= last_day and max(first_day, limits[0]) <= then <= min(last_day, limits[1])
        ]
        return ((pairs[0][0], pairs[-1][0]), (pairs[0][1], pairs[-1][1])) if pairs else None
    now, then = ([day for day in each_day(days) if first_day <= day <= last_day] for days in (period, before))
    return ((now[0], now[-1]), (then[0], then[-1])) if now and then else None


def each_day(days: Days) -> list[date]:
    """The days one by one."""
    return [days[0] + timedelta(days=place) for place in range(length(days))]
