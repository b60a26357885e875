"""Thirty questions whose answers DuckDB, or the database of deals, gives too: at most three calls each."""

import datetime as dt
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from numpy import isclose

from lib.agents.answers import MOST_CHARACTERS
from lib.agents.toolbox import Toolbox

LAST = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
C, D = "demo/curation", "demo/delivery"
SSP, ADVERTISER = "bid_context_wrapper.bid.ssp", "bid_context_wrapper.demand.advertiser_id"
MORNING = "Morning News Display"
Answers = list[dict[str, Any]]
Call = tuple[str, Any]
MOST_CALLS = 3


def days(first: int, last: int = 0) -> str:
    """The days so many before the last complete one, as a condition."""
    ends = [(LAST - dt.timedelta(days=number)).isoformat() for number in (first, last)]
    return f"time::date between date '{ends[0]}' and date '{ends[1]}'"


def ask(slicer: str = C, **parts: Any) -> Call:
    """A call of the verb `ask`."""
    return "ask", {"slicer": slicer, **parts}


def one_of(field: str, *values: str, match: str = "equals") -> list[dict[str, Any]]:
    """The argument `filters` with one filter."""
    return [{"field": field, "values": [*values], "match": match}]


def total(field: str) -> Callable[[Answers], Any]:
    """Reads a total of the last answer."""
    return lambda answers: answers[-1]["totals"][field]["value"]


def first(*fields: str) -> Callable[[Answers], Any]:
    """Reads fields of the first row."""
    return lambda answers: [answers[-1]["rows"][0][field] for field in fields]


def column(*fields: str) -> Callable[[Answers], Any]:
    """Reads fields of all rows."""
    return lambda answers: [tuple(row[field] for field in fields) for row in answers[-1]["rows"]]


@dataclass(frozen=True)
class Question:
    """A question: the calls that answer it, what is read of them, and the SQL that answers it too.

    The arguments of a call may be made of the answers before it. `deals` says that the SQL is for the
    database of deals.
    """

    words: str
    calls: tuple[Call, ...]
    read: Callable[[Answers], Any]
    sql: str
    deals: bool = False


WEEK, MONTH = days(6), days(29)
QUESTIONS = (
    Question("Impressions of the last week?", (ask(fields=["imps"]),), total("imps"),
             f"select sum(imps) from curation where {WEEK}"),
    Question("Their win CPM?", (ask(fields=["win_cpm"]),), total("win_cpm"),
             f"select 1000 * sum(spend) / sum(imps) from curation where {WEEK}"),
    Question("The three countries with most of them?",
             (ask(fields=["imps"], split=["country"], limit=3),), column("country", "imps"),
             f"select country, sum(imps) from curation where {WEEK} group by 1 order by 2 desc limit 3"),
    Question("How many in the United States?",
             (("find_values", {"slicer": C, "field": "country", "contains": "united states"}),
              ("ask", lambda answer: {"slicer": C, "fields": ["imps"],
                                     "filters": one_of("country", answer[0]["values"][0]["country"])})),
             total("imps"), f"select sum(imps) from curation where {WEEK} and country = 'US'"),
    Question("How many per day?", (ask(fields=["imps"], split=["granularity_day"]),),
             column("granularity_day", "imps"),
             f"select strftime(time, '%Y-%m-%d'), sum(imps) from curation where {WEEK} "
             "group by 1 order by 1"),
    Question("Which of the last thirty days had most bids?",
             (ask(fields=["bids"], split=["granularity_day"], start="-30d", order="-bids", limit=1),),
             first("granularity_day", "bids"),
             f"select strftime(time, '%Y-%m-%d'), sum(bids) from curation where {MONTH} "
             "group by 1 order by 2 desc limit 1"),
    Question("Spend of the last thirty days?", (ask(fields=["spend"], start="-30d"),), total("spend"),
             f"select sum(spend) from curation where {MONTH}"),
    Question("Bids of the week before the last one?", (ask(fields=["bids"], start="-14d", end="-8d"),),
             total("bids"), f"select sum(bids) from curation where {days(13, 7)}"),
    Question("The CTR on smartphones?",
             (ask(fields=["ctr"], filters=one_of("device_type", "smartphone")),), total("ctr"),
             f"select 100 * sum(clicks) / sum(imps) from curation where {WEEK} "
             "and device_type = 'smartphone'"),
    Question("The device with the lowest win rate, of those with a hundred bids?",
             (ask(fields=["win_rate"], split=["device_type"], order="win_rate", limit=1,
                  having=[{"field": "bids", "match": ">=", "value": 100}]),),
             first("device_type", "win_rate"),
             f"select device_type, 100 * sum(imps) / sum(bids) from curation where {WEEK} "
             "group by 1 having sum(bids) >= 100 order by 2 limit 1"),
    Question("Why are most bids lost?",
             (ask(fields=["lost_bids"], split=["lost_reason"], limit=1,
                  filters=one_of("lost_reason", "", match="not equals")),),
             first("lost_reason", "lost_bids"),
             f"select lost_reason, sum(lost_bids) from curation where {WEEK} and lost_reason <> '' "
             "group by 1 order by 2 desc limit 1"),
    Question("How many sites had records?",
             (ask(fields=["imps"], split=["site_domain"], limit=1,
                  filters=one_of("site_domain", "", match="not equals")),),
             lambda answers: answers[-1]["count"],
             f"select count(distinct site_domain) from curation where {WEEK} and site_domain <> ''"),
    Question("The site that cost most?",
             (ask(fields=["spend"], split=["site_domain"], limit=1,
                  filters=one_of("site_domain", "", match="not equals")),), first("site_domain", "spend"),
             f"select site_domain, sum(spend) from curation where {WEEK} and site_domain <> '' "
             "group by 1 order by 2 desc limit 1"),
    Question("Impressions outside of the United States?",
             (ask(fields=["imps"], filters=one_of("country", "US", match="not equals")),), total("imps"),
             f"select sum(imps) from curation where {WEEK} and country is distinct from 'US'"),
    Question("Impressions outside of the United States or on smartphones?",
             (ask(fields=["imps"], any_of=[[*one_of("country", "US", match="not equals"),
                                            *one_of("device_type", "smartphone")]]),), total("imps"),
             f"select sum(imps) from curation where {WEEK} and (country is distinct from 'US' "
             "or device_type = 'smartphone')"),
    Question("Impressions in browsers that begin with S?",
             (ask(fields=["imps"], filters=one_of("browser", "S", match="begins with")),), total("imps"),
             f"select sum(imps) from curation where {WEEK} and starts_with(browser, 'S')"),
    Question("Bids for the package Morning News Display?",
             (("find_deals", {"kind": "packages", "search": MORNING}),
              ("ask", lambda answer: {"slicer": C, "fields": ["bids"], "filters": one_of(
                  "supply_package", str(answer[0]["rows"][0]["id"]))})),
             total("bids"), f"select sum(bids) from curation where {WEEK} and supply_package = '1'"),
    Question("What did that package deliver in thirty days?",
             (("past_delivery", {"packages": [1], "start": "-30d"}),), first("bid_requests", "bids", "imps"),
             "select sum(bid_requests), sum(bids), sum(imps) from curation "
             f"where {MONTH} and supply_package = '1'"),
    Question("Its deals by spend?",
             (ask(fields=["spend"], split=["deal"], filters=one_of("supply_package", "1")),),
             column("deal", "spend"),
             f"select deal, sum(spend) from curation where {WEEK} and supply_package = '1' "
             "group by 1 order by 2 desc"),
    Question("Impressions of deal 25, day by day?", (("past_delivery", {"deals": [25], "by_day": True}),),
             column("granularity_day", "imps"),
             f"select strftime(time, '%Y-%m-%d'), sum(imps) from curation where {WEEK} and deal = '25' "
             "group by 1 order by 1"),
    Question("Unique users of the week?", (ask(fields=["unique_users"]),), total("unique_users"),
             f"select count(distinct nullif(users, '')) from curation where {WEEK}"),
    Question("How did impressions change against the week before?",
             (("what_moved", {"slicer": C, "field": "imps"}),),
             lambda answers: [answers[0][name] for name in ("change",)]
             + [answers[0][name]["value"] for name in ("before", "now")],
             f"select sum(imps) filter ({WEEK}) - sum(imps) filter ({days(13, 7)}), "
             f"sum(imps) filter ({days(13, 7)}), sum(imps) filter ({WEEK}) from curation"),
    Question("Which field has the cost, and how much was it?",
             (("describe_slicer", {"slicer": D, "search": "cost"}),
              ("ask", lambda answer: {"slicer": D, "fields": [answer[0]["fields"][0]["data"]]})),
             lambda answers: next(iter(answers[-1]["totals"].values()))["value"],
             f'select sum("payout.adv_payout") from delivery where {WEEK}'),
    Question("The advertiser with most impressions?",
             (ask(D, fields=["imps"], split=[ADVERTISER], limit=1),), first(ADVERTISER, "imps"),
             f'select "{ADVERTISER}", sum(imps) from delivery where {WEEK} '
             "group by 1 order by 2 desc limit 1"),
    Question("The eCPM of each exchange with a hundred impressions?",
             (ask(D, fields=["ecpm"], split=[SSP],
                  having=[{"field": "imps", "match": ">=", "value": 100}]),),
             column(SSP, "ecpm"),
             f'select "{SSP}", 1000 * sum("payout.adv_payout") / sum(imps) from delivery where {WEEK} '
             "group by 1 having sum(imps) >= 100 order by 2 desc"),
    Question("Bids of records in the category IAB6?",
             (ask(fields=["bids"], filters=one_of("content_categories", "IAB6")),), total("bids"),
             f"select sum(bids) from curation where {WEEK} and list_contains(content_categories, 'IAB6')"),
    Question("Since when are there data?", (("list_slicers", {}),),
             lambda answers: [slicer["days"][0] for slicer in answers[0]["slicers"] if slicer["slicer"] == C],
             "select strftime(min(time), '%Y-%m-%d') from curation"),
    Question("How many packages are there?", (("find_deals", {"kind": "packages", "limit": 1}),),
             lambda answers: answers[0]["count"], "select count(*) from supply_packages", deals=True),
    Question("What does the deal of Harlequin Direct in Morning News Display cost?",
             (("find_deals", {"search": f"{MORNING} - Harlequin"}),), first("price"),
             f"select price / 1000000.0 from demand_deals where name like '{MORNING} - Harlequin%'",
             deals=True),
    Question("Which deals has the seat of Bluebird & Partners?",
             (("find_deals", {"search": "Bluebird", "limit": 1}),
              ("find_deals", lambda answer: {"seat": answer[0]["rows"][0]["seat"]["id"], "limit": 100})),
             lambda answers: [(row["id"],) for row in sorted(answers[1]["rows"], key=lambda row: row["id"])],
             "select d.id from demand_deals d join seats s on s.id = d.seat_id "
             "where s.name like 'Bluebird%' order by 1", deals=True),
    Question("How many deals does the package Football Weekend have?",
             (("find_deals", {"kind": "packages", "search": "Football Weekend"}),), first("deals"),
             "select count(*) from supply_package_deals l join supply_packages p on p.id = supply_package_id "
             "where p.name = 'Football Weekend'", deals=True),
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.words)
def test_answers_are_those_of_another_database(
    question: Question, toolbox: Toolbox, sql: Callable[[str], list[tuple[Any, ...]]], demo_home: Path
) -> None:
    """The answer to a question, in at most three calls, is what SQL over the same rows returns."""
    assert len(question.calls) <= MOST_CALLS
    answers: Answers = []
    for verb, arguments in question.calls:
        outcome = toolbox.call(verb, arguments(answers) if callable(arguments) else arguments)
        assert not outcome.is_error, outcome.text
        assert len(outcome.text) <= MOST_CHARACTERS
        answers.append(json.loads(outcome.text))
    if question.deals:
        with sqlite3.connect(f"file:{demo_home / 'tranche.db'}?mode=ro", uri=True) as database:
            expected = database.execute(question.sql).fetchall()
    else:
        expected = sql(question.sql)
    assert expected
    assert_same(flat(question.read(answers)), flat(expected))


def test_there_are_thirty_questions() -> None:
    """The set has thirty questions or more, and asks each of them once."""
    assert len({question.words for question in QUESTIONS}) == len(QUESTIONS) >= 30


def flat(value: Any) -> list[Any]:
    """All values within lists and tuples, numbers as floats, nothing as an empty text."""
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in flat(part)]
    return ["" if value is None else value]


def assert_same(actual: list[Any], expected: list[Any]) -> None:
    """Texts are equal; numbers are in the six digits that answers have."""
    assert len(actual) == len(expected), (actual, expected)
    for ours, other in zip(actual, expected, strict=True):
        if isinstance(other, str):
            assert str(ours) == other
        else:
            assert isclose(float(ours), float(other), rtol=1e-5), (actual, expected)
