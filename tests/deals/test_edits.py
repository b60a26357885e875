"""Several people edit: ETag and If-Match, history, what depends on what, duplicates, repeated requests."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from deals.caller import INVALID, Caller, World, deals, option, package, unique


@pytest.fixture
def deal(manager: Caller, there: World) -> dict[str, Any]:
    """A demand deal on a supply package."""
    package_body = manager.make(
        "supply_deals", package(create_demand_deals=deals(option(there.ada, Decimal("2.5"))))
    )
    return manager.get(f"demand_deals/{package_body['demand_deals'][0]['id']}/")


def etag(caller: Caller, path: str) -> str:
    """The ETag of what is there now."""
    return caller.ask("GET", path).headers["etag"]


def test_the_second_editor_learns_what_changed(manager: Caller, admin: Caller, deal: dict[str, Any]) -> None:
    """Two read the same state: the first to save wins; the second gets 409 with field, values, who, when."""
    path = f"demand_deals/{deal['id']}/"
    read = etag(manager, path)
    admin.change("demand_deals", deal["id"], {"If-Match": read}, price=3, is_active=False)
    answer = manager.ask("PUT", path, {"price": 4}, {"If-Match": read})
    assert answer.status_code == 409
    detail = answer.json()["detail"]
    assert "price from 2.5 to 3, by admin at 20" in detail
    assert "is_active from true to false" in detail
    assert manager.get(path)["price"] == 3
    assert manager.ask("DELETE", path, headers={"If-Match": read}).status_code == 409
    manager.change("demand_deals", deal["id"], {"If-Match": etag(manager, path)}, price=4)
    manager.change("demand_deals", deal["id"], price=5)
    assert manager.get(path)["price"] == 5


def test_etags(manager: Caller, deal: dict[str, Any]) -> None:
    """GET, POST and PUT name the state; it changes when a field does, and only then. That of a GET and a POST
    has a digest of the content behind it."""
    path = f"demand_deals/{deal['id']}/"
    first = etag(manager, path)
    assert etag(manager, path) == first
    same = manager.ask("PUT", path, {"price": deal["price"]})
    assert (same.status_code, same.headers["etag"]) == (204, first.partition(".")[0] + '"')
    other, read = manager.ask("PUT", path, {"price": 7}).headers["etag"], etag(manager, path)
    assert (read.partition(".")[0] + '"', read != first) == (other, True)
    for good in (other, read, f'"x", {other}', "*", f'W/"x", {read}'):
        assert manager.ask("PUT", path, {}, {"If-Match": good}).status_code == 204
    for bad in ('"x"', "x", "", first, f"W/{other}", f"W/{read}"):
        assert manager.ask("PUT", path, {}, {"If-Match": bad}).status_code == 409, bad
    answer = manager.ask("POST", "dsps/", {"name": unique("DSP")})
    assert answer.headers["etag"] == etag(manager, f"dsps/{answer.json()['id']}/")


def test_what_was_read_already_is_not_sent_again(manager: Caller, deal: dict[str, Any], there: World) -> None:
    """A list, one of its pages, and an entity are answered by 304 without a body while they read the same; a
    name of another entity changes the tag, and an edit of what was read before is no conflict for it."""
    seat = manager.get(f"seats/{there.ada}/")
    paths = (
        f"demand_deals/{deal['id']}/",
        f"demand_deals/?id={deal['id']}",
        "demand_deals/?limit=1&ordering=-id",
    )
    tags = [etag(manager, path) for path in paths]
    for path, tag in zip(paths, tags, strict=True):
        for method, sent in (("GET", tag), ("HEAD", f'"x", W/{tag}'), ("GET", "*")):
            again = manager.ask(method, path, headers={"If-None-Match": sent})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert manager.ask("GET", path, headers={"If-None-Match": f'"x", {tag[:-2]}"'}).status_code == 200
    manager.change("seats", there.ada, name=unique("Renamed"))
    try:
        for path, tag in zip(paths, tags, strict=True):
            now = manager.ask("GET", path, headers={"If-None-Match": tag})
            assert (now.status_code, now.headers["etag"] != tag) == (200, True)
        answer = manager.ask("PUT", paths[0], {"price": 9}, {"If-Match": tags[0]})
        assert answer.status_code == 204, "the deal itself is as it was read"
    finally:
        manager.change("seats", there.ada, name=seat["name"])


def test_a_weak_etag_matches_nothing(manager: Caller, deal: dict[str, Any]) -> None:
    """If-Match compares strongly (RFC 9110, 13.1.1); the refusal says how to get a strong ETag."""
    path = f"demand_deals/{deal['id']}/"
    answer = manager.ask("PUT", path, {"price": 9}, {"If-Match": f"W/{etag(manager, path)}"})
    assert answer.status_code == 409
    assert "Accept-Encoding: identity" in answer.json()["detail"]
    assert manager.get(path)["price"] == deal["price"]


def test_linking_changes_both_ends(manager: Caller, deal: dict[str, Any], there: World) -> None:
    """A deal linked from its own side changes the package too: an edit of the old list is stale."""
    other = manager.make("supply_deals", package())
    path = f"supply_deals/{other['id']}/"
    read = etag(manager, path)
    manager.change("demand_deals", deal["id"], supply_deals=[{"id": other["id"]}])
    answer = manager.ask("PUT", path, {"demand_deals": []}, {"If-Match": read})
    assert answer.status_code == 409
    assert "demand_deals from [] to " in answer.json()["detail"]
    assert manager.history("supply_deals", other["id"])[0]["after"] == {
        "demand_deals": [{"id": deal["id"], "name": deal["name"]}]
    }


def test_history(manager: Caller, admin: Caller, deal: dict[str, Any], there: World) -> None:
    """Who, when, what, before and after: of creation, of each change, of removal; nothing for no change."""
    admin.change("demand_deals", deal["id"], price=Decimal("3.1"), seat={"id": there.bob})
    admin.change("demand_deals", deal["id"], price=Decimal("3.10"))
    manager.remove("demand_deals", deal["id"])
    removed, changed, created = manager.history("demand_deals", deal["id"])
    assert [edit["who"] for edit in (removed, changed, created)] == ["manager", "admin", "manager"]
    assert (created["before"], created["after"]["price"], created["at"]) == (
        None,
        Decimal("2.5"),
        deal["created_at"],
    )
    ada, bob = (
        {"id": seat_id, "name": manager.get(f"seats/{seat_id}/")["name"]}
        for seat_id in (there.ada, there.bob)
    )
    assert changed["before"] == {"price": Decimal("2.5"), "seat": ada}
    assert changed["after"] == {"price": Decimal("3.1"), "seat": bob}
    assert (removed["after"], removed["before"]["price"]) == (None, Decimal("3.1"))
    supply = deal["supply_deals"][0]["id"]
    unlinked, creation = manager.history("supply_deals", supply)
    assert (unlinked["action"], unlinked["after"]) == ("changed", {"demand_deals": []})
    assert creation["after"]["demand_deals"] == [{"id": deal["id"], "name": deal["name"]}]


def test_history_in_pages(manager: Caller, deal: dict[str, Any]) -> None:
    """Latest first, by limit and offset."""
    for price in (3, 4, 5):
        manager.change("demand_deals", deal["id"], price=price)
    page = manager.get(f"demand_deals/{deal['id']}/history/", limit=2, offset=1)
    assert page["count"] == 4
    assert [result["after"]["price"] for result in page["results"]] == [4, 3]
    assert page["next"]
    assert page["previous"]


def test_deleting_what_others_depend_on(manager: Caller, there: World) -> None:
    """406, with id and name of those who depend: up to five, then how many more."""
    dsp = manager.make("dsps", {"name": unique("DSP")})
    seat = manager.make("seats", {"name": unique("Seat"), "dsp": {"id": dsp["id"]}})
    domains = manager.make("domain_lists", {"name": unique("D")})
    apps = manager.make("app_lists", {"name": unique("A")})
    lists = {
        "domain_list_targetings": [{"id": domains["id"]}],
        "app_list_targetings": [{"id": apps["id"], "is_excluded": True}],
    }
    supply = manager.make("supply_deals", package(create_demand_deals=deals(option(seat["id"])), **lists))
    deal = supply["demand_deals"][0]
    depends = {
        f"dsps/{dsp['id']}/": ("DSP", seat), f"seats/{seat['id']}/": ("seat", deal),
        f"domain_lists/{domains['id']}/": ("domain list", supply),
        f"app_lists/{apps['id']}/": ("app list", supply),
        f"supply_deals/{supply['id']}/": ("supply package", deal),
    }  # fmt: skip
    for path, (called, user) in depends.items():
        detail = manager.detail("DELETE", path, 406)
        assert detail.startswith(f"The {called} ")
        assert f"{user['id']} '{user['name']}' depends on it" in detail
    for number in range(6):
        manager.make("demand_deals", {"name": f"more {number}", **option(seat["id"])})
    assert "'more 3' and 2 more depend on it" in manager.detail("DELETE", f"seats/{seat['id']}/", 406)
    old = manager.make("packages", {"name": "old", "supply_deals": [{"id": supply["id"]}]})
    assert f"the package {old['id']} 'old'" in manager.detail("DELETE", f"supply_deals/{supply['id']}/", 406)
    manager.change("supply_deals", supply["id"], demand_deals=[])
    manager.remove("packages", old["id"])
    manager.remove("supply_deals", supply["id"])
    manager.remove("domain_lists", domains["id"])


def test_duplicates(manager: Caller, there: World) -> None:
    """409 where a name must be its own: DSPs, lists, and seats within their DSP; deals may share theirs."""
    for entity in ("dsps", "domain_lists", "app_lists"):
        body = {"name": unique(entity)}
        manager.make(entity, body)
        assert "of this name already" in manager.detail("POST", f"{entity}/", 409, body)
    seat = {"name": unique("Seat"), "dsp": {"id": there.plain}, "external_id": unique("x")}
    new_seat = manager.make("seats", seat)
    assert (
        manager.detail("POST", "seats/", 409, seat | {"external_id": None})
        == "This DSP has a seat of this name already"
    )
    other = manager.make("seats", seat | {"name": unique("Seat"), "external_id": None})
    taken = {"external_id": seat["external_id"]}
    assert "of this external_id" in manager.detail("PUT", f"seats/{other['id']}/", 409, taken)
    manager.make("seats", {"name": new_seat["name"], "dsp": {"id": there.syncing}})
    twice = package(name="The same name")
    assert manager.make("supply_deals", twice)["id"] != manager.make("supply_deals", twice)["id"]


def test_a_key_creates_once(manager: Caller, there: World) -> None:
    """The same Idempotency-Key and body answer with the first result, and create nothing twice."""
    body = package(create_demand_deals=deals(option(there.ada, Decimal("2.50"))))
    key = {"Idempotency-Key": unique("key")}
    first = manager.ask("POST", "supply_deals/", body, key)
    manager.change("supply_deals", first.json()["id"], name=unique("Renamed"))
    same = dict(reversed(body.items()))
    again = manager.ask("POST", "supply_deals/", same, key)
    assert (again.status_code, again.json(), again.headers["etag"]) == (
        201,
        first.json(),
        first.headers["etag"],
    )
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
    assert manager.get("supply_deals/", search=body["name"])["count"] <= 1


def test_a_key_is_one_persons_and_one_requests(manager: Caller, admin: Caller, there: World) -> None:
    """With another body it is 409 and says what differs; with another entity too; others have their own."""
    body, key = package(), {"Idempotency-Key": unique("key")}
    manager.make("supply_deals", body, key)
    answer = manager.ask("POST", "supply_deals/", body | {"media_type": "audio", "is_active": False}, key)
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "This Idempotency-Key was used before, for another request: it differs in media_type, is_active",
    )
    assert "supply_deals" in manager.ask("POST", "dsps/", {"name": unique("DSP")}, key).json()["detail"]
    assert manager.ask("POST", "supply_deals/", [], key).status_code == 409
    assert admin.ask("POST", "supply_deals/", body, key).headers.get("idempotency-replayed") is None


def test_a_refused_request_leaves_its_key_free(manager: Caller) -> None:
    """After a validation error the same key can be used for the corrected request."""
    key = {"Idempotency-Key": unique("key")}
    assert manager.ask("POST", "dsps/", {}, key).status_code == INVALID
    manager.make("dsps", {"name": unique("DSP")}, key)


@pytest.mark.parametrize("key", ["", "a b\tc", "x" * 256, "ü".encode()])
def test_keys_that_are_none(manager: Caller, key: Any) -> None:
    """A key is 1 to 255 visible characters of ASCII."""
    answer = manager.ask("POST", "dsps/", {"name": unique("DSP")}, {"Idempotency-Key": key})
    assert (answer.status_code, answer.json().keys()) == (INVALID, {"non_field_errors"})


def test_one_key_many_times_at_once(manager: Caller, there: World) -> None:
    """Twenty of the same request at the same moment: one package, and every answer is the first one's."""
    body = package(create_demand_deals=deals(option(there.ada), option(there.bob)))
    key = {"Idempotency-Key": unique("key")}
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: manager.ask("POST", "supply_deals/", body, key), range(20)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert manager.get("supply_deals/", search=body["name"])["count"] == 1


def test_writers_at_once_lose_nothing(manager: Caller, deal: dict[str, Any]) -> None:
    """Of many edits from the same state one wins, the others are told; the history has every one that won."""
    path = f"demand_deals/{deal['id']}/"
    wins = 0
    for round_ in range(3):
        read = etag(manager, path)
        edits = [(path, {"price": 10 * round_ + number}, {"If-Match": read}) for number in range(8)]
        with ThreadPoolExecutor(8) as pool:
            codes = [*pool.map(lambda edit: manager.ask("PUT", *edit).status_code, edits)]
        assert sorted(codes) == [204] + [409] * 7
        wins += 1
    history = manager.history("demand_deals", deal["id"])
    assert len(history) == wins + 1
    for later, earlier in pairwise(history[:-1]):
        assert later["before"]["price"] == earlier["after"]["price"]


def test_links_from_both_ends_at_once(manager: Caller, there: World) -> None:
    """Edits of the same links from opposite ends all come through."""
    new_package = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))
    supply, deal = new_package["id"], new_package["demand_deals"][0]["id"]
    edits = [
        (f"supply_deals/{supply}/", {"demand_deals": []}), (f"demand_deals/{deal}/", {"supply_deals": []}),
        (f"supply_deals/{supply}/", {"demand_deals": [{"id": deal}]}),
        (f"demand_deals/{deal}/", {"supply_deals": [{"id": supply}]}),
    ]  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        answers = [*pool.map(lambda edit: manager.ask("PUT", *edit), edits * 4)]
    assert {answer.status_code for answer in answers} == {204}, [answer.text for answer in answers]
