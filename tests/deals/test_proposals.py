"""Proposals: made, approved once, edited, declined, and stale ones; once per database and transport."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from deals.caller import Body, Caller, World, deals, option, package, unique
from deals.conftest import PASSWORD
from lib.people import DealsGrant, Person
from lib.serving import connect

OPEN = {"state": "open", "decided_by": None, "word": "", "applied_id": None}
REASON = "Win rate has fallen since the floor was raised"


@pytest.fixture(scope="session")
def proposer(http: Any, desk: connect.Installation) -> Caller:
    """Somebody who may propose changes and make none."""
    if desk.people.get("polly") is None:
        grant = DealsGrant("propose")
        desk.people.add(Person("polly", "Polly Proposer", None, "viewer", deals=grant), PASSWORD)
    return Caller(http, desk.access.issue("polly", "deals", "agent", None))


@pytest.fixture
def deal(manager: Caller, there: World) -> Body:
    """A deal at a price of 2.50."""
    supply = [{"id": manager.make("supply_deals", package())["id"]}]
    return manager.make(
        "demand_deals", {"name": unique("Deal"), **option(there.ada, 2.5), "supply_deals": supply}
    )


def propose(caller: Caller, **body: Any) -> Body:
    """A new proposal."""
    return caller.make("proposals", {"reason": REASON} | body)


def of_price(caller: Caller, deal: Body, price: float = 2.75, **body: Any) -> Body:
    """A proposal of another price."""
    return propose(caller, entity="demand_deals", entity_id=deal["id"], fields={"price": price}, **body)


def approve(caller: Caller, proposal: Body, **body: Any) -> Body:
    """The proposal, approved."""
    answer = caller.ask("POST", f"proposals/{proposal['id']}/approve/", body)
    assert answer.status_code == 200, answer.text
    return caller.get(f"proposals/{proposal['id']}/")


def test_a_change_is_proposed_and_approved(proposer: Caller, manager: Caller, deal: Body) -> None:
    """A proposal changes nothing; approved it does, in the name of who approved it."""
    price = of_price(proposer, deal)
    assert price.items() >= (OPEN | {"by": "polly", "name": deal["name"], "reason": REASON}).items()
    assert price["changes"] == [{"field": "price", "before": deal["price"], "after": pytest.approx(2.75)}]
    assert manager.get(f"demand_deals/{deal['id']}/") == deal
    done = approve(manager, price)
    assert (done["state"], done["decided_by"], done["applied_id"]) == ("approved", "manager", deal["id"])
    assert float(manager.get(f"demand_deals/{deal['id']}/")["price"]) == 2.75
    assert manager.history("demand_deals", deal["id"])[0]["who"] == "manager"


def test_a_package_is_created_once_however_often_it_is_approved(
    proposer: Caller, manager: Caller, there: World
) -> None:
    """Approvals one after the other, and at the same time, create one package with its deals."""
    body = package(create_demand_deals=deals(option(there.ada), option(there.bob)))
    proposal = propose(proposer, fields=body)
    with ThreadPoolExecutor(6) as pool:
        codes = [
            *pool.map(
                lambda _: manager.ask("POST", f"proposals/{proposal['id']}/approve/", {}).status_code,
                range(6),
            )
        ]
    assert 200 in codes
    assert set(codes) <= {200, 409}
    done = approve(manager, proposal)
    answer = manager.get("supply_deals/", search=body["name"])
    assert [result["id"] for result in answer["results"]] == [done["applied_id"]]
    assert len(answer["results"][0]["demand_deals"]) == 2


def test_who_may_not_write_can_not_approve(
    proposer: Caller, viewer: Caller, manager: Caller, deal: Body
) -> None:
    """Who may propose can't approve, and who may only read can do neither; nothing was changed."""
    price = of_price(proposer, deal)
    path = f"proposals/{price['id']}"
    assert "but not approve" in proposer.detail("POST", f"{path}/approve/", 403, {})
    for what, body in (("approve", {}), ("decline", {"word": "No"})):
        viewer.detail("POST", f"{path}/{what}/", 403, body)
    viewer.detail("POST", "proposals/", 403, {"fields": package(), "reason": "x"})
    proposer.detail("PUT", f"demand_deals/{deal['id']}/", 403, {"price": 1})
    assert manager.get(f"{path}/")["state"] == "open"


def test_a_token_that_only_reads_approves_nothing(
    desk: connect.Installation, http: Any, proposer: Caller, deal: Body
) -> None:
    """Not even an administrator's."""
    price = of_price(proposer, deal)
    for grant, what in (("read", "propose"), ("propose", "approve")):
        token = desk.access.issue("admin", "deals", grant, None, deals=DealsGrant.parse(grant))
        caller = Caller(http, token)
        path = "proposals/" if what == "propose" else f"proposals/{price['id']}/approve/"
        body = {"fields": package(), "reason": "x"} if what == "propose" else {}
        caller.detail("POST", path, 403, body)


def test_edits_are_applied_in_place_of_the_proposal(proposer: Caller, manager: Caller, deal: Body) -> None:
    """With other fields these are applied, and said to be edited."""
    done = approve(manager, of_price(proposer, deal), fields={"price": 3.1})
    assert (done["is_edited"], done["state"]) == (True, "approved")
    assert float(manager.get(f"demand_deals/{deal['id']}/")["price"]) == 3.1


def test_a_declined_proposal_stays_declined(proposer: Caller, manager: Caller, deal: Body) -> None:
    """It has the word, can't be approved any more, and its proposer can take back an open one."""
    price = of_price(proposer, deal)
    path = f"proposals/{price['id']}"
    assert manager.ask("POST", f"{path}/decline/", {"word": "Too dear"}).status_code == 200
    assert manager.get(f"{path}/")["word"] == "Too dear"
    assert "has declined" in manager.detail("POST", f"{path}/approve/", 409, {})
    mine = of_price(proposer, deal, 2.8)
    assert proposer.ask("POST", f"proposals/{mine['id']}/decline/", {"word": "A slip"}).status_code == 200


def test_what_others_changed_stays(proposer: Caller, manager: Caller, deal: Body) -> None:
    """A field that the proposal doesn't touch keeps what somebody else made of it meanwhile."""
    price = of_price(proposer, deal)
    manager.change("demand_deals", deal["id"], buyer_note="Call first")
    approve(manager, price)
    now = manager.get(f"demand_deals/{deal['id']}/")
    assert (float(now["price"]), now["buyer_note"]) == (2.75, "Call first")


def test_a_conflict_is_named_and_settled_on_purpose(proposer: Caller, manager: Caller, deal: Body) -> None:
    """Where somebody changed the same field, nothing is applied unless it is to be overwritten."""
    price = of_price(proposer, deal)
    manager.change("demand_deals", deal["id"], price=4)
    refused = manager.detail("POST", f"proposals/{price['id']}/approve/", 409, {})
    assert refused.endswith("nothing was applied: price")
    assert float(manager.get(f"demand_deals/{deal['id']}/")["price"]) == 4
    assert approve(manager, price, overwrites=True)["state"] == "approved"
    assert float(manager.get(f"demand_deals/{deal['id']}/")["price"]) == 2.75


def test_a_refusal_of_the_service_leaves_it_open(proposer: Caller, manager: Caller, there: World) -> None:
    """A seat that is not there: the service's words, and it can be approved with edits."""
    proposal = propose(proposer, fields=package(create_demand_deals=deals(option(10**9))))
    refused = manager.invalid("POST", f"proposals/{proposal['id']}/approve/", {})
    assert "create_demand_deals" in refused
    assert manager.get(f"proposals/{proposal['id']}/")["state"] == "open"
    better = package(create_demand_deals=deals(option(there.bob)))
    assert approve(manager, proposal, fields=better)["state"] == "approved"


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"fields": {"price": "much"}, "entity": "demand_deals", "entity_id": 1}, "fields"),
        ({"fields": {"name": "x"}}, "fields"),
        ({"fields": {}, "entity": "demand_deals", "entity_id": 1}, "fields"),
        ({"fields": {"price": 1}, "entity": "demand_deals"}, "entity_id"),
        ({"fields": {"price": 1}, "entity": "seats", "entity_id": 1}, "entity"),
        ({"reason": "\u202edecline me", "fields": package()}, "reason"),
        ({"reason": " ", "fields": package()}, "reason"),
        ({"expected": {"low": 2, "high": 1}, "fields": package()}, "expected"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_refused(proposer: Caller, body: Body, place: str) -> None:
    """Each error at its place, before anybody sees the proposal."""
    assert place in proposer.invalid("POST", "proposals/", {"reason": REASON} | body)


EXPECTED = {
    "project": "demo", "slicer": "sold", "field": "bids", "first_day": "2026-12-01", "last_day": "2026-12-07",
    "low": 1, "high": 9, "range_held": 27, "past_periods_tested": 30,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"low": 10}, "low"),
        ({"last_day": "2026-11-30"}, "first_day"),
        ({"range_held": 31}, "range_held"),
        ({"range_held": None}, "range_held"),
        ({"past_periods_tested": None}, "range_held"),
        ({"past_periods_tested": -1}, "past_periods_tested"),
        ({"unscaled": {"low": 1, "high": 2, "scale": 2}}, "unscaled"),
    ],
)
def test_an_expected_range_is_in_order(proposer: Caller, deal: Body, changes: Body, place: str) -> None:
    """Its ends, days and counts; what can't be is refused at its place, and what can is returned."""
    of_deal = {"reason": REASON, "entity": "demand_deals", "entity_id": deal["id"], "fields": {"price": 3}}
    problems = proposer.invalid("POST", "proposals/", of_deal | {"expected": EXPECTED | changes})
    assert place in problems["expected"]
    proposal = proposer.make("proposals", of_deal | {"expected": EXPECTED})
    assert proposal["expected"].items() >= EXPECTED.items()


def test_a_repeat_is_the_first_proposal(proposer: Caller, deal: Body) -> None:
    """The same proposal again, while it is open, is one."""
    assert of_price(proposer, deal, 2.9)["id"] == of_price(proposer, deal, 2.9)["id"]


def test_nobody_proposes_what_they_can_not_see(
    desk: connect.Installation, http: Any, there: World, deal: Body
) -> None:
    """A deal of another seat is not there, nor are the proposals of others."""
    token = desk.access.issue("polly", "deals", "bob", None, deals=DealsGrant.parse(f"propose:{there.bob}"))
    limited = Caller(http, token)
    body = {"entity": "demand_deals", "entity_id": deal["id"], "fields": {"price": 1}, "reason": "x"}
    limited.detail("POST", "proposals/", 404, body)
    assert limited.get("proposals/")["results"] == []


def test_the_list_is_filtered_by_state(proposer: Caller, manager: Caller, deal: Body) -> None:
    """The latest first; an unknown state is refused."""
    ids = [of_price(proposer, deal, 5 + amount)["id"] for amount in range(2)]
    manager.ask("POST", f"proposals/{ids[0]}/decline/", {"word": "No"})
    listed = [result["id"] for result in manager.get("proposals/", state="open", limit=500)["results"]]
    assert ids[1] in listed
    assert ids[0] not in listed
    assert listed == sorted(listed, reverse=True)
    assert "state" in manager.invalid("GET", "proposals/", state="new")


def test_it_is_in_the_audit_log(
    desk: connect.Installation, proposer: Caller, manager: Caller, deal: Body
) -> None:
    """Who proposed what, who approved it, and whatever anybody wrote is only text there."""
    approve(manager, of_price(proposer, deal, reason="<img src=x onerror=alert(1)> =1+1"))
    events = desk.access.audit.entries(50)[1]
    assert {("polly", "proposal made"), ("manager", "proposal approved")} <= {
        (event.who, event.event) for event in events
    }


@pytest.mark.parametrize("grant", ["read", "propose", "none"])
def test_rights_are_those_of_the_moment_of_approval(
    desk: connect.Installation, http: Any, proposer: Caller, manager: Caller, deal: Body, grant: str
) -> None:
    """Who lost the grant to change deals while a proposal waited approves nothing; it stays open."""
    proposal, name = of_price(proposer, deal), unique("approver").lower().replace(" ", "")
    desk.people.add(Person(name, "Approver", None, "manager", deals=DealsGrant("write")), PASSWORD)
    approver = Caller(http, desk.access.issue(name, "deals", "test", None))
    assert approver.get(f"proposals/{proposal['id']}/")["state"] == "open"
    desk.access.change(name, "admin", deals=DealsGrant(grant))
    answer = approver.ask("POST", f"proposals/{proposal['id']}/approve/", {})
    assert answer.status_code in (401, 403), answer.text
    assert manager.get(f"demand_deals/{deal['id']}/") == deal
    assert manager.get(f"proposals/{proposal['id']}/")["state"] == "open"


def test_an_approver_of_other_seats_now(
    desk: connect.Installation, http: Any, proposer: Caller, manager: Caller, there: World, deal: Body
) -> None:
    """Who sees the deals of another seat alone by now gets the words of a proposal that never was."""
    proposal, name = of_price(proposer, deal), unique("approver").lower().replace(" ", "")
    desk.people.add(Person(name, "Approver", None, "manager", deals=DealsGrant("write")), PASSWORD)
    approver = Caller(http, desk.access.issue(name, "deals", "test", None))
    desk.access.change(name, "admin", deals=DealsGrant("write", frozenset({there.bob})))
    detail = approver.detail("POST", f"proposals/{proposal['id']}/approve/", 404, {})
    assert detail.replace(str(proposal["id"]), "N") == "There is no proposal N"
    assert manager.get(f"demand_deals/{deal['id']}/") == deal


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"deal_type": "guaranteed"}, "units"),
        ({"deal_type": "preferred", "price_type": "floor"}, "price_type"),
        ({"agency_curation_fee": 3}, "agency_curation_fee_type"),
    ],
)
def test_what_the_write_refuses_is_not_proposed(proposer: Caller, deal: Body, fields: Body, at: str) -> None:
    """Terms that don't go together with those of the deal are refused when they are proposed."""
    body = {"entity": "demand_deals", "entity_id": deal["id"], "fields": fields, "reason": REASON}
    assert at in proposer.invalid("POST", "proposals/", body)["fields"]


def test_a_new_package_that_can_not_be_is_not_proposed(proposer: Caller, there: World) -> None:
    """A package that ends before it starts, with a guarantee without units, is refused at both places."""
    new = deals(option(there.ada), deal_type="guaranteed")
    fields = package(create_demand_deals=new, end_date="2020-01-01 00:00:00+0000")
    wrong = proposer.invalid("POST", "proposals/", {"fields": fields, "reason": REASON})["fields"]
    assert "end_date" in wrong
    assert "units" in wrong["create_demand_deals"]


def test_a_proposal_answers_with_the_warnings_of_its_write(
    proposer: Caller, manager: Caller, deal: Body, there: World
) -> None:
    """What an approval would be warned of its proposer reads at once, of a new deal with its seat; sent once
    more it is the same proposal with the same warnings, and nothing is written."""

    def warnings(**body: Any) -> list[str]:
        answer = proposer.ask("POST", "proposals/", {"reason": REASON} | body)
        assert answer.status_code == 201, answer.text
        return [*answer.json()["warnings"]]

    change = {"entity": "demand_deals", "entity_id": deal["id"]}
    for _ in range(2):
        assert warnings(**change, fields={"price": 17.5}) == [
            "A price of 17.50, 7 times the price before (2.50)."
        ]
    assert manager.get(f"demand_deals/{deal['id']}/") == deal
    body = package(
        create_demand_deals=deals(option(there.ada, 2), option(there.bob, 20), option(there.cleo, 2.2))
    )
    [sentence] = warnings(fields=body)
    seat = manager.get(f"seats/{there.bob}/")["name"]
    assert sentence == f"{seat}: A price of 20.00, 9.09 times the highest other price in the package (2.20)."
    assert warnings(**change, fields={"price": 2.6}) == []


def test_an_approval_answers_with_warnings(proposer: Caller, manager: Caller, deal: Body) -> None:
    """A price that is seven times the one before is applied, and the answer says so."""
    price = of_price(proposer, deal, 17.5)
    answer = manager.ask("POST", f"proposals/{price['id']}/approve/", {})
    assert "17.5" in answer.json()["warnings"][0]


def test_nobody_approves_their_own(manager: Caller, deal: Body) -> None:
    """Who may write and has proposed it may take it back; somebody else approves it."""
    price = of_price(manager, deal)
    assert "Somebody else" in manager.detail("POST", f"proposals/{price['id']}/approve/", 403, {})
    assert manager.get(f"proposals/{price['id']}/")["state"] == "open"
    assert float(manager.get(f"demand_deals/{deal['id']}/")["price"]) == 2.5
    assert manager.ask("POST", f"proposals/{price['id']}/decline/", {"word": "No"}).status_code == 200


def test_history_and_proposal_name_the_token(proposer: Caller, manager: Caller, deal: Body) -> None:
    """What came through a permanent token says through which, beside the person."""
    price = of_price(proposer, deal)
    done = approve(manager, price)
    manager_token = manager.history("demand_deals", deal["id"])[0]["token"]
    assert (done["by"], done["token"]) == ("polly", "agent")
    assert (done["decided_by"], done["decided_token"]) == ("manager", manager_token)
    assert manager_token
