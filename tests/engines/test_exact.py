"""Sums are those of Python's decimals, to the last digit, however the rows are asked for and kept."""

import datetime as dt
import json
import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from connected import CONNECTION, connected, publish
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from needs import draws

from lib.engines import ENGINES
from lib.engines.connected_slicers import ConnectedSlicers
from lib.engines.plain_pandas import PandasEngine
from lib.engines.resident import ResidentEngine
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.answers import Audience
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.digits import DIGITS
from lib.slicers.warehouse import Warehouse

FIRST = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
DEFINITION = Definition.model_validate(
    {
        "time": {"column": "hour", "granularity": "hour"},
        "key_fields": [{"name": "site"}, {"name": "kind"}],
        "data_fields": [
            {"name": "revenue"},
            {"name": "cost"},
            {"name": "fee"},
            {"name": "profit", "formula": "revenue - cost - fee"},
            {"name": "margin", "formula": "(revenue - cost) / revenue"},
        ],
    }
)
MONEY, FORMULAS = ("revenue", "cost", "fee"), ("profit", "margin")
Row = dict[str, Any]
Ask = Callable[..., Audience]
EXACT = Context(prec=400)


class House:
    """A service over one slicer, to which rows are brought."""

    def __init__(self, home: Path, engine: Any = None, url: str | None = None) -> None:
        settings = Settings(
            home=home, connections={CONNECTION: {"url": url}} if url else {}, throttle_questions=10**6
        )
        self.settings, self.access = settings, Access.of(settings)
        self.over = ConnectedSlicers(settings.connection_urls)
        self.access.people.add(Person("ada", "Ada", None, "admin"), "a password")
        self.warehouse, self.name = Warehouse(settings.warehouse, self.over.current), "s0"
        self.start(engine)

    def start(self, engine: Any) -> None:
        """A service as a process has it after its start."""
        self.service = ReportingService(self.warehouse, self.access, self.settings, engine, self.over)
        self.token = self.access.issue("ada", self.settings.reporting_service, "test", dt.timedelta(hours=1))

    def bring(self, rows: list[Row], mode: Any = "create") -> None:
        """One import of these rows; a new slicer for each that is created."""
        if mode == "create":
            self.name = f"s{int(self.name[1:]) + 1}"
        with self.warehouse.writer("p", self.name, DEFINITION, mode=mode) as writer:
            writer.write(table(rows))
            writer.commit("made by a test", mode)

    def connect(self, rows: list[Row], url: str, is_decimal: bool) -> None:
        """A new slicer over a table of these rows, with doubles or with decimals."""
        self.name = f"s{int(self.name[1:]) + 1}"
        stored = table(rows)
        for name in MONEY if is_decimal else ():
            cells = pa.array([Decimal(repr(row[name])) for row in rows], pa.decimal128(38, 9))
            stored = stored.set_column(stored.schema.get_field_index(name), name, cells)
        publish(stored, DEFINITION, url, f"{self.name}_{is_decimal}".lower())
        self.warehouse.connect("p", self.name, connected(DEFINITION, f"{self.name}_{is_decimal}".lower()))

    def ask(self, **fields: Any) -> Audience:
        """An answer about all days."""
        usual = {"token": self.token, "project_name": "p", "slicer_name": self.name}
        usual |= {"start_date": "2026-03-01", "end_date": "2026-03-31"}
        return self.service.audience(
            self.service.admit(json.dumps(usual | fields).encode()), self.service.deadline()
        )


def table(rows: list[Row]) -> pa.Table:
    """Rows as they are stored."""
    return pa.Table.from_pylist(rows, schema=DEFINITION.schema())


def decimal_sum(numbers: Iterable[float]) -> Decimal:
    """What was meant: the sum of the decimals that Python writes for these numbers."""
    with localcontext(EXACT):
        return sum(map(Decimal, map(repr, numbers)), Decimal(0))


def expected(rows: list[Row]) -> dict[str, float]:
    """All data fields over these rows, by decimals; a formula has 13 digits where it divides."""
    with localcontext(EXACT):
        sums = {name: decimal_sum(row[name] for row in rows) for name in MONEY}
        profit = sums["revenue"] - sums["cost"] - sums["fee"]
        margin = (sums["revenue"] - sums["cost"]) / sums["revenue"] if sums["revenue"] else None
    return {name: float(total) for name, total in sums.items()} | {
        "profit": float(profit),
        "margin": float("nan") if margin is None else float(f"{margin:.{DIGITS - 1}e}"),
    }


def same(actual: Any, rows: list[Row]) -> None:
    """Fail unless these are the figures of the rows, to the last digit."""
    right = expected(rows)
    for name in MONEY:
        assert actual[name] == right[name], (name, actual[name], right[name])
    largest = sum(abs(right[name]) for name in MONEY)
    unit = Decimal(10) ** ((math.floor(math.log10(largest)) if largest else 0) - 14)
    with localcontext(EXACT):
        is_kept = all(decimal_sum(row[name] for row in rows) % unit == 0 for name in MONEY)
    off = Decimal(0) if is_kept else 2 * unit  # what is subtracted keeps 15 digits of the larger
    assert abs(Decimal(actual["profit"]) - Decimal(right["profit"])) <= off
    margin = float("nan") if actual["margin"] is None else actual["margin"]
    apart = float(off) / abs(right["revenue"]) if right["revenue"] else 0.0
    assert np.isclose(margin, right["margin"], rtol=1.01e-12, atol=apart, equal_nan=True)


def check(ask: Ask, rows: list[Row]) -> None:
    """Ask for these rows by every way that gives the same figures in another order."""
    keeps_all = [{"name": "site", "match": "not equals", "value": ["nowhere"]}]
    all_days = sorted({str(row["time"].date()) for row in rows})
    keeps_days = [{"name": "granularity_day", "match": "equals", "value": all_days}]
    ways: list[tuple[tuple[str, ...], Any, Callable[[Row], tuple[str, ...]]]] = [
        ((), [], lambda row: ()),
        ((), keeps_all, lambda row: ()),
        (("site",), keeps_days, lambda row: (row["site"],)),
        (("granularity_day",), [], lambda row: (str(row["time"].date()),)),
        (("granularity_hour", "site"), [], lambda row: (f"{row['time']:%Y-%m-%d %H:00}", row["site"])),
    ]
    for split, filters, key in ways:
        answer = ask(split_by=split, filters=filters)
        same(answer.total.values, rows)
        by_group: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            by_group.setdefault(key(row), []).append(row)
        names = [*answer.names.itertuples(index=False, name=None)] if split else [()]
        assert sorted(names) == sorted(by_group)
        for place, name in enumerate(names):
            same(answer.values.iloc[place], by_group[name])


CENTS = st.integers(-(10**6), 10**6).map(lambda cents: cents / 100)
SMALL = st.integers(-(10**9), 10**9).map(lambda parts: parts / 10**9)
ODD = st.sampled_from([0.1, 0.2, -0.3, 0.3, -0.1, -0.2, 1e13, -1e13, 0.5, 1.0, 1e16, -1e16])
AMOUNTS = st.one_of(CENTS, SMALL, ODD)


@st.composite
def amounts(draw: st.DrawFn, kinds_of_money: Any = (CENTS, SMALL, ODD)) -> list[Row]:
    """Up to thirty rows of money of one kind per field: cents, billionths, or large and small numbers."""
    kinds = [draw(st.sampled_from(kinds_of_money)) for _ in MONEY]
    size = draw(st.integers(1, 30))
    return [
        {
            "time": FIRST + dt.timedelta(hours=draw(st.integers(0, 100))),
            "site": draw(st.sampled_from("abc")),
            "kind": draw(st.sampled_from("xy")),
            **{name: draw(kind) for name, kind in zip(MONEY, kinds, strict=True)},
        }
        for _ in range(size)
    ]


def row(
    hour: int, revenue: float, cost: float = 0.0, fee: float = 0.0, site: str = "a", kind: str = "x"
) -> Row:
    """A row."""
    return {"time": FIRST + dt.timedelta(hours=hour), "site": site, "kind": kind,
            "revenue": revenue, "cost": cost, "fee": fee}  # fmt: skip


@pytest.fixture(scope="module", params=ENGINES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> House:
    """A service of imported rows, once per engine."""
    return House(tmp_path_factory.mktemp("exact"), ENGINES[request.param](2))


UNHURRIED: dict[str, Any] = {
    "deadline": None,
    "phases": set(Phase) - {Phase.explain},
    "suppress_health_check": [HealthCheck.too_slow],
}


@settings(max_examples=draws(8), **UNHURRIED)
@given(rows=amounts())
def test_a_sum_is_that_of_decimals(house: House, rows: list[Row]) -> None:
    """In every split, with every filter that keeps all, over hours or records."""
    house.bring(rows)
    check(house.ask, rows)


@settings(max_examples=draws(4), **UNHURRIED)
@given(parts=st.lists(amounts((CENTS, SMALL)), min_size=2, max_size=3))
def test_appends_with_other_decimals_stay_exact(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[Row]]
) -> None:
    """Days that come later with more decimals, or with numbers that have none, change no earlier figure; nor
    does another process, or one with another number of threads."""
    house = House(tmp_path_factory.mktemp("appended"), ResidentEngine(1))
    rows: list[Row] = []
    for number, part in enumerate(parts):
        more = [row | {"time": row["time"] + dt.timedelta(days=7 * number)} for row in part]
        rows += more
        house.bring(more, "append" if number else "create")
        check(house.ask, rows)
    for engine in (ResidentEngine(3), PandasEngine()):
        house.start(engine)
        check(house.ask, rows)


@pytest.fixture
def refunds(house: House) -> House:
    """Refunds that cancel charges, in decimals and in thirds, and large amounts that cancel."""
    large = [1e16, 1.0, -1e16, 0.5]
    rows = [
        row(place, amount, cost)
        for place, (amount, cost) in enumerate([(0.1, 0.1), (0.2, 0.2), (-0.3, -0.4)])
    ]
    rows += [row(place, amount, site="b") for place, amount in enumerate(large)]
    rows += [row(place, 0.0, amount, site="c") for place, amount in enumerate([1 / 3, 1 / 3, -2 / 3])]
    rows += [row(place, *amounts, site="d") for place, amounts in enumerate([(0.3, 0.1, 0.2)])]
    house.bring(rows)
    return house


@pytest.mark.parametrize("split", [("site",), ("site", "kind"), ("site", "granularity_day")])
def test_what_cancels_is_nothing(refunds: House, split: tuple[str, ...]) -> None:
    """.1 + .2 - .3 is 0 and divides nothing; thirds that cancel are 0; 1e16 + 1 - 1e16 + .5 is 1.5;
    a profit of .3 - .1 - .2 is 0."""
    answer = refunds.ask(split_by=split, order_by=[{"name": "site", "direction": "asc"}])
    assert answer.values["revenue"].tolist() == [0.0, 1.5, 0.0, 0.3]
    assert answer.values["cost"].tolist() == [-0.1, 0.0, 0.0, 0.1]
    assert answer.values["profit"].tolist() == [0.1, 1.5, 0.0, 0.0]
    assert np.isnan(answer.values["margin"].iloc[[0, 2]]).all()


def test_a_tenth_two_hundred_thousand_times(house: House) -> None:
    """Every way to add up so many tenths gives 20,000."""
    house.bring(
        [row(place % 48, 0.1, site="ab"[place % 2], kind="xyz"[place % 3]) for place in range(200_000)]
    )
    keep = [{"name": "kind", "match": "not equals", "value": ["none"]}]
    for asked in (
        {},
        {"filters": keep},
        {"split_by": ["site"]},
        {"split_by": ["kind", "site", "granularity_hour"]},
    ):
        answer = house.ask(**asked)
        assert answer.total.values["revenue"] == 20_000.0
        if asked.get("split_by") == ["site"]:
            assert answer.values["revenue"].tolist() == [10_000.0, 10_000.0]


@pytest.fixture(
    scope="module",
    params=["duckdb", "postgresql", "clickhouse", pytest.param("spark", marks=pytest.mark.spark)],
)
def over(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[House, str]:
    """A service of connected tables, and where they are, once per database."""
    home = tmp_path_factory.mktemp("connected")
    fixtures = {"postgresql": "rows_database", "clickhouse": "clickhouse_database", "spark": "spark_folder"}
    named = fixtures.get(request.param)
    url = str(request.getfixturevalue(named)) if named else f"parquet://{home}"
    return House(home, url=url), url


@settings(max_examples=draws(4), **UNHURRIED)
@given(rows=amounts())
def test_decimals_of_a_database_stay_decimals(over: tuple[House, str], rows: list[Row]) -> None:
    """The sums of a column of decimals are theirs, however large."""
    house, url = over
    house.connect(rows, url, is_decimal=True)
    check(house.ask, rows)


@settings(max_examples=draws(4), **UNHURRIED)
@given(rows=amounts((CENTS, SMALL)))
def test_doubles_of_a_database_are_added_up_as_decimals(over: tuple[House, str], rows: list[Row]) -> None:
    """The sums of a column of doubles are those of the decimals that were meant, up to 13 digits."""
    house, url = over
    house.connect(rows, url, is_decimal=False)
    check(house.ask, rows)


def test_what_cancels_in_a_database_is_nothing(over: tuple[House, str]) -> None:
    """Cents of 100,000 refunds and charges, in any order, and thirds of them, leave nothing."""
    house, url = over
    draw = np.random.default_rng(51)
    charges = (draw.integers(1, 10**6, 5_000) / 100).tolist()
    rows = [
        row(place % 48, sign * amount, sign * amount / 3, site="ab"[place % 2])
        for sign in (1, -1)
        for place, amount in enumerate(charges)
    ]
    house.connect([*rows, row(0, 0.1), row(0, 0.2), row(0, -0.3)], url, is_decimal=False)
    for split in ((), ("site",), ("kind", "site")):
        answer = house.ask(split_by=split)
        assert not answer.values["revenue"].any()
        assert not answer.values["cost"].any()
        assert answer.total.values["margin"] is None
