"""Tokens: issued, verified, cut by what their owner may see, revoked."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from clocks import Clock
from sqlalchemy import Engine, event, text

from lib.people import DealsGrant, Grant, People, Person
from lib.people.tokens.access import Access
from lib.people.tokens.store import TokenStore
from lib.wire.errors import AccessError, BadRequest, UnknownName

SEES_DEALS = DealsGrant("read")
ADA = Person("ada", "Ada Example", None, "viewer", (Grant("demo"), Grant("other", "x")), deals=SEES_DEALS)
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> Clock:
    """The store's clock."""
    return Clock()


@pytest.fixture
def access(engine: Engine, clock: Clock) -> Access:
    """Ada, and no tokens yet."""
    people = People(engine)
    people.add(replace(ADA, added=clock.now), "right")
    return Access(TokenStore(engine, clock), people)


def test_a_token_opens_its_service_for_its_owner(access: Access) -> None:
    """Whoever brings the token is its owner, and may see what they may see."""
    caller = access.caller(access.issue("Ada", "reporting", "nightly", None), "reporting")
    assert caller.person == access.people.get("ada")
    assert caller.token.owner == "ada"
    assert caller.may_see("demo", "anything")
    assert not caller.may_see("other", "y")


def test_the_tokens_text(access: Access) -> None:
    """A token is a readable prefix and 32 random bytes."""
    issued = {access.issue("ada", "reporting", "nightly", None) for _ in range(3)}
    assert len(issued) == 3
    assert all(re.fullmatch(r"trn_rep_[A-Za-z0-9_-]{43}", token) for token in issued)
    assert access.issue("ada", "7-11 Deals", "odd", None).startswith("trn_711_")


def test_only_the_digest_is_kept(access: Access, engine: Engine) -> None:
    """The database does not hold a token, but its SHA-256 digest and first characters."""
    token = access.issue("ada", "reporting", "nightly", None)
    with engine.connect() as connection:
        row = connection.execute(text("select * from tokens")).mappings().one()
    assert (row["prefix"], row["digest"]) == (token[:12], hashlib.sha256(token.encode()).hexdigest())
    assert token[12:] not in str(dict(row))


def expired(access: Access, clock: Clock) -> str:
    """A token whose hour is over."""
    token = access.issue("ada", "reporting", "nightly", HOUR)
    clock.now += HOUR
    return token


def revoked(access: Access, clock: Clock) -> str:
    """A token that was taken back."""
    token = access.issue("ada", "reporting", "nightly", None)
    access.store.revoke(1)
    return token


def of_another_service(access: Access, clock: Clock) -> str:
    """A token for deals."""
    return access.issue("ada", "deals", "nightly", None)


def of_somebody_removed(access: Access, clock: Clock) -> str:
    """A token whose owner has gone."""
    token = access.issue("ada", "reporting", "nightly", None)
    access.people.remove("ada")
    return token


def of_a_namesake(access: Access, clock: Clock) -> str:
    """A token of somebody who was removed, and whose name another person has now."""
    token = of_somebody_removed(access, clock)
    access.people.add(replace(ADA, added=clock.now + HOUR), "other")
    return token


def cut_short(access: Access, clock: Clock) -> str:
    """A token with a character missing."""
    return access.issue("ada", "reporting", "nightly", None)[:-1]


@pytest.mark.parametrize(
    "made",
    [expired, revoked, of_another_service, of_somebody_removed, of_a_namesake, cut_short]
    + [lambda access, clock, text=text: text for text in ("", "x", "\ud800", "' or 1=1 --")],
)
def test_what_opens_nothing(access: Access, clock: Clock, made: Callable[[Access, Clock], str]) -> None:
    """Every token that does not open the service is refused in the same words."""
    with pytest.raises(AccessError) as caught:
        access.caller(made(access, clock), "reporting")
    assert caught.value.reason == AccessError().reason


def test_a_token_works_until_it_expires(access: Access, clock: Clock) -> None:
    """To its last moment a token opens, and no longer."""
    token = access.issue("ada", "reporting", "nightly", HOUR)
    clock.now += HOUR - timedelta(microseconds=1)
    assert access.caller(token, "reporting")
    clock.now += timedelta(microseconds=1)
    with pytest.raises(AccessError):
        access.caller(token, "reporting")


def test_a_token_may_open_less_than_its_owner(access: Access) -> None:
    """A token granted one slicer opens that one alone."""
    token = access.issue("ada", "reporting", "nightly", None, (Grant("demo", "delivery"),))
    caller = access.caller(token, "reporting")
    assert caller.may_see("demo", "delivery")
    assert not caller.may_see("demo", "curation")
    assert not caller.may_see("other", "x")


def test_a_token_never_opens_more_than_its_owner(access: Access) -> None:
    """What its owner loses, the token loses at once."""
    token = access.issue("ada", "reporting", "nightly", None, (Grant("demo"), Grant("other", "x")))
    access.people.revoke("ada", [Grant("demo")])
    caller = access.caller(token, "reporting")
    assert not caller.may_see("demo", "delivery")
    assert caller.may_see("other", "x")


def test_granting_what_is_not_theirs(access: Access) -> None:
    """A token can't be granted what its owner may not see; the reason names it."""
    asked = (Grant("demo", "x"), Grant("other"), Grant("*"))
    with pytest.raises(BadRequest, match=r"'ada' may not see other, \*, so .* they may see demo, other/x"):
        access.issue("ada", "reporting", "nightly", None, asked)
    assert access.store.everything() == []


def test_an_admins_token_opens_everything(access: Access, clock: Clock) -> None:
    """An admin may grant a token anything."""
    access.people.add(Person("root", "Root", None, "admin", added=clock.now), "right")
    token = access.issue("root", "reporting", "all", None, (Grant("any", "slicer"),))
    assert access.caller(token, "reporting").may_see("any", "slicer")


def test_no_token_for_nobody(access: Access) -> None:
    """Tokens belong to people that there are."""
    with pytest.raises(UnknownName, match="Unknown person 'adda'; did you mean 'ada'"):
        access.issue("adda", "reporting", "nightly", None)


@pytest.mark.parametrize(
    ("name", "lifetime"), [("", None), ("  ", None), ("x" * 201, None), ("x", timedelta(0))]
)
def test_odd_tokens(access: Access, name: str, lifetime: timedelta | None) -> None:
    """A token has a name and a lifetime that is not over when it begins."""
    with pytest.raises(BadRequest, match="oken's"):
        access.issue("ada", "reporting", name, lifetime)


def test_use_is_noted_once_a_minute(access: Access, clock: Clock, engine: Engine) -> None:
    """The last use is kept to the minute, so that reading does not become writing."""
    written: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: written.append(args[2]))
    token = access.issue("ada", "reporting", "nightly", None)
    begun = clock.now
    for _ in range(60):
        access.caller(token, "reporting")
        clock.now += timedelta(seconds=1)
    assert access.store.everything()[0].last_used == begun
    access.caller(token, "reporting")
    assert access.store.everything()[0].last_used == begun + timedelta(minutes=1)
    assert sum(statement.startswith("UPDATE") for statement in written) == 2


def test_everything(access: Access, clock: Clock) -> None:
    """Tokens are listed oldest first, of all or of one owner, with all that is kept of them, in UTC."""
    access.people.add(replace(ADA, username="bob"), "right")
    access.issue("ada", "reporting", " nightly ", HOUR, (Grant("other", "x"),))
    access.issue("bob", "deals", "daily", None, kind="temporary")
    first, second = access.store.everything()
    assert (first.name, first.grants, first.kind) == ("nightly", (Grant("other", "x"),), "permanent")
    assert (first.created, first.expires) == (clock.now, clock.now + HOUR)
    assert first.created.tzinfo is UTC
    assert (second.owner, second.kind, second.expires, second.grants) == ("bob", "temporary", None, ())
    assert access.store.everything("bob") == [second]


def test_revoking(access: Access, clock: Clock) -> None:
    """Revoking twice keeps the first time; an unknown number is refused."""
    access.issue("ada", "reporting", "nightly", None)
    begun = clock.now
    access.store.revoke(1)
    clock.now += HOUR
    access.store.revoke(1)
    assert access.store.everything()[0].revoked == begun
    assert access.store.everything()[0].state(clock.now) == "revoked"
    with pytest.raises(BadRequest, match="There is no token 2"):
        access.store.revoke(2)


def test_removing_a_person_revokes_their_tokens(access: Access, clock: Clock) -> None:
    """Who is removed leaves no token that works, and their numbers are not given to others."""
    access.issue("ada", "reporting", "nightly", None)
    access.issue("ada", "deals", "daily", None)
    access.store.revoke(1)
    assert access.remove("ADA") == 1
    assert [token.state(clock.now) for token in access.store.everything()] == ["revoked", "revoked"]


def test_expired_temporary_tokens_go(access: Access, clock: Clock) -> None:
    """A day after its end a temporary token is forgotten, a permanent one kept; no number comes back."""
    access.issue("ada", "reporting", "desk", HOUR, kind="temporary")
    access.issue("ada", "reporting", "nightly", HOUR)
    access.issue("ada", "reporting", "desk", HOUR, kind="temporary")
    clock.now += timedelta(days=1, hours=2)
    access.issue("ada", "reporting", "desk", HOUR, kind="temporary")
    assert [token.id for token in access.store.everything()] == [2, 4]


def test_a_caller_is_known_after_one_statement(access: Access, engine: Engine) -> None:
    """Token, person and grants are of the same moment: on PostgreSQL each statement would be a round trip."""
    token = access.issue("ada", "reporting", "nightly", None)
    access.caller(token, "reporting")  # notes the token's use
    sent: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *parameters: sent.append(parameters[2]))
    assert access.caller(token, "reporting").person.username == "ada"
    assert len([statement for statement in sent if not statement.startswith(("PRAGMA", "BEGIN"))]) == 1
    if engine.dialect.name == "postgresql":
        assert len(sent) == 1
