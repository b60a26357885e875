"""Every verb over `/mcp`, for deals in every state and slicers of every kind: never an internal error."""

import datetime as dt
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import LAST_DAY
from connected import connected, publish
from mcp.client.client import Client
from serving import serving

from agents.conftest import over_http, within
from lib.agents.python_client import Desk
from lib.agents.route import AgentRoute
from lib.agents.toolbox import VERBS
from lib.deals import moments
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import DealsGrant, Grant
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
from lib.wire.apis import Compression
from lib.wire.errors import InternalError

SEAT, OTHER_SEAT = 1, 2
NOON = dt.datetime.combine(LAST_DAY, dt.time(12), dt.UTC)
KEYS = ("deal", "supply_package", "seat", "dsp", "country")
STEPS = ("bid_requests", "bids", "imps", "viewable_imps", "spend")
FUNNEL = [*({"name": name} for name in STEPS), {"name": "win_cpm", "formula": "1000 * spend / imps"}]
BY_HOUR = {"column": "time", "granularity": "hour"}
SLICERS: dict[str, dict[str, Any]] = {
    "funnel": {},
    "by day": {"time": BY_HOUR | {"granularity": "day"}},
    "behind UTC": {"timezone": -11},
    "only requests": {"data_fields": FUNNEL[:1]},
    "no step": {"data_fields": [{"name": "spend"}]},
    "a formula alone": {"data_fields": [{"name": "records", "aggregate": "count"},
                                        {"name": "win_cpm", "formula": "1000 * records"}]},
    "no data field": {"data_fields": []},
    "users alone": {"data_fields": [], "audience_sources": [{"name": "users", "column": "country"}]},
    "lists": {"key_fields": [{"name": name, "segmented": True} for name in KEYS]},
    "deals alone": {"key_fields": [{"name": "deal"}, {"name": "supply_package"}]},
    "no deals": {"key_fields": [{"name": "country"}]},
    "no key field": {"key_fields": []},
    "roles": {"key_fields": [{"name": name} for name in (*KEYS, "reason")],
              "roles": {"lost_reason": "reason"}},
}  # fmt: skip
"""Parts of definitions that differ from a funnel of deals by hour."""
ROWS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "no rows": lambda rows: rows.slice(0, 0),
    "one row": lambda rows: rows.slice(0, 1),
    "long ago": lambda rows: rows.slice(rows.num_rows - 40),
    "nothing but zeros": lambda rows: _with(rows, lambda value: 0.0),
    "no values": lambda rows: _with(rows, lambda value: None),
    "negative": lambda rows: _with(rows, lambda value: -value),
}
"""Rows of other funnels of deals, made from those of the first one."""
CONNECTED = ("connected", "its folder is gone", "its file is gone", "its file is damaged")
NAMES = (*SLICERS, *ROWS, *CONNECTED, "nothing of that name")
HIDDEN = ("of another seat", "deleted")
IDLE = {
    "pending": "Not started",
    "complete": "Ended",
    "paused": "Paused",
    "of a paused package": "Package paused",
}
STATES = ("active", "without packages", "free", *IDLE, *HIDDEN)
Call = tuple[str, dict[str, Any]]


def _with(rows: pa.Table, change: Callable[[float], float | None]) -> pa.Table:
    for name in STEPS:
        values = [change(value) for value in rows[name].to_pylist()]
        rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array(values, pa.float64()))
    return rows


def definition(**parts: Any) -> Definition:
    """A funnel of deals by hour, but for these parts."""
    usual = {"time": BY_HOUR, "key_fields": [{"name": name} for name in KEYS], "data_fields": FUNNEL}
    return Definition.model_validate(usual | parts)


def funnel() -> pa.Table:
    """Rows of sixty days, the newest first, of which the last have no impressions of every second deal."""
    rows = [
        {
            "time": NOON - dt.timedelta(days=day), "deal": str(deal), "supply_package": str(1 + deal % 5),
            "seat": str(1 + deal % 3), "dsp": "1", "country": "US", "reason": "floor",
            "bid_requests": 1_000.0 + day, "bids": 100.0 + deal, "viewable_imps": 5.0, "spend": 0.02,
            "imps": 0.0 if day < 5 and deal % 2 else 10.0,
        }
        for day in range(60)
        for deal in range(1, 40)
    ]  # fmt: skip
    every = definition(key_fields=[{"name": name} for name in (*KEYS, "reason")])
    return pa.Table.from_pylist(rows, schema=every.schema())


def store(warehouse: Warehouse, name: str, own: Definition, rows: pa.Table) -> None:
    """Put the rows into the slicer states/NAME."""
    columns = {field.name: rows[_source(own, field.name)] for field in own.schema()}
    table = pa.table({
        column: pa.array([[value] for value in values.to_pylist()], own.schema().field(column).type)
        if pa.types.is_list(own.schema().field(column).type) else values
        for column, values in columns.items()
    })  # fmt: skip
    with warehouse.writer("states", name, own, {}) as writer:
        writer.write(table.cast(own.schema()))
        writer.commit("made for the tests", name)


def _source(own: Definition, column: str) -> str:
    sources = {source.name: source.source for source in own.audience_sources}
    return sources.get(column, column)


@pytest.fixture(scope="module")
def settings(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The demo with slicers of every kind, in a data directory of its own."""
    home = tmp_path_factory.mktemp("states") / "home"
    shutil.copytree(demo_home, home)
    warehouse = Warehouse(home / "warehouse")
    rows = funnel()
    for name, parts in SLICERS.items():
        store(warehouse, name, definition(**parts), rows)
    for name, change in ROWS.items():
        store(warehouse, name, definition(), change(rows))
    connections = {}
    for number, name in enumerate(CONNECTED):
        folder = home / f"tables{number}"
        folder.mkdir()
        own = connected(definition(), "deals").model_dump(exclude_unset=True)
        own["source"]["connection"] = f"rows{number}"
        publish(rows.select(definition().schema().names), definition(), f"parquet://{folder}", "deals")
        connections[f"rows{number}"] = {"url": f"parquet://{folder}"}
        warehouse.connect("states", name, Definition.model_validate(own))
    return Settings(home=home, demo=True, throttle_agents=10_000, connections=connections)


@pytest.fixture(scope="module")
def deals(settings: Settings) -> dict[str, DemandDeal]:
    """A deal in each state, by the state's name."""
    api = Desk.local("admin", settings=settings).deals_api
    terms = {"demand_deals_options": [{"seat": {"id": seat}, "price": "1.50"} for seat in (SEAT, OTHER_SEAT)]}

    def create(name: str, start: int, end: int | None, is_active: bool = True) -> list[DemandDeal]:
        fields = {
            "name": name, "media_type": "banner", "is_active": is_active, "create_demand_deals": terms,
            "start_date": moments.write(NOON + dt.timedelta(days=start)),
        }  # fmt: skip
        fields |= {} if end is None else {"end_date": moments.write(NOON + dt.timedelta(days=end))}
        package = api.create(SupplyPackage, SupplyPackage.model_validate(fields))
        return [api.get(DemandDeal, reference.id or 0) for reference in package.demand_deals]

    paused, removed, free, unlinked = (
        create(name, -60, None)[0] for name in ("paused", "removed", "free", "unlinked")
    )
    active = create("active", -60, 60)
    by_state = {
        "active": active[0],
        "of another seat": active[1],
        "pending": create("pending", 30, 60)[0],
        "complete": create("complete", -90, -30)[0],
        "of a paused package": create("package paused", -60, None, is_active=False)[0],
        "paused": paused,
        "without packages": unlinked,
        "deleted": removed,
        "free": free,
    }
    api.change(DemandDeal, paused.id or 0, {"is_active": False})
    api.change(DemandDeal, free.id or 0, {"price": 0})
    api.change(DemandDeal, unlinked.id or 0, {"supply_deals": []})
    api.remove(DemandDeal, removed.id or 0)
    return by_state


@pytest.fixture(scope="module")
def served(settings: Settings, deals: dict[str, DemandDeal]) -> Iterator[str]:
    """Where agents are answered about them, once two databases are gone and one is damaged."""
    shutil.rmtree(settings.home / "tables1")
    (settings.home / "tables2" / "deals.parquet").unlink()
    (settings.home / "tables3" / "deals.parquet").write_bytes(b"PAR1 nothing PAR1")
    app = AgentRoute(Compression(connect.installation(settings).api), settings)
    with serving(app) as address:
        yield address


def calls_of_slicer(name: str, deals: dict[str, DemandDeal]) -> Iterator[Call]:
    """Each verb about a slicer, and about all deals by it, where it is the only one."""
    slicer, active = f"states/{name}", deals["active"].supply_deals[0].id
    booking = {"start": str(LAST_DAY + dt.timedelta(days=7)), "end": str(LAST_DAY + dt.timedelta(days=14))}
    yield "list_slicers", {}
    yield "describe_slicer", {"slicer": slicer}
    for field in ("country", "deal", "granularity_day"):
        yield "find_values", {"slicer": slicer, "field": field, "contains": "1"}
    for field in ("bid_requests", "win_cpm", "unique_users"):
        for split in ([], ["granularity_day", "deal"]):
            yield "ask", {"slicer": slicer, "fields": [field], "split": split}
        yield "what_moved", {"slicer": slicer, "field": field}
        yield "what_moved", {"slicer": slicer, "field": field, "start": "-200d", "end": "-190d"}
    yield "price_guide", {"slicer": slicer, "seats": [SEAT], "price": "0.01"}
    yield "price_guide", {"package": active, "seats": [SEAT], "price": 2}
    yield "forecast", {"slicer": slicer, **booking}
    yield "forecast", {"package": active, **booking}
    visible = [deal.id for state, deal in deals.items() if state not in HIDDEN]
    packages = [deal.supply_deals[0].id for deal in deals.values() if deal.supply_deals]
    yield "deal_health", {"deals": visible}
    yield "past_delivery", {"deals": visible, "by_day": True}
    yield "past_delivery", {"packages": packages}
    yield "overlap", {"packages": packages[:8]}
    new = {"name": "Like it", "reason": "A trial", "like": active, "start": booking["start"]}
    yield "propose_package", {**new, "seats": [{"seat": SEAT, "price": 2}]}
    yield "propose_package", {**new, "filters": [{"field": "country", "values": ["US"]}]}


def calls_of_deal(state: str, deals: dict[str, DemandDeal]) -> Iterator[Call]:
    """Each verb about a deal and its package."""
    number, reason = deals[state].id, {"reason": "A trial"}
    booking = {"start": str(LAST_DAY + dt.timedelta(days=7)), "end": str(LAST_DAY + dt.timedelta(days=14))}
    yield "find_deals", {"search": deals[state].name}
    yield "deal_health", {"deals": [number]}
    yield "past_delivery", {"deals": [number], "start": "-30d"}
    for fields in ({"price": 9}, {"price": None}, {"units": 1_000_000}, {"is_active": True}, {"seat": None}):
        yield "propose_change", {"kind": "deals", "id": number, "fields": fields, **reason}
    for package in [link.id for link in deals[state].supply_deals]:
        yield "find_deals", {"kind": "packages", "search": state}
        yield "past_delivery", {"packages": [package]}
        yield "overlap", {"packages": [package, 1]}
        yield "forecast", {"package": package, **booking}
        yield "price_guide", {"package": package}
        yield "propose_package", {"name": "Like it", "like": package, "start": booking["start"], **reason}
        for fields in ({"end_date": None}, {"is_active": False}, {"name": ""}):
            yield "propose_change", {"kind": "packages", "id": package, "fields": fields, **reason}


@pytest.fixture(scope="module")
def answers(served: str, settings: Settings) -> Callable[[str, Iterable[Call]], list[tuple[Call, Any]]]:
    """Calls verbs in the name of somebody who sees one slicer and the deals of one seat."""
    issue, hour = connect.installation(settings).access.issue, dt.timedelta(hours=1)
    deals = issue("admin", "deals", "an agent", hour, deals=DealsGrant("propose", frozenset({SEAT})))

    def call(name: str, calls: Iterable[Call]) -> list[tuple[Call, Any]]:
        reporting = issue("admin", "reporting", "an agent", hour, grants=(Grant("states", name),))

        async def session(client: Client) -> list[tuple[Call, Any]]:
            return [((verb, arguments), await client.call_tool(verb, arguments)) for verb, arguments in calls]

        return within(over_http(served, reporting, deals), session)

    return call


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_answers_about_every_kind_of_slicer(
    answers: Callable[..., Any], deals: dict[str, DemandDeal], name: str
) -> None:
    """A verb answers, or says what is wrong, whatever fields and rows the only report has."""
    assert internal_errors(answers(name, calls_of_slicer(name, deals))) == []


@pytest.mark.parametrize("name", ["funnel", "no deals"])
@pytest.mark.parametrize("state", STATES)
def test_every_verb_answers_about_a_deal_in_every_state(
    answers: Callable[..., Any], deals: dict[str, DemandDeal], name: str, state: str
) -> None:
    """A verb answers, or says what is wrong, whatever became of a deal, with a report of deals and without.

    One that is visible has a health; one that was deleted, or is another seat's, is not there.
    """
    outcomes = answers(name, calls_of_deal(state, deals))
    assert internal_errors(outcomes) == []
    [health] = [outcome for (verb, _), outcome in outcomes if verb == "deal_health"]
    assert health.is_error == (state in HIDDEN)
    if state in IDLE:
        assert health.structured_content["deals"][0]["why"] == IDLE[state]
        assert health.structured_content["deals"][0]["funnel"] == []


def test_every_verb_is_tried(deals: dict[str, DemandDeal]) -> None:
    """The calls of both tables are of all verbs."""
    both = [*calls_of_slicer("funnel", deals), *calls_of_deal("active", deals)]
    assert {verb for verb, _ in both} == VERBS.keys()


def internal_errors(outcomes: list[tuple[Call, Any]]) -> list[Call]:
    """The calls that ended in one."""
    internal = {"error": InternalError().reason}
    return [call for call, outcome in outcomes if outcome.structured_content == internal]
