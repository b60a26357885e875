"""What somebody may not see does not exist: in each operation, over each route and each call of the client.

A request about a hidden entity is answered as one about an entity that never was, to the letter, and changes
nothing. The tables below name every route of the deals API and every call of its client; a new one that is
not in them fails here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import getmembers, isfunction
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from needs import NIGHTLY

import lib
from deals.caller import NO_BODY, Body, Caller, World, deals, option, package, unique
from deals.conftest import PASSWORD, issue
from lib.deals.abilities import Abilities
from lib.deals.client import Deals, Write
from lib.deals.models import (
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    Dsp,
    Reference,
    Seat,
    SupplyPackage,
)
from lib.deals.store import listing
from lib.people import DealsGrant, Person
from lib.serving import connect
from lib.serving.remote.deals import SomeSeats
from lib.wire.call import Patience
from lib.wire.errors import TrancheError

LIB = Path(lib.__file__).parent
NAMES = count(1)
NEVER = 10**9
CONTACT = "buyer@agency.example"
NUMBERED = ("demand_deals", "supply_packages", "packages", "seats", "dsps", "proposals")


@dataclass(frozen=True)
class Targets:
    """Ids that a request is about: of entities of a seat that the caller may not see, or of none."""

    demand_deals: int
    supply_deals: int
    packages: int
    seats: int
    dsps: int
    proposals: int
    deal_id: str


NOTHING = Targets(NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, "TR-0000-0000-0000")


@dataclass(frozen=True)
class Own:
    """What the caller may change: a package of their own, a deal of it, and their seat and its DSP."""

    deal: int
    package: int
    seat: int
    dsp: int


@dataclass(frozen=True)
class Ask:
    """A request: `path` below /api/."""

    method: str
    path: str
    body: Any = NO_BODY
    headers: Mapping[str, str] | None = None
    query: Mapping[str, Any] | None = None

    def send(self, caller: Caller) -> httpx.Response:
        """The answer."""
        return caller.ask(self.method, self.path, self.body, self.headers, **self.query or {})


Asks = Callable[[Targets, Own], Iterator[Ask]]


def harmless(entity: str) -> Body:
    """A change that any entity of this kind could take."""
    return {"price": 9} if entity == "demand_deals" else {"name": unique("Renamed")}


def singles(entity: str, method: str, *, history: bool = False) -> Asks:
    """Requests about one entity by its id: plain, with conditions, and with a key that does it once."""

    def asks(targets: Targets, own: Own) -> Iterator[Ask]:
        path = f"{entity}/{getattr(targets, entity)}/{'history/' if history else ''}"
        body = harmless(entity) if method == "PUT" else NO_BODY
        yield Ask(method, path, body)
        for tag in (
            (f'"{entity}-{getattr(targets, entity)}-1"', '"other-1-1"', 'W/"x"') if not history else ()
        ):
            yield Ask(method, path, body, {"If-Match": tag})
        if method == "PUT":
            yield Ask(method, path, body, {"Idempotency-Key": unique("key")})
            yield Ask(method, path, {"unknown": 1})
            yield Ask(method, path, body, query={"unknown": 1})
        if method == "PUT" and entity == "demand_deals":
            yield Ask(method, path, {"seat": {"id": own.seat}})
            yield Ask(method, path, {"supply_deals": [{"id": own.package}]})
        if method == "PUT" and entity == "supply_deals":
            yield Ask(method, path, {"demand_deals": [{"id": own.deal}]})
            yield Ask(
                method, path, {"create_demand_deals": deals(option(own.seat))}, {"Idempotency-Key": "k"}
            )
        if method == "PUT" and entity == "packages":
            yield Ask(method, path, {"seats": [{"value": True, "seat": {"id": own.seat}}]})

    return asks


def several(entity: str) -> Asks:
    """The same changes in the list form, alone, beside one of the caller's own, all or none."""

    def asks(targets: Targets, own: Own) -> Iterator[Ask]:
        target = getattr(targets, entity)
        for single in singles(entity, "PUT")(targets, own):
            if single.headers or single.query:
                continue  # a list has them for all of its changes: the body alone is of one
            change = {"id": target, **single.body}
            yield Ask("PUT", f"{entity}/", [change])
            yield Ask("PUT", f"{entity}/", [change], query={"atomic": "true"})
            yield Ask("PUT", f"{entity}/", [change | {"etag": '"other-1-1"'}])

    return asks


def lists(entity: str) -> Asks:
    """Searches and filters for what can't be seen, with every count."""

    def asks(targets: Targets, own: Own) -> Iterator[Ask]:
        yield Ask("GET", f"{entity}/", query={"search": str(getattr(targets, entity))})
        yield Ask("GET", f"{entity}/", query={"id": getattr(targets, entity), "etags": "true"})
        for name, ids in (("seat", targets.seats), ("dsp", targets.dsps), ("package", targets.packages)):
            if name in listing.FILTERS[entity]:
                yield Ask("GET", f"{entity}/", query={name: ids})
        for name in ("demand_deals", "supply_deals"):
            if name in listing.FILTERS[entity]:
                yield Ask("GET", f"{entity}/", query={name: getattr(targets, name)})
        if "deal_id" in listing.FILTERS[entity]:
            yield Ask("GET", f"{entity}/", query={"deal_id": targets.deal_id})

    return asks


def references(entity: str) -> Asks:
    """New entities that refer to what can't be seen."""

    def asks(targets: Targets, own: Own) -> Iterator[Ask]:
        deal = {"name": unique("Deal"), "price": 1, "seat": {"id": own.seat}}
        bodies: dict[str, list[Body]] = {
            "demand_deals": [
                deal | {"seat": {"id": targets.seats}},
                deal | {"supply_deals": [{"id": targets.supply_deals}]},
            ],
            "supply_deals": [
                package(demand_deals=[{"id": targets.demand_deals}]),
                package(create_demand_deals=deals(option(targets.seats))),
            ],
            "packages": [
                {"name": unique("Old"), "seats": [{"value": True, "seat": {"id": targets.seats}}]},
                {"name": unique("Old"), "seats": [], "supply_deals": [{"id": targets.supply_deals}]},
            ],
            "seats": [{"name": unique("Seat"), "dsp": {"id": targets.dsps}}],
            "dsps": [{"name": unique("DSP")}],
        }
        for body in bodies[entity]:
            yield Ask("POST", f"{entity}/", body)
            yield Ask("POST", f"{entity}/", body, {"Idempotency-Key": unique("key")})

    return asks


def batch(targets: Targets, own: Own) -> Iterator[Ask]:
    """Several deals at once, one of which refers to what can't be seen."""
    good = {"name": unique("Deal"), "price": 1, "seat": {"id": own.seat}, "supply_deals": []}
    for wrong in ({"seat": {"id": targets.seats}}, {"supply_deals": [{"id": targets.supply_deals}]}):
        yield Ask("POST", "demand_deals/batch/", [good, good | wrong], {"Idempotency-Key": unique("key")})


def proposed(targets: Targets, own: Own) -> Iterator[Ask]:
    """Proposals about what can't be seen."""
    for entity in ("demand_deals", "supply_deals"):
        about = {"entity": entity, "entity_id": getattr(targets, entity), "reason": "Because"}
        yield Ask("POST", "proposals/", about | {"fields": harmless(entity)})


def by_number(verb: str = "", body: Any = NO_BODY) -> Asks:
    """Requests about somebody else's proposal."""
    method = "GET" if body is NO_BODY else "POST"
    return lambda targets, own: iter([Ask(method, f"proposals/{targets.proposals}/{verb}", body)])


def synced(method: str, verb: str = "") -> Asks:
    """Requests about the document of a deal of another seat."""

    def asks(targets: Targets, own: Own) -> Iterator[Ask]:
        status = {"id": targets.deal_id, "buyerstatus": [{"buyerseatid": "x", "status": 4}]}
        yield Ask(method, f"deal_sync/{targets.deal_id}/{verb}", status if method == "PUT" else NO_BODY)

    return asks


def nothing(targets: Targets, own: Own) -> Iterator[Ask]:
    """No request can be about something that is hidden here."""
    yield from ()


OF_SEATS = ("supply_deals", "demand_deals", "packages", "seats", "dsps")
OF_NOBODY = ("domain_lists", "app_lists")
"""Lists of domains and apps belong to no seat."""
OPERATIONS: dict[tuple[str, str], Asks] = {
    **{("GET", f"/api/{entity}/"): lists(entity) for entity in OF_SEATS},
    **{("POST", f"/api/{entity}/"): references(entity) for entity in OF_SEATS},
    **{("PUT", f"/api/{entity}/"): several(entity) for entity in OF_SEATS},
    **{
        (method, f"/api/{entity}/{{id}}/"): singles(entity, method)
        for entity in OF_SEATS
        for method in ("GET", "PUT", "DELETE")
    },
    **{
        ("GET", f"/api/{entity}/{{id}}/history/"): singles(entity, "GET", history=True)
        for entity in OF_SEATS
    },
    ("POST", "/api/demand_deals/batch/"): batch,
    ("GET", "/api/proposals/"): lambda targets, own: iter([Ask("GET", "proposals/")]),
    ("POST", "/api/proposals/"): proposed,
    ("GET", "/api/proposals/{id}/"): by_number(),
    ("POST", "/api/proposals/{id}/approve/"): by_number("approve/", {}),
    ("POST", "/api/proposals/{id}/decline/"): by_number("decline/", {"word": "No"}),
    ("GET", "/api/deal_sync/"): lambda targets, own: iter([Ask("GET", "deal_sync/", query={"seat": "zz"})]),
    ("GET", "/api/deal_sync/{id}/"): synced("GET"),
    ("GET", "/api/deal_sync/{id}/status/"): synced("GET", "status/"),
    ("PUT", "/api/deal_sync/{id}/status/"): synced("PUT", "status/"),
    **{
        (method, f"/api/{entity}/{path}"): nothing
        for entity in OF_NOBODY
        for method, path in (
            ("GET", ""), ("POST", ""), ("PUT", ""), ("GET", "{id}/"), ("PUT", "{id}/"), ("DELETE", "{id}/"),
            ("GET", "{id}/history/"),
        )
    },
}  # fmt: skip
GRANTS = {
    "who may change": ("write", None),
    "who may propose": ("propose", None),
    "who may read": ("read", None),
    "a token of somebody who may change all": (None, "write"),
    "a token of a DSP": (None, "sync"),
}


@pytest.fixture(scope="module")
def hidden(admin: Caller, desk: connect.Installation) -> Targets:
    """A synchronized deal in packages of its own, at a seat and a DSP of its own, and a proposal about it.

    Their ids are far from all others, so that an answer can be searched for them.
    """
    number_from(desk, 7_000_000)
    dsp = admin.make("dsps", {"name": unique("Secret"), "supports_deal_sync": True})["id"]
    buyer = {"name": unique("Secret"), "external_id": unique("Secret"), "dsp": {"id": dsp}}
    seat = admin.make("seats", buyer)["id"]
    new = deals(option(seat, deal_sync=True), contact_email=CONTACT)
    package_body = admin.make("supply_deals", package(name=unique("Secret"), create_demand_deals=new))
    deal = admin.get(f"demand_deals/{package_body['demand_deals'][0]['id']}/")
    legacy = {"name": unique("Secret"), "seats": [{"value": True, "seat": {"id": seat}}]}
    old = admin.make("packages", legacy | {"supply_deals": [{"id": package_body["id"]}]})
    change = {"entity": "demand_deals", "entity_id": deal["id"], "fields": {"price": 8}, "reason": "Secret"}
    proposal = admin.make("proposals", change)
    return Targets(deal["id"], package_body["id"], old["id"], seat, dsp, proposal["id"], deal["deal_id"])


def number_from(desk: connect.Installation, first: int) -> None:
    """Let the next entities of each kind have numbers from here on, each kind others."""
    with desk.access.store.engine.begin() as connection:
        for place, table in enumerate(NUMBERED):
            number = first + place * 10_000
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
                connection.exec_driver_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, number))
            else:
                connection.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {number})"
                )


@pytest.fixture(scope="module")
def own(admin: Caller, there: World) -> Own:
    """A package and a deal of Ada's seat alone."""
    package_body = admin.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))
    return Own(package_body["demand_deals"][0]["id"], package_body["id"], there.ada, there.syncing)


@pytest.fixture(scope="module")
def limited(desk: connect.Installation, http: httpx.Client, own: Own) -> dict[str, Caller]:
    """Somebody with each of the GRANTS for their seat.

    A grant is read the same over every database: over the second, whoever may change stands for all.
    """
    callers = {}
    is_first = NIGHTLY or desk.access.store.engine.dialect.name == "sqlite"
    for whose, verbs in GRANTS.items():
        if not is_first and whose not in ("who may change", "who may read"):
            continue
        grant, of_token = (DealsGrant.parse(f"{verb}:{own.seat}" if verb else "write") for verb in verbs)
        name = f"limited{next(NAMES)}"
        desk.access.people.add(Person(name, name, None, "manager", deals=grant), PASSWORD)
        token = desk.access.issue(name, "deals", "test", None, deals=of_token if verbs[1] else None)
        callers[whose] = Caller(http, token)
    return callers


def outline(answer: httpx.Response, targets: Targets) -> tuple[int, str]:
    """The code and text of an answer, with the ids that were asked for taken out."""
    text = answer.text
    for target in sorted({str(getattr(targets, field.name)) for field in fields(targets)}, key=len)[::-1]:
        text = re.sub(rf"(?<![\w-]){re.escape(target)}(?![\w-])", "?", text)
    return answer.status_code, text


@pytest.fixture(scope="module")
def first_state(admin: Caller, hidden: Targets) -> list[Any]:
    """All that there was of hidden entities before the first request."""
    return state(admin, hidden)


def state(admin: Caller, targets: Targets) -> list[Any]:
    """All that there is of hidden entities, with their histories."""
    kinds = ("demand_deals", "supply_deals", "packages", "seats", "dsps")
    keys = [(entity, getattr(targets, entity)) for entity in kinds]
    proposal = admin.get(f"proposals/{targets.proposals}/")
    status = admin.get(f"deal_sync/{targets.deal_id}/status/")["buyerstatus"]
    return [proposal, status, *((admin.get(f"{e}/{i}/"), admin.history(e, i)) for e, i in keys)]


def test_the_table_has_every_route(desk: connect.Installation) -> None:
    """Each documented operation of the deals API is tried here."""
    paths = desk.api.openapi()["paths"]
    routes = {(verb.upper(), path) for path in paths if path.startswith("/api/") for verb in paths[path]}
    assert routes == OPERATIONS.keys()


@pytest.mark.parametrize("operation", OPERATIONS, ids=" ".join)
def test_what_is_hidden_answers_as_what_never_was(
    operation: tuple[str, str],
    limited: dict[str, Caller],
    admin: Caller,
    hidden: Targets,
    own: Own,
    first_state: list[Any],
) -> None:
    """Same code, same words, nothing of it changed: for every kind of grant, and in each part of a list."""
    for whose, caller in limited.items():
        for ask, ask_of_nothing in zip(
            OPERATIONS[operation](hidden, own), OPERATIONS[operation](NOTHING, own), strict=True
        ):
            answer, of_nothing = ask.send(caller), ask_of_nothing.send(caller)
            assert outline(answer, hidden) == outline(of_nothing, NOTHING), (whose, ask)
            assert "Secret" not in answer.text, (whose, ask)
            assert CONTACT not in answer.text, (whose, ask)
    assert state(admin, hidden) == first_state


@pytest.mark.parametrize("entity", OF_SEATS)
def test_no_order_and_no_count_tells_of_what_is_hidden(
    entity: str, limited: dict[str, Caller], hidden: Targets
) -> None:
    """However a list is ordered and counted, it has what may be seen: as many, once each, and no other."""
    caller = limited["who may read"]
    visible = {row["id"] for row in caller.get(f"{entity}/", limit=500)["results"]}
    assert getattr(hidden, entity) not in visible
    for name in listing.offer(entity).orderings:
        page = caller.get(f"{entity}/", limit=500, ordering=f"-{name}")
        assert {row["id"] for row in page["results"]} == visible
        assert page["count"] == len(visible)
    for name in listing.offer(entity).countable:
        counts = caller.get(f"{entity}/", counts=name)["counts"][name]
        assert sum(counts.values()) <= len(visible) or name in ("seat", "dsp")
        hidden_ids = {str(hidden.seats)} if name == "seat" else {str(hidden.dsps)} if name == "dsp" else set()
        assert not hidden_ids & counts.keys()


Call = Callable[[Deals, Targets, Own], Any]


def new_deal(seat: int, package_id: int) -> DemandDeal:
    """A deal to create."""
    links = (SupplyPackage(id=package_id),)
    return DemandDeal(name=unique("Deal"), seat=Seat(id=seat), price=1, supply_deals=links)  # type: ignore[arg-type]


def new_package(**parts: Any) -> SupplyPackage:
    """A package to create."""
    return SupplyPackage.model_validate(package()).model_copy(update=parts)


def options(seat: int) -> CreateDemandDeals:
    """A deal to create with a package, for this seat."""
    return CreateDemandDeals(demand_deals_options=(DemandDealOption(seat=Reference(id=seat), price=2),))  # type: ignore[arg-type]


MODELS = (DemandDeal, SupplyPackage, Seat, Dsp)
CALLS: dict[str, list[Call]] = {
    "get": [lambda client, t, own, m=m: client.get(m, getattr(t, m.entity)) for m in MODELS],
    "list": [
        lambda client, t, own, m=m: client.list(m, search=str(getattr(t, m.entity))).count for m in MODELS
    ]
    + [
        lambda client, t, own: client.list(DemandDeal, seat=t.seats).count,
        lambda client, t, own: client.list(SupplyPackage, demand_deals=t.demand_deals).count,
    ],
    "everything": [lambda client, t, own: [*client.everything(DemandDeal, seat=t.seats)]],
    "create": [
        lambda client, t, own: client.create(DemandDeal, new_deal(t.seats, own.package)),
        lambda client, t, own: client.create(DemandDeal, new_deal(own.seat, t.supply_deals)),
        lambda client, t, own: client.create(
            SupplyPackage, new_package(demand_deals=(Reference(id=t.demand_deals),))
        ),
        lambda client, t, own: client.create(
            SupplyPackage, new_package(create_demand_deals=options(t.seats))
        ),
    ],
    "create_all": [
        lambda client, t, own: client.create_all([new_deal(t.seats, own.package)], unique("key")),
        lambda client, t, own: client.create_all([new_deal(own.seat, t.supply_deals)], unique("key")),
    ],
    "change": [
        lambda client, t, own, m=m: client.change(m, getattr(t, m.entity), harmless(m.entity)) for m in MODELS
    ]
    + [
        lambda client, t, own: client.change(
            SupplyPackage, t.supply_deals, {"demand_deals": [{"id": own.deal}]}
        ),
        lambda client, t, own: client.change(DemandDeal, own.deal, {"seat": {"id": t.seats}}),
        lambda client, t, own: client.change(
            DemandDeal, own.deal, {"supply_deals": [{"id": t.supply_deals}]}
        ),
        lambda client, t, own: client.change(
            SupplyPackage, own.package, {"demand_deals": [{"id": t.demand_deals}]}
        ),
        lambda client, t, own: client.change(DemandDeal, t.demand_deals, {"price": 9}, '"other-1-1"'),
    ],
    "add_deals": [
        lambda client, t, own: client.add_deals(t.supply_deals, options(own.seat), unique("key")),
        lambda client, t, own: client.add_deals(own.package, options(t.seats), unique("key")),
    ],
    "change_all": [
        lambda client, t, own: client.change_all(
            DemandDeal, {t.demand_deals: {"price": 9}}, {t.demand_deals: '"other-1-1"'}
        )
    ],
    "change_each": [
        lambda client, t, own: [*client.change_each(DemandDeal, {t.demand_deals: {"price": 9}}).values()],
        lambda client, t, own: [
            *client.change_each(DemandDeal, {t.demand_deals: {"seat": {"id": own.seat}}}).values()
        ],
        lambda client, t, own: [
            *client.change_each(SupplyPackage, {t.supply_deals: {"is_active": False}}).values()
        ],
    ],
    "get_many": [
        lambda client, t, own: client.get_many(DemandDeal, [t.demand_deals]),
        lambda client, t, own: client.get_many(SupplyPackage, [t.supply_deals], with_etags=True),
    ],
    "remove": [lambda client, t, own, m=m: client.remove(m, getattr(t, m.entity)) for m in MODELS],
    "history": [lambda client, t, own, m=m: client.history(m, getattr(t, m.entity)) for m in MODELS],
    "propose": [
        lambda client, t, own: client.propose(
            {"entity": "demand_deals", "entity_id": t.demand_deals, "fields": {"price": 9}, "reason": "x"}
        )
    ],
    "buyer_seat": [lambda client, t, own: client.buyer_seat(t.deal_id)],
    "warnings_of": [
        lambda client, t, own: client.warnings_of([Write("demand_deals", {"price": 900}, t.demand_deals)]),
        lambda client, t, own: client.warnings_of(
            [Write("supply_deals", {"end_date": "2024-01-01T00:00:00Z"}, t.supply_deals)]
        ),
        lambda client, t, own: client.warnings_of(
            [
                Write(
                    "demand_deals", {"name": "New", "price": 900, "seat": {"id": t.seats}, "supply_deals": []}
                )
            ]
        ),
    ],
}  # type: ignore[misc]


def test_the_table_has_every_call_of_the_client() -> None:
    """Each public method of the deals client is tried here."""
    assert {name for name, _ in getmembers(Deals, isfunction) if not name.startswith("_")} == CALLS.keys()


def outcome(call: Callable[[], Any], targets: Targets) -> tuple[str, str]:
    """What a call returns or raises, with the ids that it was about taken out."""
    try:
        kind, text = "", repr(call())
    except TrancheError as error:
        kind, text = type(error).__name__, error.reason
    for field in fields(targets):
        text = re.sub(rf"(?<![\w-]){re.escape(str(getattr(targets, field.name)))}(?![\w-])", "?", text)
    return kind, text


@pytest.mark.parametrize(
    "is_remote", [False, True], ids=["our service", "a service that knows the desk alone"]
)
@pytest.mark.parametrize("name", CALLS)
def test_a_client_tells_as_little(
    name: str,
    is_remote: bool,
    desk: connect.Installation,
    http: httpx.Client,
    limited: dict[str, Caller],
    admin: Caller,
    hidden: Targets,
    own: Own,
    first_state: list[Any],
) -> None:
    """A call about what is hidden ends as one about what never was, also where the desk cuts answers."""
    if is_remote:
        whole = Deals(http, issue(desk), Patience(seconds=30), abilities=Abilities(is_own=False))
        client: Deals = SomeSeats(whole, frozenset({own.seat}))
    else:
        client = Deals(http, limited["who may change"].token or "", Patience(seconds=30))
    for call in CALLS[name]:
        of_hidden, of_nothing = (
            outcome(partial(call, client, targets, own), targets) for targets in (hidden, NOTHING)
        )
        assert of_hidden == of_nothing
    assert state(admin, hidden) == first_state


def test_a_repeated_batch_answers_what_may_be_seen_now(
    desk: connect.Installation, http: httpx.Client, there: World
) -> None:
    """The first results come again without the deals of seats that were taken away since."""
    name = f"limited{next(NAMES)}"
    both = DealsGrant("write", frozenset({there.ada, there.bob}))
    desk.access.people.add(Person(name, name, None, "manager", deals=both), PASSWORD)
    caller = Caller(http, desk.access.issue(name, "deals", "test", None))
    bodies = [{"name": unique("Deal"), "price": 1, "seat": {"id": s}} for s in (there.ada, there.bob)]
    bodies = [body | {"supply_deals": []} for body in bodies]
    ask = Ask("POST", "demand_deals/batch/", bodies, {"Idempotency-Key": unique("key")})
    first = ask.send(caller).json()["results"]
    assert len(first) == 2
    desk.access.people.change(name, deals=replace(both, seats=frozenset({there.ada})))
    assert ask.send(caller).json()["results"] == first[:1]


def test_a_repeated_change_of_what_is_hidden_by_now_is_404(
    desk: connect.Installation, http: httpx.Client, admin: Caller, there: World
) -> None:
    """A key opens nothing that its owner may not see any more."""
    name = f"limited{next(NAMES)}"
    desk.access.people.add(
        Person(name, name, None, "manager", deals=DealsGrant.parse(f"write:{there.bob}")), PASSWORD
    )
    caller = Caller(http, desk.access.issue(name, "deals", "test", None))
    deal = admin.make("demand_deals", {"name": unique("Deal"), **option(there.bob)})["id"]
    ask = Ask("PUT", f"demand_deals/{deal}/", {"price": 3}, {"Idempotency-Key": unique("key")})
    assert ask.send(caller).status_code == 204
    desk.access.people.change(name, deals=DealsGrant.parse(f"write:{there.ada}"))
    assert ask.send(caller).status_code == 404


def test_nothing_else_reads_without_limits() -> None:
    """Only the rules of the store itself and the desk's own work read without limits to seats."""
    pattern = re.compile(r"without_limits\(\)|DealsScope\(\)")
    files = {
        path.relative_to(LIB).as_posix() for path in LIB.rglob("*.py") if pattern.search(path.read_text())
    }
    assert files == {
        "deals/store/entity_stores.py",  # of all packages of a deal, one word: whether the buyer approved it
        "deals/store/history.py",
        "deals/store/visibility.py",
        "deals/health_store.py",
        "deals/sync/push.py",
    }
