"""Filters of a grant (*extension*): answers are as if the rows outside did not exist, over every engine."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pandas as pd
import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import Caller, agree, figures, rows, same, skip_for, success
from conformance.reporting.conftest import PROJECT
from conformance.reporting.files import read
from conformance.reporting.hourly import CATEGORIES, COUNTRIES, LAST, ROWS, ZONE
from conformance.reporting.others import many_frame
from lib.people import Grant, Person
from lib.serving import connect
from lib.wire.filters import Filter, rule

MAPPINGS = {"geo.country": COUNTRIES, "categories": CATEGORIES}
LIMITS: dict[str, tuple[dict[str, Any], ...]] = {
    "values": ({"name": "geo.country", "value": ["US", "DE"], "match": "equals"},),
    "missing values": ({"name": "site_id", "value": [""], "match": "equals"},),
    "negative": ({"name": "geo.country", "value": ["US", "ZZ"], "match": "not equals"},),
    "any case": ({"name": "domain", "value": ["SHOP"], "match": "contains", "case_insensitive": 1},),
    "not, in any case": (
        {"name": "domain", "value": ["EXAMPLE"], "match": "not contains", "case_insensitive": 1},
    ),
    "description": (
        {"name": "geo.country", "value": ["United"], "match": "begins with", "search_mappings": 1},
    ),
    "segmented": ({"name": "segments", "value": ["a", "b"], "match": "equals"},),
    "segmented, negative": ({"name": "segments", "value": ["a", "d"], "match": "not equals"},),
    "segmented, description, in any case": (
        {"name": "categories", "value": ["SPORT"], "match": "contains",
         "case_insensitive": 1, "search_mappings": 1},
    ),
    "several": (
        {"name": "geo.country", "value": ["US", "DE", "GB"], "match": "equals"},
        {"name": "segments", "value": ["c"], "match": "not equals"},
    ),
    "no row": ({"name": "domain", "value": ["nobody.example"], "match": "equals"},),
}  # fmt: skip
EVERYTHING: tuple[dict[str, Any], ...] = ()
Limited = Callable[..., Caller]


def visible(limit: tuple[dict[str, Any], ...], rows: pd.DataFrame = ROWS) -> pd.DataFrame:
    """The rows that pass, by plain Python on each value."""
    passes = pd.Series(True, index=rows.index)
    for filter_ in map(Filter.model_validate, limit):
        matches = (
            oracle.values(rows, filter_.name)
            .map(lambda texts, f=filter_: any(_holds(f, t) for t in texts))
            .astype(bool)
        )
        passes &= ~matches if rule(filter_.match).is_negative else matches
    return rows[passes]


def _holds(filter_: Filter, text: str) -> bool:
    mapping = MAPPINGS.get(filter_.name, {}) if filter_.search_mappings else {}
    texts, values = [text, *([mapping[text]] if text in mapping else [])], list(filter_.value)
    if filter_.case_insensitive:
        texts, values = [t.lower() for t in texts], [value.lower() for value in values]
    return any(rule(filter_.match).holds(t, value) for t in texts for value in values)


@pytest.fixture(scope="session")
def limited(installation: connect.Installation, http: httpx.Client, left_out: frozenset[str]) -> Limited:
    """A caller whose grant of a slicer has these filters; `token_limit` are those of the token alone."""
    names: dict[str, str] = {}

    def caller(
        limit: tuple[dict[str, Any], ...],
        token_limit: tuple[dict[str, Any], ...] = (),
        slicer: str = "hourly",
    ) -> Caller:
        skip_for(left_out, [limit, token_limit])
        grants = [
            Grant(PROJECT, slicer, tuple(map(Filter.model_validate, filters)))
            for filters in (limit, token_limit)
        ]
        name = names.setdefault(str(grants[0]), f"limited{len(names)}")
        if installation.people.get(name) is None:
            installation.access.add(Person(name, name, None, "viewer"), "a password", "a test")
        installation.access.change(name, "a test", grants=grants[:1])
        own = (grants[1],) if token_limit else ()
        token = installation.access.issue(name, "reporting", "a test", None, own)
        return Caller(http, token, slicer, left_out=left_out)

    return caller


def _totals(caller: Caller, frame: pd.DataFrame) -> None:
    agree(figures(caller.audience()["total"]), oracle.figures(frame)) if len(frame) else None


def _split(caller: Caller, frame: pd.DataFrame) -> None:
    same(
        rows(caller.audience(split_by=["site_id", "categories"])),
        oracle.split(frame, ["site_id", "categories"]),
    )


def _by_hour(caller: Caller, frame: pd.DataFrame) -> None:
    """Sums by hour are kept beside the rows: of all rows."""
    first = LAST - dt.timedelta(days=9)
    answer = caller.audience(split_by=["granularity_hour"], start_date=str(first))
    same(rows(answer), oracle.split(frame[oracle.local(frame).dt.date >= first], ["granularity_hour"]))


def _by_day_elsewhere(caller: Caller, frame: pd.DataFrame) -> None:
    answer = caller.audience(split_by=["granularity_day"], timezone=-9, start_date="2000-01-01")
    until_the_end = frame[oracle.local(frame, -9).dt.date <= LAST]
    same(rows(answer), oracle.split(until_the_end, ["granularity_day"], -9))
    assert answer["total"]["dates"] == sorted({*oracle.local(until_the_end, -9).dt.date.map(str)})


def _with_own_filter(caller: Caller, frame: pd.DataFrame) -> None:
    mine = {"name": "segments", "value": ["b"], "match": "equals"}
    both = visible((mine,), frame)
    answer = caller.audience(split_by=["geo.country"], filters=[mine])
    same(rows(answer), oracle.split(both, ["geo.country"]))
    assert answer["total"]["dates"] == sorted({*oracle.local(frame).dt.date.map(str)})


def _with_a_group(caller: Caller, frame: pd.DataFrame) -> None:
    """Filters joined by OR open no row that the grant does not."""
    group = [{"name": "segments", "value": ["b"], "match": match} for match in ("equals", "not equals")]
    answer = caller.audience(split_by=["geo.country"], any_of=[group])
    same(rows(answer), oracle.split(frame, ["geo.country"]))


def _records(caller: Caller, frame: pd.DataFrame) -> None:
    """Records are of these rows alone, whatever is asked for, and so is a file of them."""
    everywhere = [[{"name": "domain", "value": ["x"], "match": match} for match in ("equals", "not equals")]]
    week = (LAST - dt.timedelta(days=30), LAST - dt.timedelta(days=24))
    frame = frame[frame.index.isin(oracle.between(*week).index)]
    days = {"start_date": str(week[0]), "end_date": str(week[1])}
    asked = {"columns": ["geo.country"], "any_of": everywhere, **days}
    answer = success(caller.post("records", **asked))
    assert answer["records_found"] == len(frame)
    assert {row[0] for row in answer["rows"]} <= {*frame["geo.country"].fillna("")}
    file = read(caller.post("records", **asked, export_format="csv"), "csv")
    assert file.column("Country") == [row[0] for row in answer["rows"]]


def _values(caller: Caller, frame: pd.DataFrame) -> None:
    """As pickers look for values: by a part of them."""
    part = {
        "name": "domain",
        "value": ["e"],
        "match": "contains",
        "case_insensitive": 1,
        "search_mappings": 1,
    }
    answer = caller.audience(split_by=["domain"], filters=[part], include_mappings=1, limit=3)
    names = {name for texts in oracle.values(visible((part,), frame), "domain") for name in texts}
    assert answer["total"]["records_found"] == len(names)
    assert {row["name"][0] for row in answer["rows"]} <= names


def _numbers_of_records(caller: Caller, frame: pd.DataFrame) -> None:
    precision = caller.audience(precision=1, audience_rows_limit=10_000)["precision"]
    assert (precision["records_read"], precision["records_in_range"]) == (len(frame), len(frame))


def _file(caller: Caller, frame: pd.DataFrame) -> None:
    """Its total with data_filters is counted anew, of the records in its rows."""
    large = {"name": "imps", "match": ">", "value": 100}
    fields = {"split_by": ["segments"], "data_fields": ["imps", "records"], "data_filters": [large]}
    file = read(caller.export(**fields, include_total=1, export_format="tsv2"), "tsv2")
    groups = {
        key: sums for key, sums in oracle.split(frame, ["segments"]).items() if (sums["imps"] or 0) > 100
    }
    is_inside = oracle.values(frame, "segments").map(lambda texts: any((text,) in groups for text in texts))
    inside = frame[is_inside.astype(bool)]
    *body, total = file.lines
    assert {row[0]: float(row[1] or 0) for row in body} == {
        key[0]: sums["imps"] for key, sums in groups.items()
    }
    assert [float(cell or 0) for cell in total[1:]] == [inside["imps"].sum(), len(inside)]


def _days(caller: Caller, frame: pd.DataFrame) -> None:
    info, days = caller.info(), sorted(oracle.local(frame, ZONE).dt.date)
    ends = (str(days[0]), str(days[-1])) if days else (None, None)
    assert (info["first_date"], info["last_date"]) == ends


ASKED: dict[str, Callable[[Caller, pd.DataFrame], None]] = {
    "totals": _totals,
    "split": _split,
    "by hour": _by_hour,
    "by day in another zone": _by_day_elsewhere,
    "with filters of its own": _with_own_filter,
    "with filters joined by OR": _with_a_group,
    "records": _records,
    "values": _values,
    "numbers of records": _numbers_of_records,
    "file": _file,
    "first and last date": _days,
}


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """The rows that pass each limit."""
    return {name: visible(limit) for name, limit in LIMITS.items()}


@pytest.mark.parametrize("question", ASKED)
def test_rows_outside_do_not_exist(
    limited: Limited,
    hourly: Caller,
    frames: dict[str, pd.DataFrame],
    question: str,
    subtests: pytest.Subtests,
) -> None:
    """A limited person's answer is that of plain pandas on the rows that pass, and so is everybody's of all.

    Who sees all rows asks first and last, so that an answer that is kept for one would be seen by another.
    """
    callers = {name: limited(limit) for name, limit in LIMITS.items()}
    for name in ("all", *LIMITS, "all again"):
        with subtests.test(limit=name):
            ASKED[question](callers.get(name, hourly), frames.get(name, ROWS))


def test_the_table_has_every_kind_of_limit() -> None:
    """Every limit but one leaves some rows, and none leaves all."""
    sizes = {name: len(visible(limit)) for name, limit in LIMITS.items()}
    assert [name for name, size in sizes.items() if size == 0] == ["no row"]
    assert max(sizes.values()) < len(ROWS)


def test_info_says_which_rows(limited: Limited, hourly: Caller) -> None:
    """info lists the filters in `restrictions`; for somebody who sees every row there is no such field."""
    limit = LIMITS["several"]
    restrictions = limited(limit).info()["restrictions"]
    assert [Filter.model_validate(filter_) for filter_ in restrictions] == [
        *map(Filter.model_validate, limit)
    ]
    assert "restrictions" not in hourly.info()
    assert "restrictions" in hourly.info()["extensions"]


def test_a_token_has_at_most_what_its_owner_has(limited: Limited) -> None:
    """A token's own filters hold beside those of its owner; neither alone decides."""
    owner, own = LIMITS["negative"], LIMITS["segmented"]
    answer = limited(owner, own).audience(split_by=["geo.country"])
    same(rows(answer), oracle.split(visible((*owner, *own)), ["geo.country"]))
    same(rows(limited(EVERYTHING, own).audience(split_by=["domain"])), oracle.split(visible(own), ["domain"]))


def test_an_owners_new_limit_holds_for_their_tokens(
    limited: Limited, installation: connect.Installation
) -> None:
    """A token issued before is limited by what its owner may see now; answers kept before are not given."""
    caller = limited(({"name": "site_id", "value": ["1", "2"], "match": "equals"},))
    name = installation.access.caller(caller.token, "reporting").person.username
    before = rows(caller.audience(split_by=["site_id"]))
    assert {key[0] for key in before} == {"1", "2"}
    narrower = Filter(name="site_id", value=("2",), match="equals")
    installation.access.change(name, "a test", grants=[Grant(PROJECT, "hourly", (narrower,))])
    assert {key[0] for key in rows(caller.audience(split_by=["site_id"]))} == {"2"}
    installation.access.change(name, "a test", grants=[Grant(PROJECT)])
    assert {key[0] for key in rows(caller.audience(split_by=["site_id"]))} == {"", "1", "2", "10", "-3"}


@pytest.mark.parametrize("name", ["gone", "granularity_day", "imps"])
@pytest.mark.parametrize("verb", ["info", "audience", "export"])
def test_a_filter_on_a_field_that_is_gone_closes_the_grant(limited: Limited, name: str, verb: str) -> None:
    """Where the slicer has no such key field of its rows, every question is refused, with a sentence."""
    caller = limited(({"name": name, "value": ["x"], "match": "not equals"},))
    reason = caller.reason(verb, "access_error")
    assert f"by a filter on {name}" in reason
    assert "administrator" in reason


def test_a_slicer_of_days(limited: Limited, daily: Caller) -> None:
    """A slicer that knows days only has first and last date, dates and figures of the rows that pass."""
    everything = daily.audience(split_by=["granularity_day"], start_date="2000-01-01")
    field = daily.info()["key_fields"][0]["name"]
    by_value = daily.audience(split_by=[field, "granularity_day"], start_date="2000-01-01")
    value = by_value["rows"][0]["name"][0]
    expected = {key[1]: sums for key, sums in rows(by_value).items() if key[0] == value}
    caller = limited(({"name": field, "value": [value], "match": "equals"},), slicer="daily")
    answer = caller.audience(split_by=["granularity_day"], start_date="2000-01-01")
    imps_by_day = {key[0]: sums["imps"] for key, sums in rows(answer).items()}
    assert imps_by_day == {day: sums["imps"] for day, sums in expected.items()}
    assert answer["total"]["dates"] == sorted(expected)
    info = caller.info()
    assert (info["first_date"], info["last_date"]) == (min(expected), max(expected))
    assert len(everything["rows"]) >= len(expected)


@pytest.mark.sampling
def test_a_limited_question_is_never_sampled(limited: Limited, many: Caller) -> None:
    """A sample is drawn from all rows and would tell of them: who sees some rows gets exact figures."""
    frame = many_frame()
    site = str(frame["site"].mode()[0])
    fields: Mapping[str, Any] = {
        "start_date": "2026-03-01", "end_date": "2026-03-31", "audience_rows_limit": 10_000, "precision": 1,
    }  # fmt: skip
    assert "confidence_range" in many.audience(split_by=["rare"], **fields)["total"]
    caller = limited(({"name": "site", "value": [site], "match": "equals"},), slicer="many")
    answer = caller.audience(**fields)
    mine = frame[frame["site"] == site]
    assert "confidence_range" not in answer["total"]
    assert figures(answer["total"])["imps"] == pytest.approx(mine["imps"].sum())
    assert "exact_milliseconds" not in answer["precision"]
    assert answer["precision"]["records_in_range"] == len(mine)


def test_answers_for_equal_limits_are_shared(limited: Limited, installation: connect.Installation) -> None:
    """Two people who may see the same rows share an answer; a third, with other rows, has none of it."""
    misses = installation.reporting.answers.misses
    question = {"split_by": ["domain", "segments"], "limit": 10_000 + misses}
    first, second = LIMITS["values"], LIMITS["segmented"]
    first_answer, other = limited(first).audience(**question), limited(second).audience(**question)
    assert installation.reporting.answers.misses == misses + 2
    again = limited(first).audience(**question)
    assert installation.reporting.answers.misses == misses + 2
    assert (again == first_answer, other == first_answer) == (True, False)
