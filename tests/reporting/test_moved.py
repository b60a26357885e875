"""What moved: against DuckDB on the same rows, with a planted fall, and over a plain service."""

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import httpx
import numpy as np
import pyarrow as pa
import pytest
from conftest import LAST_DAY, PEOPLE
from peopled import people_in
from standin.app import Standin

from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.moved import explain, movers
from lib.reporting.moved import sides as sides_of
from lib.reporting.moved.explain import Moved
from lib.reporting.moved.quantity import Pair, difference, quantity
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.models import Slicer
from lib.slicers.warehouse import Warehouse
from lib.wire.filters import Filter
from lib.wire.transport import InProcess

DAYS, FALLEN = 42, "p3"
WEEK = dt.timedelta(days=7)
LAST = dt.date(2026, 3, 1)
NOW = (LAST - dt.timedelta(days=6), LAST)
BEFORE = (NOW[0] - WEEK, NOW[1] - WEEK)
QUIET = ((BEFORE[0] - WEEK, BEFORE[1] - WEEK), BEFORE)
PLANTED = Definition(
    time=TimeColumn(column="time", granularity="day"),
    key_fields=(
        KeyFieldDefinition(name="publisher"),
        KeyFieldDefinition(name="site"),
        KeyFieldDefinition(name="country"),
        KeyFieldDefinition(name="tags", segmented="|"),
    ),
    data_fields=(
        DataFieldDefinition(name="imps"),
        DataFieldDefinition(name="bids"),
        DataFieldDefinition(name="win_rate", formula="100 * imps / bids"),
        DataFieldDefinition(name="odd", formula="imps / bids + 1 / imps"),
    ),
)
Explain = Callable[..., Moved]


def planted_rows() -> pa.Table:
    """Six weeks in which nothing happens but that publisher p3 wins a fifth as much in the last one."""
    draw = np.random.default_rng(3)
    rows = []
    for day, publisher, site, country in itertools.product(
        range(DAYS), range(6), range(3), ("AT", "BE", "CH")
    ):
        at = LAST - dt.timedelta(days=DAYS - 1 - day)
        bids = draw.poisson(400 * (1 + publisher) / (1 + site))
        is_fallen = f"p{publisher}" == FALLEN and at >= NOW[0]
        imps = draw.binomial(bids, 0.06 if is_fallen else 0.3)
        tags = [tag for tag in ("news", "sport", "law") if draw.random() < 0.5]
        noon = dt.datetime.combine(at, dt.time(), dt.UTC)
        rows.append(
            {"time": noon, "publisher": f"p{publisher}", "site": f"p{publisher}s{site}", "country": country}
            | {"tags": tags, "imps": float(imps), "bids": float(bids)}
        )
    return pa.Table.from_pylist(rows, schema=PLANTED.schema())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reporting]:
    """A client of a service with those rows."""
    home = tmp_path_factory.mktemp("planted")
    people = people_in(home)
    people.add(PEOPLE[2], "a password")
    with Warehouse(home / "warehouse").writer("p", "planted", PLANTED, {}) as writer:
        writer.write(planted_rows())
        writer.commit("made for the tests", "planted")
    installation = connect.installation(Settings(home=home, throttle_questions=10**6))
    service = installation.settings.reporting_service
    token = installation.access.issue("admin", service, "test", dt.timedelta(hours=1))
    with httpx.Client(transport=InProcess(installation.api), base_url="http://here", timeout=60) as http:
        yield Reporting(http, token)


@pytest.fixture(scope="module")
def slicer(client: Reporting) -> Slicer:
    """The slicer of those rows."""
    return client.info(InfoQuery(project_name="p", slicer_name="planted"))


@pytest.fixture(scope="module")
def explained(client: Reporting, slicer: Slicer) -> Explain:
    """What moved a data field of those rows."""

    def explained(
        name: str, days: tuple = (BEFORE, NOW), filters: tuple = (), names: Sequence[str] | None = None
    ) -> Moved:
        query = AudienceQuery(
            project_name="p", slicer_name="planted", start_date="2026-01-01", end_date="2026-01-01",
            filters=filters,
        )  # fmt: skip
        ask = asking(client, slicer)
        fields = names or [field.name for field in slicer.key_fields]
        return explain.explain(ask, query, slicer, slicer.data_field(name), days, fields)

    return explained


def asking(client: Reporting, slicer: Slicer) -> Callable[[Sequence[AudienceQuery]], list[Audience]]:
    """Answers one after the other."""
    return lambda queries: [client.audience(query, slicer) for query in queries]


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    """The same rows in a database that is not ours."""
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        database.register("given", planted_rows())
        database.execute("create table rows as select *, time::date as day from given")
        yield database


def sides(duck: duckdb.DuckDBPyConnection, key: str, days: tuple = (BEFORE, NOW)) -> dict[str, np.ndarray]:
    """Per value imps and bids before, imps and bids now."""
    query = f"""select {key},
        sum(imps) filter (day between $1 and $2), sum(bids) filter (day between $1 and $2),
        sum(imps) filter (day between $3 and $4), sum(bids) filter (day between $3 and $4)
        from rows group by 1"""
    rows = duck.execute(query, [day for period in days for day in period]).fetchall()
    return {value: np.array(sums, dtype=float) for value, *sums in rows}


def test_a_fall_is_explained_by_who_fell(explained: Explain, duck: duckdb.DuckDBPyConnection) -> None:
    """The publisher that fell comes first and alone; it contributes its own difference, as DuckDB has it."""
    explanation = explained("imps")
    first = explanation.moves[0]
    assert [first.name, *(mover.code for mover in first.movers)] == ["publisher", FALLEN]
    imps, _, now, _ = sides(duck, "publisher")[FALLEN]
    assert (first.movers[0].before, first.movers[0].now) == (imps, now)
    assert first.movers[0].contribution == now - imps
    assert first.explanation.power >= movers.ENOUGH
    every = np.array(list(sides(duck, "publisher").values())).sum(axis=0)
    assert (explanation.before, explanation.now) == (every[0], every[2])


def test_a_ratio_is_divided_as_duckdb_has_it(explained: Explain, duck: duckdb.DuckDBPyConnection) -> None:
    """Mix and rate of the movers are those of SQL's sums, and with the others' the whole difference."""
    explanation = explained("win_rate", names=("site",))
    by_value = sides(duck, "site")
    y0, x0, y1, x1 = np.array(list(by_value.values())).T
    before, now = y0.sum() / x0.sum(), y1.sum() / x1.sum()
    s0, s1, r0, r1 = x0 / x0.sum(), x1 / x1.sum(), y0 / x0, y1 / x1
    rate = dict(zip(by_value, 100 * (s0 + s1) / 2 * (r1 - r0), strict=True))
    mix = dict(zip(by_value, 100 * (s1 - s0) * ((r0 + r1) / 2 - (before + now) / 2), strict=True))
    shown = explanation.moves[0].movers
    assert {mover.code[:2] for mover in shown} == {FALLEN}
    assert [mover.rate for mover in shown] == pytest.approx([rate[mover.code] for mover in shown])
    assert [mover.mix for mover in shown] == pytest.approx([mix[mover.code] for mover in shown])
    assert sum(rate.values()) + sum(mix.values()) == pytest.approx(explanation.difference)


def left_out(duck: duckdb.DuckDBPyConnection, kept: str, value: str) -> list[tuple[float, float]]:
    """Imps and bids of both periods without the records that have the value."""
    query = f"select sum(imps), sum(bids) from rows where {kept} and day between $2 and $3"
    return [duck.execute(query, [value, *period]).fetchone() for period in (BEFORE, NOW)]


def test_other_formulas_by_leaving_values_out(explained: Explain, duck: duckdb.DuckDBPyConnection) -> None:
    """A value contributes the difference less what it would be without the value's records, as SQL has it."""
    explanation = explained("odd", names=("country", "publisher"))
    mover = explanation.moves[0].movers[0]
    before, now = (imps / bids + 1 / imps for imps, bids in left_out(duck, "publisher != $1", mover.code))
    assert mover.code == FALLEN
    assert mover.contribution == pytest.approx(explanation.difference - (now - before))


def test_ratios_of_overlapping_fields(
    client: Reporting, slicer: Slicer, duck: duckdb.DuckDBPyConnection
) -> None:
    """On a segmented key field a ratio's values contribute by leaving them out."""
    query = AudienceQuery(
        project_name="p", slicer_name="planted", start_date="2026-01-01", end_date="2026-01-01"
    )
    of = quantity(slicer.data_field("win_rate"), slicer, {"imps", "bids"})
    about, ask = sides_of.About(query, ("bids", "imps"), (BEFORE, NOW)), asking(client, slicer)
    totals = [sides_of.whole(answer, about) for answer in ask([about.query_of(days) for days in about.days])]
    candidate = movers.candidate(
        of, sides_of.ask_sides(ask, about, ["tags"])[0], Pair(*totals, *totals), True
    )
    for code, moved in zip(candidate.sides.codes, candidate.parts.whole, strict=True):
        kept = "not list_contains(tags, $1)" if code else "len(tags) > 0 and $1 = ''"
        before, now = (100 * imps / bids for imps, bids in left_out(duck, kept, code))
        assert moved == pytest.approx(difference(of, candidate.pair) - (now - before))


def test_overlapping_fields_come_last(explained: Explain) -> None:
    """A key field with several values per record is never ranked before others."""
    explanation = explained("win_rate")
    kinds = [moves.is_overlapping for moves in explanation.moves]
    assert kinds == sorted(kinds)
    overlapping = [mover for moves in explanation.moves if moves.is_overlapping for mover in moves.movers]
    assert all(mover.mix is None and mover.shares is None for mover in overlapping)


def test_nothing_stands_out_where_nothing_happened(explained: Explain) -> None:
    """Between two weeks of mere chance no value is a mover."""
    explanation = explained("imps", days=QUIET)
    assert explanation.weeks > 0
    assert explanation.moves == ()


def test_a_fall_of_everything(tmp_path: Path) -> None:
    """Where each value fell as much as the whole, all key fields are said to have fallen alike: no movers."""
    given = planted_rows().to_pandas()
    given["imps"] = given["bids"] * 0.3
    is_now = given["time"].dt.date >= NOW[0]
    given.loc[is_now, ["imps", "bids"]] *= 0.6
    people_in(tmp_path).add(PEOPLE[2], "a password")
    with Warehouse(tmp_path / "warehouse").writer("p", "planted", PLANTED, {}) as writer:
        writer.write(pa.Table.from_pandas(given, schema=PLANTED.schema(), preserve_index=False))
        writer.commit("made for the tests", "alike")
    reporting = connect.connect(PEOPLE[2], Settings(home=tmp_path)).reporting
    slicer = reporting.info(InfoQuery(project_name="p", slicer_name="planted"))
    query = AudienceQuery(project_name="p", slicer_name="planted", start_date="today", end_date="today")
    names = [field.name for field in slicer.key_fields]
    ask, field = asking(reporting, slicer), slicer.data_field("imps")
    explanation = explain.explain(ask, query, slicer, field, (BEFORE, NOW), names)
    assert explanation.moves == ()
    assert {"publisher", "country"} <= {moves.name for moves in explanation.alike}
    for moves in explanation.alike:
        sums = given.explode(moves.name).assign(**{moves.name: lambda f, n=moves.name: f[n].fillna("")})
        sums["period"] = np.select(
            [is_now[sums.index], sums["time"].dt.date >= BEFORE[0]], ["now", "before"], ""
        )
        wide = sums.groupby([moves.name, "period"])["imps"].sum().unstack()
        changes = (wide["now"] / wide["before"] - 1)[wide["before"] >= 0.06 * wide["before"].sum()]
        assert moves.alike is not None
        assert moves.alike[0] - 1e-9 <= changes.min() <= changes.max() <= moves.alike[1] + 1e-9
        assert changes.between(-0.5, -0.3).all()


def test_filters_hold(explained: Explain) -> None:
    """Without the publisher that fell nothing stands out."""
    without = Filter(name="publisher", value=(FALLEN,), match="not equals")
    assert explained("imps", filters=(without,)).moves == ()


def test_periods_of_different_length(explained: Explain, duck: duckdb.DuckDBPyConnection) -> None:
    """Against two weeks, a sum of before counts half."""
    twice = (BEFORE[0] - WEEK, BEFORE[1])
    explanation = explained("imps", days=(twice, NOW))
    every = np.array(list(sides(duck, "publisher", (twice, NOW)).values())).sum(axis=0)
    assert explanation.before == pytest.approx(every[0] / 2)
    assert explanation.moves[0].movers[0].code == FALLEN


def test_values_that_are_large_on_one_side_only(explained: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value among the largest before and not now is looked up: the answer is that of all values."""
    whole = explained("imps", names=("site",))
    monkeypatch.setattr("lib.reporting.moved.sides.TOP", 5)
    some = explained("imps", names=("site",))
    fallen = {mover.code: mover for mover in whole.moves[0].movers}
    assert some.moves[0].movers
    assert all(fallen[mover.code].contribution == mover.contribution for mover in some.moves[0].movers)


def test_over_a_service_without_extensions(standin: Standin, embedded: httpx.Client, token: Callable) -> None:
    """A service that knows the specification alone gives the same movers as our own on the same rows."""
    query = AudienceQuery(project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday")
    days = ((LAST_DAY - dt.timedelta(days=9), LAST_DAY - dt.timedelta(days=5)),
            (LAST_DAY - dt.timedelta(days=4), LAST_DAY))  # fmt: skip
    explanations = []
    with httpx.Client(base_url=standin.address, timeout=60) as http:
        for client in (Reporting(http, standin.state.token), Reporting(embedded, token("manager"))):
            slicer = client.info(InfoQuery(project_name="demo", slicer_name="delivery"))
            for name in ("imps", "ctr"):
                field = slicer.data_field(name)
                names = [known.name for known in slicer.key_fields]
                explanations.append(
                    explain.explain(asking(client, slicer), query, slicer, field, days, names)
                )
    for plain, own in zip(explanations[:2], explanations[2:], strict=True):
        assert (plain.before, plain.now) == pytest.approx((own.before, own.now))
        assert plain.value_count == own.value_count


def test_few_questions(client: Reporting, slicer: Slicer) -> None:
    """Four rounds of questions, two per key field and a few more."""
    rounds: list[int] = []

    def counting(queries: Sequence[AudienceQuery]) -> list[Audience]:
        rounds.append(len(queries))
        return [client.audience(query, slicer) for query in queries]

    names = ["publisher", "site", "country", "tags"]
    query = AudienceQuery(
        project_name="p", slicer_name="planted", start_date="2026-01-01", end_date="2026-01-01"
    )
    explain.explain(counting, query, slicer, slicer.data_field("imps"), (BEFORE, NOW), names)
    assert rounds == [3, 8, 0, 5]


def test_the_rows_are_made_as_said(tmp_path: Path) -> None:
    """The planted publisher wins a fifth as much in the last week."""
    frame = planted_rows().to_pandas()
    frame = frame[frame["publisher"] == FALLEN]
    late = frame["time"].dt.date >= NOW[0]
    rates = [frame[part]["imps"].sum() / frame[part]["bids"].sum() for part in (~late, late)]
    assert rates == pytest.approx([0.3, 0.06], rel=0.05)
