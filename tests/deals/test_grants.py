"""Who may see and change which deals: none, those of some seats, or those of all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import pytest
from sqlalchemy import event

from deals.caller import Caller, World, deals, option, package, unique
from deals.conftest import PASSWORD
from lib.people import DealsGrant, Grant, Person
from lib.serving import connect
from lib.wire.errors import BadRequest

NAMES = count(1)
HIDDEN = "others that you can't see"
As = Callable[..., Caller]


@dataclass(frozen=True)
class Sold:
    """A package that is sold to Ada's and Bob's seats, one to Bob's alone, and the deals."""

    shared: int
    bobs: int
    ada: int
    bob: int
    process_lock: int


@pytest.fixture
def sold(admin: Caller, there: World) -> Sold:
    """Made by an administrator."""
    both = deals(option(there.ada), option(there.bob))
    shared = admin.make("supply_deals", package(create_demand_deals=both))
    bobs = admin.make("supply_deals", package(create_demand_deals=deals(option(there.bob))))
    ada, bob = (deal["id"] for deal in shared["demand_deals"])
    return Sold(shared["id"], bobs["id"], ada, bob, bobs["demand_deals"][0]["id"])


@pytest.fixture
def granted(http: object, desk: connect.Installation) -> Iterator[As]:
    """Makes callers with a grant for deals, each a person of their own."""

    def make_caller(grant: str, role: str = "manager", token: str | None = None) -> Caller:
        name = f"granted{next(NAMES)}"
        desk.access.people.add(Person(name, name, None, role, deals=DealsGrant.parse(grant)), PASSWORD)  # type: ignore[arg-type]
        own = None if token is None else DealsGrant.parse(token)
        return Caller(http, desk.access.issue(name, "deals", "test", None, deals=own))  # type: ignore[arg-type]

    yield make_caller


@pytest.fixture
def ada(granted: As, there: World) -> Caller:
    """Somebody who may change the deals of Ada's seat and no others."""
    return granted(f"write:{there.ada}")


def test_a_person_sees_the_deals_of_their_seats(ada: Caller, sold: Sold, there: World) -> None:
    """Deals of other seats are in no list, no count, no search, no filter, and 404 by their id."""
    answer = ada.get("demand_deals/", limit=500)
    assert {result["seat"]["id"] for result in answer["results"]} == {there.ada}
    assert answer["count"] == len(answer["results"])
    sought = ada.get("demand_deals/", search=str(sold.bob), limit=500)["results"]
    assert sold.bob not in [result["id"] for result in sought]
    assert ada.get("demand_deals/", seat=there.bob)["count"] == 0
    for path in (f"demand_deals/{sold.bob}/", f"demand_deals/{sold.bob}/history/"):
        assert ada.detail("GET", path, 404) == f"There is no demand deal {sold.bob}"
    assert ada.detail("PUT", f"demand_deals/{sold.bob}/", 404, {"price": 9}) == ada.detail(
        "DELETE", f"demand_deals/{sold.bob}/", 404
    )


def test_a_package_is_seen_by_who_may_see_one_of_its_deals(ada: Caller, sold: Sold) -> None:
    """Of its deals those of their seats alone, in the package, its list and its history."""
    listed = {result["id"]: result for result in ada.get("supply_deals/", limit=500)["results"]}
    assert sold.shared in listed
    assert sold.bobs not in listed
    shown = ada.get(f"supply_deals/{sold.shared}/")
    assert [deal["id"] for deal in shown["demand_deals"]] == [sold.ada]
    assert listed[sold.shared]["demand_deals"] == shown["demand_deals"]
    [created] = ada.history("supply_deals", sold.shared)
    assert [deal["id"] for deal in created["after"]["demand_deals"]] == [sold.ada]
    assert ada.get("supply_deals/", demand_deals=sold.bob)["count"] == 0
    assert ada.get("supply_deals/", demand_deals=sold.ada)["count"] == 1
    for path in (f"supply_deals/{sold.bobs}/", f"supply_deals/{sold.bobs}/history/"):
        ada.detail("GET", path, 404)


def test_seats_and_dsps_of_others_are_not_there(ada: Caller, there: World) -> None:
    """Neither in lists nor by id; who is limited to seats does not set seats up, nor change them."""
    assert [result["id"] for result in ada.get("seats/")["results"]] == [there.ada]
    assert [result["id"] for result in ada.get("dsps/")["results"]] == [there.syncing]
    ada.detail("GET", f"seats/{there.bob}/", 404)
    ada.detail("GET", f"dsps/{there.plain}/history/", 404)
    ada.detail("PUT", f"seats/{there.bob}/", 404, {"name": "X"})
    assert "all seats" in ada.detail("PUT", f"seats/{there.ada}/", 403, {"name": "X"})
    assert "all seats" in ada.detail("POST", "dsps/", 403, {"name": unique("New")})
    assert "all seats" in ada.detail("DELETE", f"seats/{there.ada}/", 403)


def test_packages_are_sold_to_own_seats_alone(ada: Caller, there: World, sold: Sold) -> None:
    """A seat beyond the grant is refused as one that is not there, wherever it is given."""
    wrong = ada.wrong("supply_deals", **package(create_demand_deals=deals(option(there.bob))))
    missing = ada.wrong("supply_deals", **package(create_demand_deals=deals(option(10**9))))
    assert str(wrong).replace(str(there.bob), str(10**9)) == str(missing)
    deal = {"name": unique("Deal"), "seat": {"id": there.bob}, "price": 1}
    assert "There is no seat" in str(ada.wrong("demand_deals", **deal))
    moved = ada.invalid("PUT", f"demand_deals/{sold.ada}/", {"seat": {"id": there.bob}})
    assert moved == {"seat": {"id": [f"There is no seat {there.bob}."]}}
    legacy = {"name": unique("Old"), "seats": [{"value": True, "seat": {"id": there.bob}}]}
    assert "There is no seat" in str(ada.wrong("packages", **legacy))


def test_deals_of_others_can_not_be_linked(ada: Caller, sold: Sold) -> None:
    """Linking what may not be seen is refused as linking what is not there."""
    wrong = ada.wrong("supply_deals", **package(demand_deals=[{"id": sold.bob}]))
    assert wrong == {"demand_deals": [{"id": [f"There is no demand deal {sold.bob}."]}]}
    to = ada.invalid("PUT", f"demand_deals/{sold.ada}/", {"supply_deals": [{"id": sold.bobs}]})
    assert to == {"supply_deals": [{"id": [f"There is no supply package {sold.bobs}."]}]}


def test_hidden_links_stay_when_own_ones_are_changed(
    ada: Caller, admin: Caller, sold: Sold, there: World
) -> None:
    """Unlinking all deals that one sees leaves those that one doesn't; more can be linked beside them."""
    new = ada.make("demand_deals", {"name": unique("Deal"), "seat": {"id": there.ada}, "price": 1})["id"]
    ada.change("supply_deals", sold.shared, demand_deals=[{"id": sold.ada}, {"id": new}])
    linked = admin.get(f"supply_deals/{sold.shared}/")["demand_deals"]
    assert {deal["id"] for deal in linked} == {sold.ada, sold.bob, new}
    ada.change("supply_deals", sold.shared, demand_deals=[])
    assert [deal["id"] for deal in admin.get(f"supply_deals/{sold.shared}/")["demand_deals"]] == [sold.bob]
    ada.detail("GET", f"supply_deals/{sold.shared}/", 404)


def test_a_package_that_is_sold_to_others_too_is_not_theirs_to_change(
    ada: Caller, admin: Caller, sold: Sold
) -> None:
    """Its dates and targeting are others' as well: 403; once it is sold to own seats alone, 204."""
    before = admin.get(f"supply_deals/{sold.shared}/")
    said = ada.detail("PUT", f"supply_deals/{sold.shared}/", 403, {"is_active": False})
    assert "is sold to others too" in said
    assert admin.get(f"supply_deals/{sold.shared}/") == before
    admin.change("supply_deals", sold.shared, demand_deals=[{"id": sold.ada}])
    ada.change("supply_deals", sold.shared, is_active=False)
    ada.change("demand_deals", sold.ada, price=7)


def test_deleting_names_only_what_may_be_seen(ada: Caller, admin: Caller, sold: Sold) -> None:
    """406 names own deals, and says that there are others; without own ones it says that alone."""
    said = ada.detail("DELETE", f"supply_deals/{sold.shared}/", 406)
    assert f"{sold.ada} '" in said
    assert HIDDEN in said
    assert f"{sold.bob} '" not in said
    package_id = ada.make("supply_deals", package())["id"]
    admin.change("supply_deals", package_id, demand_deals=[{"id": sold.bob}])
    assert "demand deals that you can't see depend on it" in ada.detail(
        "DELETE", f"supply_deals/{package_id}/", 406
    )


def test_who_made_a_package_sees_it(ada: Caller, granted: As, there: World) -> None:
    """Also without a deal, and after it is removed its history; others of the same seat don't see it."""
    package_id = ada.make("supply_deals", package())["id"]
    assert package_id in [result["id"] for result in ada.get("supply_deals/", limit=500)["results"]]
    other = granted(f"write:{there.ada}")
    other.detail("GET", f"supply_deals/{package_id}/", 404)
    ada.remove("supply_deals", package_id)
    assert ada.history("supply_deals", package_id)[0]["action"] == "removed"
    other.detail("GET", f"supply_deals/{package_id}/history/", 404)


def test_a_namesake_sees_nothing_of_who_had_the_name_before(
    desk: connect.Installation, ada: Caller, there: World
) -> None:
    """Packages and idempotency keys of a person who was removed are not those of another of that name."""
    whose = desk.access.caller(ada.token or "", "deals").person
    key, body = {"Idempotency-Key": unique("key")}, package()
    package_id = ada.make("supply_deals", body, key)["id"]
    desk.access.people.remove(whose.username)
    with desk.access.store.engine.begin() as connection:
        for table in ("supply_packages", "idempotency_keys"):
            column = "created_at" if table == "supply_packages" else "at"
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = '2026-01-01 00:00:00+00:00'")
    desk.access.people.add(Person(whose.username, "Namesake", None, "manager", deals=whose.deals), PASSWORD)
    namesake = Caller(ada.http, desk.access.issue(whose.username, "deals", "test", None))
    namesake.detail("GET", f"supply_deals/{package_id}/", 404)
    assert namesake.make("supply_deals", body, key)["id"] != package_id


def test_the_past_of_a_deal_at_another_seat_is_hidden(
    ada: Caller, admin: Caller, sold: Sold, there: World
) -> None:
    """A deal that came from another seat shows its history from then on, without what it was before."""
    admin.change("demand_deals", sold.bob, price=123.25)
    admin.change("demand_deals", sold.bob, seat={"id": there.ada}, name=unique("Moved"))
    ada.change("demand_deals", sold.bob, price=4)
    latest, moved = ada.history("demand_deals", sold.bob)
    assert latest["before"]["price"] is not None
    assert moved["before"] == {"name": None, "seat": None}
    assert moved["after"]["seat"]["id"] == there.ada
    assert "123.25" not in str(moved)
    ada.remove("demand_deals", sold.bob)
    assert ada.history("demand_deals", sold.bob)[0]["action"] == "removed"


def test_a_conflict_says_nothing_of_hidden_deals(
    ada: Caller, admin: Caller, sold: Sold, there: World
) -> None:
    """A stale edit is told what changed meanwhile, as far as it may be seen."""
    etag = ada.ask("GET", f"supply_deals/{sold.shared}/").headers["etag"]
    other = admin.make("demand_deals", {"name": "Secret plan", "seat": {"id": there.bob}, "price": 1})["id"]
    linked = [{"id": number} for number in (sold.ada, sold.bob, other)]
    admin.change("supply_deals", sold.shared, demand_deals=linked)
    answer = ada.ask("PUT", f"supply_deals/{sold.shared}/", {"demand_deals": []}, {"If-Match": etag})
    assert answer.status_code == 409
    assert "Secret plan" not in answer.text


def test_views_that_differ_have_tags_that_differ(ada: Caller, admin: Caller, sold: Sold) -> None:
    """What one person's tag names is never taken for another one's view: 304 is for an equal body alone."""
    for path in (
        f"supply_deals/{sold.shared}/",
        f"supply_deals/?id={sold.shared}",
        "demand_deals/",
        "seats/",
    ):
        whole, own = (caller.ask("GET", path) for caller in (admin, ada))
        assert (whole.headers["etag"] == own.headers["etag"]) == (whole.content == own.content)
        answer = ada.ask("GET", path, headers={"If-None-Match": whole.headers["etag"]})
        assert answer.status_code == (304 if whole.content == own.content else 200)
        if answer.status_code == 200:
            assert answer.content == own.content
    assert ada.get(f"supply_deals/{sold.shared}/") != admin.get(f"supply_deals/{sold.shared}/")


def test_a_repeated_request_answers_what_may_be_seen_now(
    desk: connect.Installation, granted: As, there: World
) -> None:
    """The first answer comes again without the deals of seats that were taken away since."""
    both = granted(f"write:{there.ada},{there.bob}")
    key = {"Idempotency-Key": unique("key")}
    body = package(create_demand_deals=deals(option(there.ada), option(there.bob)))
    first = both.make("supply_deals", body, key)
    username = desk.access.caller(both.token or "", "deals").person.username
    desk.access.people.change(username, deals=DealsGrant("write", frozenset({there.ada})))
    again = both.make("supply_deals", body, key)
    assert again["id"] == first["id"]
    assert again["demand_deals"] == first["demand_deals"][:1]


def test_lists_belong_to_no_seat(ada: Caller, admin: Caller, there: World, sold: Sold) -> None:
    """All who may see deals see them; they are changed by who may change every package that uses them."""
    own = ada.make("domain_lists", {"name": unique("Own"), "domains": ["a.example"]})["id"]
    ada.change("domain_lists", own, domains=["b.example"])
    used = [{"id": own, "is_excluded": False}]
    mine = ada.make("supply_deals", package(domain_list_targetings=used))["id"]
    ada.change("domain_lists", own, domains=["c.example"])
    admin.change("supply_deals", sold.bobs, domain_list_targetings=used)
    assert "packages that you may not change" in ada.detail(
        "PUT", f"domain_lists/{own}/", 403, {"domains": []}
    )
    said = ada.detail("DELETE", f"domain_lists/{own}/", 406)
    assert f"{mine} '" in said
    assert HIDDEN in said
    assert f"{sold.bobs} '" not in said
    assert ada.get(f"app_lists/{there.apps}/")["id"] == there.apps


def test_legacy_packages_hide_the_seats_of_others(
    ada: Caller, admin: Caller, sold: Sold, there: World
) -> None:
    """Seats and deals of others are left out, and stay when own seats are chosen again."""
    chosen = [{"value": True, "seat": {"id": there.ada}}, {"value": True, "seat": {"id": there.bob}}]
    new_package = admin.make(
        "packages", {"name": unique("Old"), "seats": chosen, "supply_deals": [{"id": sold.shared}]}
    )
    shown = ada.get(f"packages/{new_package['id']}/")
    assert [seat["seat"]["id"] for seat in shown["seats"]] == [there.ada]
    assert len(shown["demand_deals"]) == 1
    assert ada.get(f"supply_deals/{sold.shared}/")["packages"] == [
        {"id": new_package["id"], "name": new_package["name"]}
    ]
    ada.detail("PUT", f"packages/{new_package['id']}/", 403, {"name": "Mine"})
    ada.change("packages", new_package["id"], seats=chosen[:1])
    assert [seat["seat"]["id"] for seat in admin.get(f"packages/{new_package['id']}/")["seats"]] == [
        there.ada,
        there.bob,
    ]
    hidden = admin.make("packages", {"name": unique("Old"), "seats": chosen[1:]})
    ada.detail("GET", f"packages/{hidden['id']}/", 404)


def test_who_may_read_changes_nothing(granted: As, sold: Sold, there: World) -> None:
    """403 for each change, whatever the role; what may not be seen stays 404 to reading."""
    reader = granted(f"read:{there.ada}")
    assert reader.get(f"demand_deals/{sold.ada}/")["id"] == sold.ada
    reader.detail("GET", f"demand_deals/{sold.bob}/", 404)
    reader.detail("PUT", f"demand_deals/{sold.ada}/", 403, {"price": 1})
    reader.detail("POST", "supply_deals/", 403, package())


def test_who_may_see_no_deals_has_no_access(desk: connect.Installation, granted: As) -> None:
    """401 for everything, and no token: neither a permanent one nor one for a password."""
    somebody = granted("read")
    username = desk.access.caller(somebody.token or "", "deals").person.username
    desk.access.people.change(username, deals=DealsGrant("none"))
    assert "has no access to deals" in somebody.detail("GET", "supply_deals/", 401)
    with pytest.raises(BadRequest, match="has no access to deals"):
        desk.access.issue(username, "deals", "test", None)
    form = {"grant_type": "password", "username": username, "password": PASSWORD, "scope": "service_id=deals"}
    answer = somebody.http.post("/oauth2/token/", data=form)
    assert (answer.status_code, answer.json()["error"]) == (401, "access_denied")


def test_a_token_opens_at_most_what_its_owner_has(
    desk: connect.Installation, granted: As, sold: Sold, there: World
) -> None:
    """Less if it is granted less; what its owner loses, it loses too."""
    reader = granted("write", token=f"read:{there.ada}")
    assert reader.get("demand_deals/", seat=there.bob)["count"] == 0
    reader.detail("GET", f"demand_deals/{sold.bob}/", 404)
    reader.detail("PUT", f"demand_deals/{sold.ada}/", 403, {"price": 1})
    owner = desk.access.caller(reader.token or "", "deals").person.username
    desk.access.people.change(owner, deals=DealsGrant("write", frozenset({there.bob})))
    reader.detail("GET", f"demand_deals/{sold.ada}/", 401)
    with pytest.raises(BadRequest, match="so their token can't see all deals"):
        desk.access.issue(owner, "deals", "test", None, deals=DealsGrant("read"))
    with pytest.raises(BadRequest, match="Deals belong to no project"):
        desk.access.issue(owner, "deals", "test", None, grants=(Grant("demo"),))


def test_a_token_for_some_seats_does_not_see_what_its_owner_made(
    granted: As, there: World, desk: connect.Installation
) -> None:
    """Whoever gets such a token sees the packages that were made with it, not all that its owner made."""
    owner = granted("write")
    package_id = owner.make("supply_deals", package())["id"]
    name = desk.access.caller(owner.token or "", "deals").person.username
    narrow = DealsGrant("write", frozenset({there.ada}))
    handed = Caller(owner.http, desk.access.issue(name, "deals", "handed over", None, deals=narrow))
    handed.detail("GET", f"supply_deals/{package_id}/", 404)
    own = handed.make("supply_deals", package())["id"]
    assert handed.get(f"supply_deals/{own}/")["id"] == own


def test_the_filter_is_the_databases(desk: connect.Installation, ada: Caller, sold: Sold) -> None:
    """A page for somebody with some seats reads as many rows as it shows: no more queries than for others."""
    asked: list[str] = []
    engine = desk.access.store.engine

    def note(*call: object) -> None:
        asked.append(str(call[2]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        ada.get("demand_deals/", limit=1)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    [counted] = [text for text in asked if "count(*)" in text]
    assert "seat_id IN" in counted


def test_hidden_deals_are_no_way_to_a_package(ada: Caller, admin: Caller, sold: Sold, there: World) -> None:
    """A package is not found, filtered, counted or ordered by deals of seats that the caller can't see."""
    other = admin.make("supply_deals", package(create_demand_deals=deals(option(there.ada, 5))))
    contact = f"{unique('hidden').replace(' ', '-')}@buyer.example"
    admin.change("demand_deals", sold.bob, price=1, contact_email=contact)
    admin.change("demand_deals", sold.ada, price=7)
    hidden = admin.get(f"demand_deals/{sold.bob}/")
    for text in (hidden["deal_id"], contact):
        assert admin.get("supply_deals/", search=text)["count"] == 1
        assert ada.get("supply_deals/", search=text)["count"] == 0
    assert ada.get("supply_deals/", seat=there.bob)["count"] == 0
    assert ada.get("supply_deals/", counts="seat")["counts"]["seat"].keys() == {str(there.ada)}
    [theirs, all_of_them] = (
        [result["id"] for result in by.get("supply_deals/", ordering="price", limit=500)["results"]]
        for by in (ada, admin)
    )
    assert theirs.index(other["id"]) < theirs.index(sold.shared)
    assert all_of_them.index(other["id"]) > all_of_them.index(sold.shared)
