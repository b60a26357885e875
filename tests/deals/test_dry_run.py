"""Dry runs: what a write would make, what is wrong with it and what is unwise, and nothing is written."""

from typing import Any

import pytest

from deals.caller import Body, Caller, World, option, package, read, unique
from lib.deals.store import tables as t
from lib.serving import connect

DRY = {"dry_run": "true"}


def results(answer: Any) -> list[Body]:
    """The results of a dry run, which is answered by 200."""
    return list(read(answer, 200)["results"])


def count_rows(desk: connect.Installation) -> list[int]:
    """How many rows each table of the deals service has."""
    with desk.access.store.engine.connect() as connection:
        tables = [t.demand_deals, t.supply_packages, t.deal_ids, t.changes, t.idempotency_keys]
        return [len(connection.execute(table.select()).all()) for table in tables]


def deal(there: World, **fields: Any) -> Body:
    """A request for a deal."""
    return {"name": unique("Deal"), **option(there.ada), **fields}


def test_nothing_is_written(manager: Caller, there: World, desk: connect.Installation) -> None:
    """Dry runs of every write leave no row, no history, no key, and use up no id."""
    existing = manager.make("supply_deals", package())
    ours = manager.make("demand_deals", deal(there))
    before = count_rows(desk)
    key = {"Idempotency-Key": unique("key")}
    new = package(create_demand_deals={"demand_deals_options": [option(there.ada), option(there.bob)]})
    for method, path, body in (
        ("POST", "supply_deals/", new),
        ("POST", "demand_deals/", deal(there)),
        ("POST", "demand_deals/batch/", [deal(there), deal(there)]),
        ("PUT", f"demand_deals/{ours['id']}/", {"price": 9}),
        ("PUT", "demand_deals/", [{"id": ours["id"], "price": 9}]),
        ("PUT", f"supply_deals/{existing['id']}/", {"create_demand_deals": new["create_demand_deals"]}),
        ("DELETE", f"supply_deals/{existing['id']}/", None),
    ):
        answer = manager.ask(method, path, *([] if body is None else [body]), headers=key, **DRY)
        assert all(not result["errors"] for result in results(answer)), (method, path, answer.text)
    assert count_rows(desk) == before
    assert manager.get(f"demand_deals/{ours['id']}/") == ours
    after = manager.make("supply_deals", package())
    assert after["id"] == existing["id"] + 1


def test_what_would_be(manager: Caller, there: World) -> None:
    """The entity as it would be read, at its place: ids of what is new are null, deals come after their
    package, and a change shows the whole entity."""
    new = package(create_demand_deals={"demand_deals_options": [option(there.ada), option(there.bob)]})
    own, *others = results(manager.ask("POST", "supply_deals/", new, **DRY))
    assert (own["place"], own["would"]["id"], own["would"]["name"]) == ([], None, new["name"])
    assert [result["place"] for result in others] == [
        ["create_demand_deals", "demand_deals_options", number] for number in (0, 1)
    ]
    assert [result["would"]["seat"]["id"] for result in others] == [there.ada, there.bob]
    assert {(result["would"]["id"], result["would"]["deal_id"]) for result in others} == {(None, None)}
    ours = manager.make("demand_deals", deal(there))
    [outcome] = results(manager.ask("PUT", "demand_deals/", [{"id": ours["id"], "name": "Other"}], **DRY))
    assert outcome["place"] == [0]
    assert {name for name in ours if ours[name] != outcome["would"][name]} <= {"name", "updated_at"}


def test_what_is_wrong_and_what_is_unwise_come_together(manager: Caller, there: World) -> None:
    """A price of ten times the one before beside a field that is wrong: both are said, each at its entity."""
    ours = manager.make("demand_deals", deal(there, price=2.16))
    body = [{"id": ours["id"], "price": 19, "name": ""}, {"id": 10**9, "price": 1}]
    first, second = results(manager.ask("PUT", "demand_deals/", body, **DRY))
    assert first["errors"].keys() == {"name"}
    assert first["would"] is None
    [warning] = first["warnings"]
    assert warning == {
        "kind": "price_slip", "field": "price", "asks": True, "before": warning["before"], "after": 19,
        "sentence": "A price of 19.00, 8.8 times the price before (2.16).",
        "compared_with": "the price before",
    }  # fmt: skip
    assert float(warning["before"]) == 2.16
    assert "no demand deal" in second["errors"]["non_field_errors"][0]
    assert manager.ask("PUT", f"demand_deals/{10**9}/", {"price": 1}, **DRY).status_code == 404


def test_a_batch_says_what_is_wrong_by_its_place(manager: Caller, there: World) -> None:
    """Of several new deals each has its own errors and warnings."""
    bodies = [deal(there, price=0), deal(there, price=-1)]
    first, second = results(manager.ask("POST", "demand_deals/batch/", bodies, **DRY))
    assert [warning["kind"] for warning in first["warnings"]] == ["price_slip"]
    assert (first["errors"], second["errors"].keys()) == ({}, {"price"})


def test_what_can_not_be_deleted(manager: Caller, there: World) -> None:
    """A package that is sold can't be deleted, and the dry run says why; it is there afterwards."""
    existing = manager.make(
        "supply_deals", package(create_demand_deals={"demand_deals_options": [option(there.ada)]})
    )
    [refusal] = results(manager.ask("DELETE", f"supply_deals/{existing['id']}/", **DRY))
    assert "can't be deleted" in refusal["errors"]["non_field_errors"][0]
    assert manager.get(f"supply_deals/{existing['id']}/")["id"] == existing["id"]


@pytest.mark.parametrize("value", ["yes", "1", "True", ""])
def test_a_flag_that_is_neither_true_nor_false_writes_nothing(value: str, manager: Caller) -> None:
    """Who asks for a dry run in other words, or in none, is told, and nothing is created."""
    name = unique("Typo")
    assert "dry_run" in manager.invalid("POST", "supply_deals/", package(name=name), dry_run=value)
    assert manager.get("supply_deals/", search=name)["count"] == 0


def test_who_may_only_read_asks_nothing(viewer: Caller) -> None:
    """A dry run tells what exists and what is refused: it takes the permission to propose."""
    assert viewer.ask("POST", "supply_deals/", package(), **DRY).status_code == 403


def test_dry_runs_of_proposals(manager: Caller, admin: Caller, there: World) -> None:
    """A proposal and its approval say what they would make and what is unwise in it; none is stored, and the
    deal stays as it is. What can't be proposed is said by field."""
    ours = manager.make("demand_deals", deal(there, price=2))
    change = {"entity": "demand_deals", "entity_id": ours["id"], "fields": {"price": 20}, "reason": "Why"}
    [result] = results(manager.ask("POST", "proposals/", change, **DRY))
    assert (result["would"]["id"], result["would"]["fields"], result["errors"]) == (None, {"price": 20}, {})
    assert [warning["kind"] for warning in result["warnings"]] == ["price_slip"]
    [wrong] = results(manager.ask("POST", "proposals/", change | {"fields": {"price": -1}}, **DRY))
    assert (wrong["would"], wrong["errors"].keys()) == (None, {"fields"})
    count = manager.get("proposals/")["count"]
    proposal = read(manager.ask("POST", "proposals/", change), 201)
    assert manager.get("proposals/")["count"] == count + 1
    assert manager.ask("POST", f"proposals/{proposal['id']}/approve/", {}, **DRY).status_code == 403, (
        "one's own"
    )
    [approval] = results(admin.ask("POST", f"proposals/{proposal['id']}/approve/", {}, **DRY))
    assert float(approval["would"]["price"]) == 20
    assert [warning["kind"] for warning in approval["warnings"]] == ["price_slip"]
    assert admin.get(f"proposals/{proposal['id']}/")["state"] == "open"
    assert float(manager.get(f"demand_deals/{ours['id']}/")["price"]) == 2
    assert "dry_run" in admin.invalid(
        "POST", f"proposals/{proposal['id']}/decline/", {"word": "No"}, dry_run="true"
    )
