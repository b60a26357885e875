"""Saved lists of deals: who sees them, who may change them; once per database."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from lib import database
from lib.people import DealsGrant, Person, Role
from lib.views import DealLists, EntriesScope
from lib.views.deal_entries import LONGEST_BODY
from lib.wire.errors import AccessError, BadRequest

BODY = {"kind": "demand_deals", "filters": {"status": ["paused"]}, "find": "news"}
As = Callable[..., DealLists]


@pytest.fixture
def lists(database_url: str) -> As:
    """The lists that this person sees of this deals service; a new database with its tables."""
    engine: Engine = database.engine(database_url)
    database.migrate(engine)

    def of(name: str, role: Role = "viewer", deals: str = "read", service: str = "") -> DealLists:
        person = Person(name, name, None, role, (), None, deals=DealsGrant.parse(deals))
        return DealLists(EntriesScope(engine, service, person))

    return of


def test_own_and_shared_lists_are_seen(lists: As) -> None:
    """A person sees their own lists and the shared ones of the same service, if they may see deals at all."""
    mine = lists("ada").save("Paused *news*", BODY)
    lists("bob").save("Theirs", BODY)
    shared = lists("bob").save("Everybody's", BODY | {"find": "ü"}, is_shared=True)
    lists("bob", service="https://other.example").save("Elsewhere", BODY, is_shared=True)
    assert [entries.name for entries in lists("ada").all()] == ["Everybody's", "Paused *news*"]
    assert lists("ada").get(mine.id) == mine
    assert (mine.body, mine.is_mine, lists("ada").get(shared.id).is_mine) == (BODY, True, False)
    assert lists("eve", deals="none").all() == []
    assert lists("eve", deals="none").get(shared.id) is None


def test_only_the_owner_and_administrators_change(lists: As) -> None:
    """Others can't rename, update or delete a list, and don't learn of one that is private."""
    shared = lists("bob").save("Everybody's", BODY, is_shared=True)
    private = lists("bob").save("Mine", BODY)
    for change in (lambda all_: all_.update(shared.id, {}), lambda all_: all_.delete(shared.id)):
        with pytest.raises(AccessError):
            change(lists("ada"))
    with pytest.raises(BadRequest, match="not there any more"):
        lists("ada").rename(private.id, "Hers", False)
    assert lists("root", "admin").rename(shared.id, "New", True).name == "New"
    assert lists("bob").update(shared.id, {"find": "x"}).body == {"find": "x"}
    lists("bob").delete(shared.id)
    assert [entries.name for entries in lists("bob").all()] == ["Mine"]


def test_limits(lists: As) -> None:
    """A name stands once per person, and a body has a largest size."""
    lists("ada").save("One", BODY)
    lists("bob").save("One", BODY)
    with pytest.raises(BadRequest, match="named 'one' already"):
        lists("ada").save("one", BODY)
    with pytest.raises(BadRequest, match="too long"):
        lists("ada").save("Two", {"find": "x" * LONGEST_BODY})
