"""Decisions of ours: answers are kept for whoever may see the slicer, and too large questions are refused."""

import datetime as dt
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from serving import reporting_app

from conformance.conftest import Reach
from conformance.reporting import others
from conformance.reporting.caller import PERIOD, Caller, refused
from lib.engines import ResidentEngine
from lib.engines.sums import Engine, Question, Sums
from lib.people import Grant, Person
from lib.reporting.service import ReportingService
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline

pytestmark = pytest.mark.service
COUNTRY = {"name": "geo.country", "match": "equals", "value": ["DE", "FR"]}
DOMAIN = {"name": "domain", "match": "not equals", "value": ["x"]}
WIDE = {"start_date": "2026-01-01", "end_date": "2026-01-01", "split_by": ["left"]}


class Counting(Engine):
    """An engine that counts what it is asked."""

    def __init__(self) -> None:
        self.engine, self.asked = ResidentEngine(), 0

    def audience(self, stored: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """The engine's answer."""
        self.asked += 1
        return self.engine.audience(stored, question, deadline)


@pytest.fixture
def engine() -> Counting:
    """The engine under a service."""
    return Counting()


Ask = Callable[..., Caller]


@pytest.fixture
def ask(reach: Reach, house: Path, engine: Counting) -> Iterator[Ask]:
    """A client of a service over that engine, with these settings."""
    opened: list[httpx.Client] = []
    context = connect.installation(Settings(home=house))

    def asking(username: str = "ana", **told: int) -> Caller:
        token = context.access.issue(username, "reporting", "test", None)
        if not opened:
            service = ReportingService(
                context.warehouse, context.access, Settings(home=house, **told), engine
            )
            client = reach(reporting_app(service))
            opened.append(client.__enter__())
            closing.append(client)
        return Caller(opened[0], token, "hourly")

    closing: list = []
    yield asking
    for client in closing:
        client.__exit__(None, None, None)


def test_the_same_question(ask: Ask, engine: Counting) -> None:
    """A question that was answered is not computed again, however it is written."""
    ana = ask()
    first = ana.audience(split_by=["geo.country"], filters=[COUNTRY, DOMAIN])
    turned = COUNTRY | {"value": ["FR", "DE", "FR"], "case_insensitive": 0}
    again = ana.audience(split_by="geo.country", filters=[DOMAIN, turned], timezone=first_zone(ana))
    whole = ana.audience(split_by=["geo.country"], filters=[COUNTRY, DOMAIN], audience_rows_limit=20_000)
    assert (again, whole, engine.asked) == (first, first, 1)


def first_zone(caller: Caller) -> int:
    """The slicer's own zone."""
    return caller.info()["timezone"]


@pytest.mark.parametrize(
    "changed",
    [
        {"split_by": ["site_id"]},
        {"filters": [COUNTRY | {"case_insensitive": 1}]},
        {"filters": []},
        {"start_date": PERIOD["end_date"]},
        {"timezone": 5},
        {"limit": 1},
        {"order_by": [{"name": "geo.country", "direction": "asc"}]},
        {"include_mappings": 1},
        {"precision": 1},
    ],
)
def test_another_question(ask: Ask, engine: Counting, changed: dict[str, object]) -> None:
    """A question that differs in anything has an answer of its own."""
    ana = ask()
    ana.audience(split_by=["geo.country"], filters=[COUNTRY])
    ana.audience(**{"split_by": ["geo.country"], "filters": [COUNTRY]} | changed)
    assert engine.asked == 2


def test_others_share_it_if_they_may(ask: Ask, engine: Counting, house: Path) -> None:
    """Somebody else who may see the slicer has the kept answer; who may not has an access error."""
    people = connect.installation(Settings(home=house)).people
    for name, seen in (("kim", "hourly"), ("lee", "daily")):
        if people.get(name) is None:
            people.add(Person(name, name.title(), None, "viewer", (Grant("shop", seen),)), "a password")
    answer = ask().audience(split_by=["geo.country"])
    assert ask("kim").audience(split_by=["geo.country"]) == answer
    refused(ask("lee").post("audience", split_by=["geo.country"]), "access_error")
    assert engine.asked == 1


def test_an_import_is_seen_at_once(ask: Ask, house: Path) -> None:
    """After an import the next answer has its rows."""
    growing, dates = ask().about("growing"), {"start_date": "2026-01-01", "end_date": "2099-12-31"}
    before = growing.audience(**dates)["total"]
    assert growing.audience(**dates)["total"] == before
    day = dt.date.fromisoformat(growing.info()["last_date"]) + dt.timedelta(days=1)
    row = {"time": [dt.datetime.combine(day, dt.time(), dt.UTC)], "site": ["new"], "imps": [100.0]}
    with Warehouse(house / "warehouse").writer("shop", "growing", others.DAILY, mode="append") as writer:
        writer.write(pa.table(row, schema=others.DAILY.schema()))
        writer.commit("made by a test", str(day))
    assert growing.audience(**dates)["total"]["dates"] == [*before["dates"], str(day)]


def test_nothing_is_kept_where_the_setting_says_so(ask: Ask, engine: Counting) -> None:
    """With answers_megabytes of 0 every question is computed."""
    ana = ask(answers_megabytes=0)
    assert ana.audience() == ana.audience()
    assert engine.asked == 2


def test_a_question_that_needs_too_much_memory(ask: Ask) -> None:
    """It is refused with what it may need and what is allowed, before any of that is allocated."""
    ana = ask(question_megabytes=10).about("wide")
    ana.audience(**WIDE | {"split_by": []})
    tracemalloc.start()
    reason = ana.reason("audience", **WIDE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "MB of memory, more than the 10 MB allowed" in reason
    assert peak < 10_000_000
