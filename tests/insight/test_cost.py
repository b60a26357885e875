"""The cost of each target: the figures of a slicer of seven rows, worked out by hand in each test."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import clients
from inventory import ROWS, asked, embedded, known, slicer, table
from standin.app import served
from standin.state import TOKEN, State

from lib.deals.models import GeoTarget, ListTarget, SizeTarget, Targeting, ValueTarget
from lib.figures.numbers import Numbers
from lib.insight import cost
from lib.insight.cost import MOST, MOST_OF_A_SIDE, Trials
from lib.reporting.answers import Audience, Estimate, Total
from lib.reporting.models import AudienceQuery
from lib.reporting.query_batch import CONCURRENCY, QueryBatch
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.ui.deals.insight import targeting_figures
from lib.wire.errors import Abandoned, InternalError

US, DE = (GeoTarget(type="country", value=value) for value in ("US", "DE"))
NO_SAFARI = ValueTarget(value="Safari", is_excluded=True)
WIDE, BOX = SizeTarget(width=728, height=90), SizeTarget(width=300, height=250)
Costed = Callable[..., dict[str, tuple[str, float, float]]]


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path, monkeypatch: pytest.MonkeyPatch):
    """The clients: of a service of our own, and of one that knows the specification and nothing more."""
    if request.param == "embedded":
        yield embedded(own_home)
        return
    with served(State({("demo", "inventory"): known()})) as service:
        settings = Settings(
            home=own_home,
            demo=True,
            base_url=service.address,
            reporting_token=TOKEN,
            slicers="demo/inventory",
        )
        yield clients(settings)


def tried(
    of: Clients, targeting: Targeting, lists: dict[tuple[str, int], tuple[str, ...]] | None = None
) -> Trials:
    """What is asked about this targeting."""
    return cost.trials(targeting, slicer(of), lists or {}, "banner")


def costed(of: Clients, targeting: Targeting) -> dict[str, tuple[bool, float | None, float | None]]:
    """Of each element, in the order shown: whether it restricts, the change without it, and the percent."""
    questions = tried(of, targeting)
    filters = (questions.whole.filters, *(trial.filters for trial in questions.each))
    answers = [asked(of, element_query) for element_query in filters]
    element_costs = cost.costs(questions, answers, "bids")
    assert all(element_cost.change.is_exact and element_cost.share.is_exact for element_cost in element_costs)
    return {
        targeting_figures.name(element_cost.element, {}): (
            element_cost.restricts,
            element_cost.change.value,
            element_cost.share.value,
        )
        for element_cost in element_costs
    }


def test_places_and_an_exclusion(of: Clients) -> None:
    """US and DE without Safari are 50 + 10 + 20 + 4 = 84 bids: each element is held against them."""
    by_name = costed(of, Targeting(geo_targetings=(US, DE), browser_targetings=(NO_SAFARI,)))
    assert by_name == {
        "only US, DE": (True, 70, pytest.approx(100 * 70 / (84 + 70))),
        "not Safari": (True, 38, pytest.approx(100 * 38 / (84 + 38))),
        "US": (False, 60, pytest.approx(100 * 60 / 84)),
        "DE": (False, 24, pytest.approx(100 * 24 / 84)),
    }
    assert list(by_name) == ["only US, DE", "not Safari", "US", "DE"]


def test_a_record_of_several_values(of: Clients) -> None:
    """The record of both sizes stays with either: 300x250 alone brings 50 + 38 of 98, 728x90 none."""
    by_name = costed(of, Targeting(geo_targetings=(US,), size_targetings=(BOX, WIDE)))
    assert by_name == {
        "US": (True, 102, pytest.approx(51)),
        "only 300x250, 728x90": (True, 0, 0),
        "300x250": (False, 88, pytest.approx(100 * 88 / 98)),
        "728x90": (False, 0, 0),
    }


def test_a_targeting_that_selects_nothing(of: Clients) -> None:
    """Nothing is left without both sizes; without the exclusion of 300x250 the 162 that are not 728x90 would
    be."""
    nothing = tuple(size.model_copy(update={"is_excluded": True}) for size in (BOX, WIDE))
    assert costed(of, Targeting(size_targetings=nothing)) == {
        "not 300x250": (True, 50 + 38 + 4 + 70, 100),
        "not 728x90": (True, 20 + 8, 100),
    }


def test_nothing_with_it_and_nothing_without(of: Clients) -> None:
    """A zero on both sides has no percent: it is neither "no data" nor a cost."""
    no_opera = ValueTarget(value="Opera")
    targeting = Targeting(
        browser_targetings=(no_opera,), geo_targetings=(GeoTarget(type="country", value="XX"),)
    )
    by_name = costed(of, targeting)
    assert by_name == {"XX": (True, 0, None), "Opera": (True, 0, None)}


def test_days_without_data(of: Clients) -> None:
    """Before the first day there is no data, which is told from a filter that finds nothing."""
    assert not asked(of, (), start_date="2020-01-01", end_date="2020-01-31").has_data
    none = tried(of, Targeting(geo_targetings=(GeoTarget(type="country", value="XX"),))).whole.filters
    assert asked(of, none).has_data
    assert asked(of, none).total_of("bids").value == 0


def test_what_filters_cannot_say(own_home: Path) -> None:
    """A country or a region, a kind without key field, a list without entries: named, and not measured."""
    of = embedded(own_home)
    result = tried(
        of,
        Targeting(
            geo_targetings=(US, GeoTarget(type="region", value="Lyon")),
            device_targetings=(ValueTarget(value="tablet"),),
            domain_list_targetings=(ListTarget(id=9, name="Safe"),),
            browser_targetings=(NO_SAFARI,),
        ),
    )
    assert [targeting_figures.name(omission, {}) for omission in result.omissions] == [
        "US",
        "Lyon",
        "tablet",
        "Safe",
    ]
    assert [targeting_figures.name(element_cost.element, {}) for element_cost in result.each] == [
        "not Safari"
    ]
    assert len(result.whole.left_out) == 3


def test_questions_are_few(own_home: Path) -> None:
    """Of many values only all of them together are measured, and of many elements the first forty."""
    of = embedded(own_home)
    many = tuple(ValueTarget(value=f"browser {n}") for n in range(MOST_OF_A_SIDE + 1))
    assert len(tried(of, Targeting(browser_targetings=many)).each) == 1
    some = {
        "browser_targetings": tuple(
            ValueTarget(value=str(n), is_excluded=not_it) for not_it in (False, True) for n in range(8)
        ),
        "geo_targetings": tuple(
            GeoTarget(type=kind, value=str(n), is_excluded=not_it)
            for kind, not_it in (("country", False), ("country", True), ("region", True))
            for n in range(8)
        ),
    }
    result = tried(of, Targeting(**some))
    assert (len(result.each), len(result.rest)) == (MOST, 8 * 5 + 2 - MOST)


def test_a_sample_says_so(own_home: Path) -> None:
    """Of 40,000 records 10,000 are read: the true cost of "not Safari" lies within the range that is given.

    This is narrower than what the ranges of two questions would leave.
    """
    draw, size = np.random.default_rng(3), 40_000
    small = table()
    places = draw.integers(0, len(ROWS), size)
    rows = small.take(pa.array(places)).set_column(6, "bids", pa.array(draw.gamma(2, 20, size)))
    of = embedded(own_home, rows.cast(small.schema))
    questions = tried(of, Targeting(geo_targetings=(US, DE), browser_targetings=(NO_SAFARI,)))
    filters = (questions.whole.filters, *(trial.filters for trial in questions.each))
    answers = [asked(of, element_query, audience_rows_limit=10_000) for element_query in filters]
    by_name = {
        targeting_figures.name(element_cost.element, {}): element_cost
        for element_cost in cost.costs(questions, answers, "bids")
    }
    frame = rows.to_pandas()
    there = frame[frame["country"].isin(["US", "DE"])]
    lost = there[there["browser"] == "Safari"]["bids"].sum()
    change, share = by_name["not Safari"].change, by_name["not Safari"].share
    assert change.low < lost < change.high
    assert share.low < 100 * lost / there["bids"].sum() < share.high
    without = [condition for condition in questions.whole.filters if condition.name != "browser"]
    two = [
        asked(of, element_query, audience_rows_limit=10_000).total_of("bids")
        for element_query in (without, filters[0])
    ]
    assert change.high - change.low < sum(figure.high - figure.low for figure in two) / 1.5


@pytest.mark.parametrize(
    ("change", "share", "restricts", "words"),
    [
        (Estimate(4.1e6), Estimate(38.0), True, ("−38.0 %", "4.10M more")),
        (Estimate(1.2e6), Estimate(31.25), False, ("brings 31.3 %", "1.20M fewer")),
        (Estimate(0), Estimate(0), True, ("costs nothing", "the same")),
        (Estimate(0), Estimate(None), True, ("none either way", "the same")),
        (Estimate(None), Estimate(None), True, ("no data", "no data")),
        (
            Estimate(100, 90, 110),
            Estimate(50, 45, 55),
            True,
            ("−50.0 % (−45.0 % to −55.0 %)", "100 more (90 to 110)"),
        ),
        (
            Estimate(3, float("nan"), float("nan")),
            Estimate(5, float("nan"), float("nan")),
            True,
            ("−5.0 % (range unknown)", "3 more (range unknown)"),
        ),
    ],
)
def test_words(change: Estimate, share: Estimate, restricts: bool, words: tuple[str, str]) -> None:
    """What is shown: exact, estimated, unknown, none and zero are told apart."""
    element = next(cost.elements(Targeting(browser_targetings=(NO_SAFARI,))))
    target_cost = cost.TargetCost(element, restricts, change, share)
    assert (
        targeting_figures.share(target_cost, Numbers()),
        targeting_figures.without(target_cost, Numbers()),
    ) == words


def query(number: int) -> AudienceQuery:
    """One of several questions."""
    return AudienceQuery(
        project_name="p", slicer_name="s", start_date=LAST_DAY.isoformat(), end_date="today", offset=number
    )


def answer() -> Audience:
    """An answer with nothing in it."""
    return Audience(None, None, None, Total({}, 0))


def test_answers_come_in_the_order_of_the_questions() -> None:
    """Whichever comes first, and the same question is asked once."""
    asked_for: list[int] = []

    def ask(audience_query: AudienceQuery) -> Audience:
        asked_for.append(audience_query.offset)
        return Audience(None, None, None, Total({"n": audience_query.offset}, 0))

    query_batch = QueryBatch(ask, [query(n) for n in (5, 3, 5, 4)])
    assert [audience.total.values["n"] for audience in query_batch.answers()] == [5, 3, 5, 4]
    assert sorted(asked_for) == [3, 4, 5]
    assert query_batch.is_done
    assert query_batch.progress == (4, 4)


def test_questions_that_are_given_up() -> None:
    """A form that changes asks no more of what it asked before: what waits is never begun."""
    begun, go = threading.Semaphore(0), threading.Event()
    count: list[int] = []

    def ask(audience_query: AudienceQuery) -> Audience:
        count.append(audience_query.offset)
        begun.release()
        go.wait()
        raise Abandoned("The caller is gone")

    query_batch = QueryBatch(ask, [query(n) for n in range(20)])
    for _ in range(CONCURRENCY):
        begun.acquire()
    assert not query_batch.wait(0)
    query_batch.cancel()
    go.set()
    with pytest.raises(Abandoned):
        query_batch.answers()
    assert len(count) == CONCURRENCY


def test_a_failure_is_raised() -> None:
    """What one question fails with is raised, and no further one is begun for nothing."""

    def ask(audience_query: AudienceQuery) -> Audience:
        if audience_query.offset == 0:
            raise InternalError("broken")
        return answer()

    with pytest.raises(InternalError, match="broken"):
        QueryBatch(ask, [query(0), query(0)]).answers()
