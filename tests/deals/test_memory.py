"""The journal for services without lists, on SQLite and on PostgreSQL."""

from decimal import Decimal

import pytest
from sqlalchemy import Engine

from lib.deals.compat.memory import ELSEWHERE, Memory
from lib.deals.models import DemandDeal, SupplyPackage

HERE = "https://deals.example"
DEAL = {"id": 7, "name": "Seven", "price": Decimal("2.5"), "seat": {"id": 1, "name": "One"}, "extra": [1]}


@pytest.fixture
def memory(engine: Engine) -> Memory:
    """The journal of one service, written by max."""
    return Memory(engine, HERE, "max")


def test_what_was_noted_is_there_for_others_and_later(engine: Engine, memory: Memory) -> None:
    """Bodies come back exactly, whoever asks; another service has a journal of its own."""
    memory.note("created", DemandDeal, [DEAL, {"id": "8", "name": "Eight"}])
    again = Memory(engine, HERE, "ada")
    assert [entry.body for entry in again.latest(DemandDeal)] == [DEAL, {"id": "8", "name": "Eight"}]
    assert [(entry.entity_id, entry.who) for entry in again.latest(DemandDeal)] == [(7, "max"), (8, "max")]
    assert again.latest(SupplyPackage) == []
    other = Memory(engine, "https://other.example", "max")
    assert (other.latest(DemandDeal), other.newest(), again.newest()) == ([], 0, 2)


def test_the_last_entry_is_what_is_known(memory: Memory) -> None:
    """A change replaces what is known, a removal takes it from the list, a later sight brings it back."""
    memory.note("created", DemandDeal, [DEAL])
    memory.note("changed", DemandDeal, [DEAL | {"price": 3}])
    assert [entry.body["price"] for entry in memory.latest(DemandDeal)] == [3]
    memory.note("removed", DemandDeal, [DEAL])
    assert memory.latest(DemandDeal) == []
    last = memory.last(DemandDeal, 7)
    assert last is not None
    assert last.action == "removed"
    memory.note("seen", DemandDeal, [DEAL])
    assert [entry.entity_id for entry in memory.latest(DemandDeal)] == [7]


def test_what_was_seen_again_as_it_was_is_not_noted(memory: Memory) -> None:
    """Figures of the service's own, and its times, are no change; a known field is."""
    memory.note("seen", DemandDeal, [DEAL])
    memory.note("seen", DemandDeal, [DEAL | {"extra": [2], "updated_at": "2026-03-01 09:00:00+0100"}])
    memory.note("seen", DemandDeal, [DEAL | {"seat": {"id": 1, "name": "One", "figures": 5}}])
    assert len(memory.entries(DemandDeal, 7)) == 1
    memory.note("seen", DemandDeal, [DEAL | {"price": "2.75"}])
    assert len(memory.entries(DemandDeal, 7)) == 2


def test_history(memory: Memory) -> None:
    """Two entries in a row, compared: who changed what here, and what somebody changed elsewhere."""
    memory.note("created", DemandDeal, [DEAL])
    memory.note("changed", DemandDeal, [DEAL | {"price": 3, "contact_email": "a@b.example"}])
    memory.note("seen", DemandDeal, [DEAL | {"price": 4, "contact_email": "a@b.example"}])
    memory.note("removed", DemandDeal, [DEAL])
    removed, elsewhere, changed, created = memory.history(DemandDeal, 7)
    assert (removed.action, removed.who, removed.after) == ("removed", ELSEWHERE, None)
    assert (elsewhere.who, elsewhere.before, elsewhere.after) == (ELSEWHERE, {"price": 3}, {"price": 4})
    assert (changed.who, changed.after) == ("max", {"price": 3, "contact_email": "a@b.example"})
    assert changed.before == {"price": Decimal("2.5"), "contact_email": None}
    assert (created.action, created.before) == ("created", None)
    assert created.after is not None
    assert "extra" not in created.after


def test_all_of_it_or_none(memory: Memory) -> None:
    """A body that can't be noted takes the others with it."""
    with pytest.raises(KeyError):
        memory.note("created", DemandDeal, [DEAL, {"name": "without an id"}])
    assert memory.latest(DemandDeal) == []
