"""Deal sync: documents as the specification has them, for their own DSP alone, and its statuses."""

import datetime as dt
import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from conformance.transports import embedded
from sqlalchemy import select, update

from deals.caller import END, Body, Caller, World, deals, option, package, unique, world
from deals.conftest import OpenRow, issue
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import Negotiations, OfferTerms, Round, negotiation_rounds
from lib.deals.store.tables import synced_deals
from lib.deals.sync.documents import SELLER_STATUS
from lib.people import DealsGrant, Person
from lib.serving import connect
from lib.wire.errors import BadRequest

SCHEMA = json.loads((Path(__file__).parent / "deal_sync.schema.json").read_text())
NAMES = count(1)
MAIL = {"contact_email": "deals@agency.example"}
LATER = "2999-01-01 00:00:00+0000"
Dsp = Callable[..., Caller]


def is_valid(kind: str, body: Any) -> None:
    """Fail unless it is such an object of the specification."""
    jsonschema.Draft202012Validator(SCHEMA | {"$ref": f"#/$defs/{kind}"}).validate(body)


@pytest.fixture
def dsp(http: httpx.Client, desk: connect.Installation) -> Dsp:
    """Makes the token of a DSP for some seats."""

    def made(*seats: int) -> Caller:
        grant = DealsGrant.parse(f"sync:{','.join(map(str, seats))}")
        return Caller(http, desk.access.issue("manager", "deals", f"dsp {next(NAMES)}", None, deals=grant))

    return made


def sold(manager: Caller, seat: int, price: float = 2.5, **fields: Any) -> Body:
    """A package with a synchronized deal for a seat; returns the deal."""
    terms = MAIL | {name: fields.pop(name) for name in [*fields] if name.startswith("agency")}
    new = deals(option(seat, price, deal_sync=True), **terms)
    package_body = manager.make("supply_deals", package(create_demand_deals=new, **fields))
    return manager.get(f"demand_deals/{package_body['demand_deals'][0]['id']}/")


def documents(caller: Caller, **params: Any) -> dict[str, Body]:
    """All documents that a caller gets, by deal id; each is valid."""
    answer = caller.ask("GET", "deal_sync/", limit=500, **params)
    assert answer.status_code == 200, answer.text
    by_id = {result["id"]: result for result in answer.json()["results"]}
    for document in by_id.values():
        is_valid("Deal", document)
    return by_id


def seat_code(manager: Caller, seat: int) -> str:
    """The id of a seat at its DSP."""
    return str(manager.get(f"seats/{seat}/")["external_id"])


def test_document(manager: Caller, there: World, dsp: Dsp) -> None:
    """A document says what is known of a deal, in the specification's fields, and nothing else."""
    deal = sold(
        manager,
        there.ada,
        2.75,
        media_type="video",
        start_date="2026-03-01 09:00:00+0100",
        end_date=END,
        geo_targetings=[{"type": "country", "value": code} for code in ("US", "ca", "GBR")],
        agency_curation_fee=10,
        agency_curation_fee_type=1,
    )
    created = dt.datetime.strptime(deal["created_at"], "%Y-%m-%d %H:%M:%S%z").astimezone(dt.UTC)
    assert documents(dsp(there.ada))[deal["deal_id"]] == {
        "id": deal["deal_id"],
        "name": deal["name"],
        "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
        "sellerstatus": 3,
        "origin": "ssp.example",
        "wseat": [seat_code(manager, there.ada)],
        "adtypes": [2],
        "terms": {
            "startdate": "2026-03-01T08:00:00Z",
            "enddate": "2026-06-30T21:59:59Z",
            "countries": ["CAN", "GBR", "USA"],
            "dealfloor": 2.75,
            "cur": "USD",
            "pricetype": 0,
        },
        "curation": {"curfeetype": 1},
    }


def test_every_kind_of_deal_is_valid(manager: Caller, there: World, dsp: Dsp) -> None:
    """Deals of every media type, fee, end and status are valid documents, each with its numbers."""
    terms_by_deal = {}
    for kind, number in (("banner", 1), ("video", 2), ("audio", 3), ("native", 4)):
        terms_by_deal[sold(manager, there.ada, media_type=kind)["deal_id"]] = ({"adtypes": [number]}, {})
    for fee, kind in ((None, None), (0, 0), (5, 1), (100, 2), (0.5, 3), (None, 4)):
        terms = {"agency_curation_fee": fee, "agency_curation_fee_type": kind}
        curation = {} if kind is None else {"curation": {"curfeetype": kind}}
        terms_by_deal[sold(manager, there.ada, **terms)["deal_id"]] = (curation, {})
    paused = sold(manager, there.ada)
    manager.change("demand_deals", paused["id"], is_active=False)
    terms_by_deal[paused["deal_id"]] = ({"sellerstatus": 1}, {})
    terms_by_deal[sold(manager, there.ada)["deal_id"]] = ({"sellerstatus": 0}, {})
    terms_by_deal[sold(manager, there.ada, start_date=LATER)["deal_id"]] = (
        {"sellerstatus": 2},
        {"startdate": "2999-01-01T00:00:00Z"},
    )
    by_id = documents(dsp(there.ada))
    for deal_id, (fields, terms) in terms_by_deal.items():
        assert fields.items() <= by_id[deal_id].items()
        assert terms.items() <= by_id[deal_id]["terms"].items()
        assert "enddate" not in by_id[deal_id]["terms"]
        assert ("curation" in by_id[deal_id]) == ("curation" in fields)


@pytest.mark.parametrize(
    ("places", "countries"),
    [
        ([], None),
        ([("country", "DE", False), ("country", "FR", False), ("country", "FR", True)], ["DEU"]),
        ([("region", "CA", False), ("country", "DE", False)], None),
        ([("country", "Germany", False)], None),
        ([("country", "DE", False), ("city", "Berlin", True)], ["DEU"]),
    ],
)
def test_countries(
    manager: Caller, there: World, dsp: Dsp, places: list[tuple[str, str, bool]], countries: list[str] | None
) -> None:
    """Countries are those included, in three letters; none are listed where they are all, or not known."""
    targets = [{"type": t, "value": value, "is_excluded": is_out} for t, value, is_out in places]
    deal = sold(manager, there.ada, geo_targetings=targets)
    assert documents(dsp(there.ada))[deal["deal_id"]]["terms"].get("countries") == countries


def test_all_countries_but_one(manager: Caller, there: World, dsp: Dsp) -> None:
    """An exclusion alone leaves every other country."""
    deal = sold(manager, there.ada, geo_targetings=[{"type": "country", "value": "de", "is_excluded": True}])
    countries = documents(dsp(there.ada))[deal["deal_id"]]["terms"]["countries"]
    assert (len(countries), "DEU" in countries, "FRA" in countries) == (248, False, True)


def test_several_packages(manager: Caller, there: World, dsp: Dsp) -> None:
    """A deal of several packages has their types and countries, from the first start to the last end."""
    spans = {"video": ("2026-02-01", "2031-01-01", "US"), "banner": ("2026-03-01", "2030-01-01", "CA")}
    supply = []
    for kind, (start, end, country) in spans.items():
        fields = {"start_date": f"{start} 00:00:00+0000", "end_date": f"{end} 00:00:00+0000"}
        places = [{"type": "country", "value": country}]
        supply.append(package(media_type=kind, geo_targetings=places, **fields))
    linked = [{"id": manager.make("supply_deals", body)["id"]} for body in supply]
    body = {"name": unique("Deal"), **option(there.ada, deal_sync=True), "supply_deals": linked, **MAIL}
    deal_id = manager.make("demand_deals", body)["deal_id"]
    document = documents(dsp(there.ada))[deal_id]
    assert document["adtypes"] == [1, 2]
    assert document["terms"]["countries"] == ["CAN", "USA"]
    assert document["terms"]["startdate"] == "2026-02-01T00:00:00Z"
    assert document["terms"]["enddate"] == "2031-01-01T00:00:00Z"


def test_only_its_own_seats(manager: Caller, there: World, dsp: Dsp) -> None:
    """A DSP gets the deals of its token's seats, and nothing of another's: no list, document or status."""
    mine, other = sold(manager, there.ada)["deal_id"], sold(manager, there.bob)["deal_id"]
    ada, both = dsp(there.ada), dsp(there.ada, there.bob)
    assert mine in documents(ada)
    assert other not in documents(ada)
    assert {mine, other} <= documents(both).keys()
    code = seat_code(manager, there.bob)
    assert other in documents(both, seat=code)
    assert mine not in documents(both, seat=code)
    report = {"version": "1.0", "id": other, "buyerstatus": [{"status": 4}]}
    said = f"There is no synchronized deal '{other}'"
    assert ada.detail("GET", f"deal_sync/{other}/", 404) == said
    assert ada.detail("GET", f"deal_sync/{other}/status/", 404) == said
    assert ada.detail("PUT", f"deal_sync/{other}/status/", 404, report) == said
    assert both.get(f"deal_sync/{other}/status/")["buyerstatus"] == []


def test_only_deals_with_sync(manager: Caller, there: World, dsp: Dsp) -> None:
    """A deal without deal sync has no document, nor has one whose seat has no id at the DSP; one that was
    fetched before its deal sync was switched off is paused."""
    plain = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))
    plain = manager.get(f"demand_deals/{plain['demand_deals'][0]['id']}/")
    nameless = manager.make("seats", {"name": unique("Seat"), "dsp": {"id": there.syncing}})["id"]
    unnamed = sold(manager, nameless)
    synced = sold(manager, there.ada)
    assert plain["deal_id"] not in documents(dsp(there.ada))
    assert documents(dsp(nameless)) == {}
    assert synced["deal_id"] in documents(dsp(there.ada))
    manager.change("demand_deals", synced["id"], deal_sync=False)
    assert documents(dsp(there.ada))[synced["deal_id"]]["sellerstatus"] == SELLER_STATUS["paused"]
    manager.change("seats", nameless, external_id=unique("x"))
    assert unnamed["deal_id"] in documents(dsp(nameless))


def test_deals_that_are_gone(manager: Caller, there: World, dsp: Dsp) -> None:
    """A deal that a DSP fetched is archived for it once it is deleted or given to another seat."""
    ada, bob = dsp(there.ada), dsp(there.bob)
    fetched, unknown, moved = (sold(manager, there.ada) for _ in range(3))
    manager.remove("demand_deals", unknown["id"])
    before = documents(ada)
    for deal in (fetched, moved):
        assert before[deal["deal_id"]]["sellerstatus"] == 0
    manager.remove("demand_deals", fetched["id"])
    manager.change("demand_deals", moved["id"], seat={"id": there.bob})
    after = documents(ada)
    for deal in (fetched, moved):
        assert after[deal["deal_id"]] == before[deal["deal_id"]] | {"sellerstatus": 4}
    assert unknown["deal_id"] not in after
    assert documents(bob)[moved["deal_id"]]["sellerstatus"] == 0
    assert documents(bob)[moved["deal_id"]]["wseat"] == [seat_code(manager, there.bob)]
    assert fetched["deal_id"] not in documents(bob)
    both = manager.get(f"deal_sync/{moved['deal_id']}/")
    assert both["sellerstatus"] == 0, "who sees both seats is told the deal as it is"


def test_what_people_read_is_not_a_fetch(manager: Caller, there: World, dsp: Dsp) -> None:
    """A fetch is a DSP's: what a person reads leaves no trace. When it was fetched, and with which token, is
    returned."""
    deal = sold(manager, there.ada)
    path = f"deal_sync/{deal['deal_id']}/"
    assert manager.get(path)["id"] == deal["deal_id"]
    assert manager.get(f"{path}status/")["ext"] == {}
    dsp(there.ada).get(path)
    fetched = manager.get(f"{path}status/")
    is_valid("BuyerSeat", fetched)
    assert fetched["ext"].keys() == {"fetched_at", "fetched_by"}
    assert re.fullmatch(r"dsp \d+ \(token \d+\)", fetched["ext"]["fetched_by"])


def test_conditional_polling(manager: Caller, there: World, dsp: Dsp) -> None:
    """What has not changed is answered by 304, without a body; a change, or another status, by all of it."""
    deal, ada = sold(manager, there.ada), dsp(there.ada)
    for path in (f"deal_sync/{deal['deal_id']}/", "deal_sync/"):
        first = ada.ask("GET", path, limit=500) if path == "deal_sync/" else ada.ask("GET", path)
        url = first.request.url.raw_path.decode().removeprefix("/api/")
        again = ada.ask("GET", url, headers={"If-None-Match": f'"x", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        manager.change("demand_deals", deal["id"], price=3 + len(path))
        changed = ada.ask("GET", url, headers={"If-None-Match": first.headers["etag"]})
        assert changed.status_code == 200
        assert changed.headers["etag"] != first.headers["etag"]


def test_pages(manager: Caller, there: World, dsp: Dsp) -> None:
    """Pages hold each document once."""
    for _ in range(3):
        sold(manager, there.bob)
    bob, offset, ids = dsp(there.bob), 0, []
    while (part := bob.get("deal_sync/", limit=2, offset=offset))["results"]:
        ids += [result["id"] for result in part["results"]]
        offset += 2
    assert len(ids) == len(set(ids)) == part["count"]
    assert set(ids) == documents(bob).keys()


def test_status_comes_back(manager: Caller, there: World, dsp: Dsp) -> None:
    """A reported status is stored with the time and the DSP's token, not the person who issued it; another
    status is a line in the deal's history."""
    deal, ada = sold(manager, there.ada), dsp(there.ada)
    path, code = f"deal_sync/{deal['deal_id']}/status/", seat_code(manager, there.ada)
    etag = manager.ask("GET", f"demand_deals/{deal['id']}/").headers["etag"]
    for status in (0, 0, 4):
        reported = {"version": "1.0", "id": deal["deal_id"], "ext": {"campaign": 7}}
        reported["buyerstatus"] = [{"buyerseatid": code, "status": status}]
        is_valid("BuyerSeat", reported)
        answer = ada.ask("PUT", path, reported)
        assert (answer.status_code, answer.content) == (204, b""), answer.text
    document = ada.get(path)
    is_valid("BuyerSeat", document)
    [status] = document["buyerstatus"]
    assert (status["buyerseatid"], status["status"]) == (code, 4)
    token = status["ext"]["reported_by"]
    assert re.fullmatch(r"dsp \d+ \(token \d+\)", token)
    entries = manager.history("demand_deals", deal["id"])[:2]
    assert [entry["who"] for entry in entries] == [token, token]
    changes = [(entry["before"], entry["after"]) for entry in entries]
    assert changes == [
        ({"buyer_status": "pending approval"}, {"buyer_status": "active"}),
        ({"buyer_status": None}, {"buyer_status": "pending approval"}),
    ]
    now = manager.ask("GET", f"demand_deals/{deal['id']}/").headers["etag"]
    assert now.partition(".")[0] == etag.partition(".")[0], "no edit of the deal is stale"
    manager.remove("demand_deals", deal["id"])
    done = {"version": "1.0", "id": deal["deal_id"], "buyerstatus": [{"status": 6}]}
    assert ada.ask("PUT", path, done).status_code == 204
    assert ada.get(path)["buyerstatus"][0]["status"] == 6


def test_a_long_name_of_a_token_is_shortened(
    manager: Caller, there: World, http: httpx.Client, desk: connect.Installation
) -> None:
    """The name of a token is cut where the database has no room for it; its number stays."""
    deal, grant = sold(manager, there.ada), DealsGrant.parse(f"sync:{there.ada}")
    long = Caller(http, desk.access.issue("manager", "deals", "d" * 200, None, deals=grant))
    path = f"deal_sync/{deal['deal_id']}/status/"
    report = {"version": "1.0", "id": deal["deal_id"], "buyerstatus": [{"status": 4}]}
    assert long.ask("PUT", path, report).status_code == 204
    [status] = manager.get(path)["buyerstatus"]
    assert re.fullmatch(r"d+… \(token \d+\)", status["ext"]["reported_by"])
    assert len(status["ext"]["reported_by"]) == 64


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"version": "2.0"}, {"version"}),
        ({"version": None}, {"version"}),
        ({"id": "TR-0000-0000-0000"}, {"id"}),
        ({"buyerstatus": []}, {"buyerstatus"}),
        ({"buyerstatus": [{"status": 7}]}, {"buyerstatus"}),
        ({"buyerstatus": [{"buyerseatid": "other", "status": 1}]}, {"buyerstatus"}),
        ({"buyerstatus": [{"status": 1}, {"status": 1}]}, {"buyerstatus"}),
        ({"more": 1}, {"more"}),
    ],
)
def test_wrong_reports(
    manager: Caller, there: World, dsp: Dsp, changed: dict[str, Any], wrong: set[str]
) -> None:
    """A report that is not the specification's, or of another deal or seat, is refused and not stored."""
    deal, ada = sold(manager, there.ada), dsp(there.ada)
    path = f"deal_sync/{deal['deal_id']}/status/"
    body = {"version": "1.0", "id": deal["deal_id"], "buyerstatus": [{"status": 1}]} | changed
    assert ada.invalid("PUT", path, body).keys() == wrong
    assert ada.get(path)["buyerstatus"] == []


def test_who_may_do_what(http: httpx.Client, manager: Caller, viewer: Caller, there: World, dsp: Dsp) -> None:
    """Nothing without a token; a DSP's opens nothing else; people read documents, and report nothing."""
    deal, ada, nobody = sold(manager, there.ada), dsp(there.ada), Caller(http, None)
    path = f"deal_sync/{deal['deal_id']}/"
    report = {"version": "1.0", "id": deal["deal_id"], "buyerstatus": [{"status": 1}]}
    for address in ("deal_sync/", path, f"{path}status/"):
        assert "token is required" in nobody.detail("GET", address, 401)
        assert viewer.ask("GET", address).status_code == 200
    assert nobody.ask("PUT", f"{path}status/", report).status_code == 401
    for entity in ("supply_deals", "demand_deals", "seats", "dsps", "packages", "domain_lists"):
        assert "deal sync alone" in ada.detail("GET", f"{entity}/", 403)
        assert ada.ask("POST", f"{entity}/", {}).status_code == 403
    assert ada.ask("GET", f"demand_deals/{deal['id']}/history/").status_code == 403
    for person in (viewer, manager):
        assert "Only a DSP reports" in person.detail("PUT", f"{path}status/", 403, report)
    for method in ("POST", "DELETE", "PATCH"):
        assert ada.ask(method, path, {}).status_code == 405


def test_a_dsp_as_a_person(http: httpx.Client, desk: connect.Installation, there: World) -> None:
    """A DSP can be a person of its own: its tokens are for deal sync, whatever else they ask for."""
    name = f"dsp{next(NAMES)}"
    grant = DealsGrant.parse(f"sync:{there.ada}")
    desk.access.people.add(Person(name, name, None, "viewer", deals=grant), "a password")
    caller = Caller(http, issue(desk, name))
    assert caller.ask("GET", "deal_sync/").status_code == 200
    assert caller.ask("GET", "demand_deals/").status_code == 403
    for wanted in (f"read:{there.ada}", f"sync:{there.bob}"):
        with pytest.raises(BadRequest, match="so their token can't"):
            desk.access.issue(name, "deals", "test", None, deals=DealsGrant.parse(wanted))
    with pytest.raises(BadRequest, match="sync:3,7"):
        DealsGrant.parse("sync")


def test_settings(opened: OpenRow) -> None:
    """Seller, curator, price type and currency come from the settings; without an origin there is nothing."""
    told = {"deal_sync_origin": "ssp.example", "deal_sync_seller": "house.example"}
    told |= {"deal_sync_curator": "curator.example", "deal_sync_price_type": 3, "price_currency": "EUR"}
    shops = {"CPM": told, "CPC": told | {"price_unit": "CPC", "deal_sync_price_type": 0}}
    for unit, settings in shops.items():
        desk = opened(**settings)
        with embedded(desk.api) as http:
            manager = Caller(http, issue(desk))
            deal = sold(manager, world(manager).ada)
            [document] = documents(manager).values()
        assert (document["seller"], document["curation"]) == ("house.example", {"curator": "curator.example"})
        priced = {"dealfloor": 2.5, "cur": "EUR"} if unit == "CPM" else {}
        terms = {name: document["terms"].get(name) for name in ("dealfloor", "cur")}
        assert terms == {"dealfloor": None, "cur": None} | priced
        assert document["terms"]["pricetype"] == (3 if unit == "CPM" else 0)
        assert deal["deal_id"] == document["id"]
    desk = opened(deal_sync_origin="")
    with embedded(desk.api) as http:
        assert "deal_sync_origin" in Caller(http, issue(desk)).detail("GET", "deal_sync/", 404)


def test_the_later_of_dsp_and_buyer_is_the_status(
    manager: Caller, client: Deals, desk: connect.Installation, there: World, dsp: Dsp
) -> None:
    """What the DSP reports and what the buyer answers through a share link meet in one field and filter."""
    deal = client.get(DemandDeal, sold(manager, there.ada)["id"])
    store, terms = Negotiations(desk.access.store.engine, ""), OfferTerms(deal.price)

    def status() -> str | None:
        buyer_status = client.get(DemandDeal, deal.id or 0).buyer_status
        with desk.access.store.engine.begin() as connection:  # times are in whole seconds: an hour passes
            for column in (synced_deals.c.status_at, negotiation_rounds.c.at):
                for row in connection.execute(select(column).distinct()).scalars().all():
                    earlier = {column.name: row and row - dt.timedelta(hours=1)}
                    connection.execute(update(column.table).where(column == row).values(earlier))
        assert client.list(DemandDeal, buyer_status=buyer_status, id=deal.id).count == 1
        return buyer_status

    for number, (act, answered) in enumerate((("declines", "rejected"), ("accepts", "approved"))):
        reply = Round("buyer", act, terms if act == "accepts" else OfferTerms(), "Bea Buyer", "A word", 1)
        store.add(deal, terms, reply, store.of(deal, terms).mark)
        assert status() == answered
        report = {
            "version": "1.0",
            "id": deal.deal_id,
            "buyerstatus": [{"buyerseatid": seat_code(manager, there.ada), "status": 4 + number}],
        }
        assert dsp(there.ada).ask("PUT", f"deal_sync/{deal.deal_id}/status", report).status_code == 204
        assert status() == ("active", "paused")[number]


@pytest.mark.parametrize(
    ("entity", "field", "value"),
    [
        ("demand_deals", "price", 9.9),
        ("demand_deals", "units", 5000),
        ("demand_deals", "currency", "EUR"),
        ("demand_deals", "budget", 700),
        ("demand_deals", "buyer_note", "With other creatives"),
        ("supply_deals", "end_date", "2999-02-01 00:00:00+0000"),
        ("supply_deals", "media_type", "video"),
        ("supply_deals", "geo_targetings", [{"type": "country", "value": "FR"}]),
        ("demand_deals", "house_code", "B-17"),
    ],
)
def test_what_the_deal_does_not_have_is_not_approved(
    manager: Caller,
    client: Deals,
    desk: connect.Installation,
    there: World,
    entity: str,
    field: str,
    value: Any,
) -> None:
    """An acceptance of anything on the buyer's page that the deal has not any more is pending, in the filter
    too; what the page doesn't show changes nothing, and what goes back is approved again."""
    sold_body = sold(manager, there.ada, media_type="banner", end_date=LATER)
    manager.change(
        "demand_deals", sold_body["id"], deal_type="guaranteed", units=1000, currency="USD", budget=500
    )
    deal = client.get(DemandDeal, sold_body["id"])
    packages = [client.get(SupplyPackage, package.id or 0) for package in deal.supply_deals]
    usual = {"currency": "USD", "price_type": "floor"}
    store, terms = Negotiations(desk.access.store.engine, ""), OfferTerms.of(deal, packages, usual)
    store.add(deal, terms, Round("buyer", "accepts", terms, "Bea Buyer", "", 1), store.of(deal, terms).mark)

    def status() -> str | None:
        buyer_status = client.get(DemandDeal, sold_body["id"]).buyer_status
        for state in ("approved", "pending approval"):
            assert client.list(DemandDeal, buyer_status=state, id=sold_body["id"]).count == (
                state == buyer_status
            )
        return buyer_status

    assert status() == "approved"
    number = sold_body["id"] if entity == "demand_deals" else packages[0].id
    before = manager.get(f"{entity}/{number}/")[field]
    manager.change(entity, number, **{field: value})
    assert status() == ("approved" if field == "house_code" else "pending approval")
    manager.change(entity, number, **{field: before})
    assert status() == "approved"
