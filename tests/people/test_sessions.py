"""Sign-ins: what a cookie claims counts only while it is noted here."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from peopled import people_in
from sqlalchemy import select

from lib import database
from lib.people import Grant, People, Person
from lib.people.secret import public_name, secret
from lib.people.sessions import Sessions
from lib.people.tables import sign_ins

ADA = Person("ada", "Ada Example", None, "viewer")
NOW, ENDS = 1_000_000.0, 1_000_600.25


@pytest.fixture
def people(tmp_path: Path, database_url: str) -> People:
    """Ada alone, with a cheap hash."""
    people = people_in(tmp_path, database_url)
    people.add(ADA, "right")
    return people


@pytest.fixture
def other(tmp_path: Path, database_url: str, people: People) -> Sessions:
    """The sign-ins as another desk over the same database knows them."""
    return Sessions(people_in(tmp_path, database_url), lambda: NOW)


@pytest.fixture
def sessions(people: People) -> Sessions:
    """Ada is signed in."""
    sessions = Sessions(people, lambda: NOW)
    sessions.begin("ada", ENDS)
    return sessions


def test_a_sign_in_holds(sessions: Sessions, people: People) -> None:
    """Whoever signed in is known by name and end of the sign-in together."""
    assert sessions.person("ada", ENDS) == people.get("ada")
    assert sessions.person("ada", ENDS + 1) is None
    assert sessions.person("eve", ENDS) is None


def test_a_sign_in_holds_at_every_desk(sessions: Sessions, other: Sessions) -> None:
    """Another process over the same database knows the sign-in, and its end to the last digit."""
    assert other.person("ada", ENDS)
    assert other.count() == 1


def test_signing_out_ends_it(sessions: Sessions, other: Sessions) -> None:
    """After the sign-out nothing brings it back, at no desk; other sign-ins go on."""
    sessions.begin("ada", ENDS + 1)
    sessions.end("ada", ENDS)
    for known in (sessions, other):
        assert known.person("ada", ENDS) is None
        assert known.person("ada", ENDS + 1)


def test_time_ends_it(people: People) -> None:
    """A sign-in is over at its end, and forgotten with the next one."""
    clock = [NOW]
    sessions = Sessions(people, lambda: clock[0])
    sessions.begin("ada", ENDS)
    clock[0] = ENDS
    assert sessions.person("ada", ENDS) is None
    sessions.begin("ada", ENDS + 600)
    with people.engine.connect() as connection:
        assert connection.execute(select(sign_ins.c.ends)).scalars().all() == [ENDS + 600]


def test_another_password_ends_it(sessions: Sessions, people: People) -> None:
    """With a changed password every earlier sign-in of the person is void."""
    people.set_password("ada", "another")
    assert sessions.person("ada", ENDS) is None


def test_removal_ends_it(sessions: Sessions, people: People) -> None:
    """A removed person is not signed in, and neither is a namesake who is added later."""
    people.remove("ada")
    assert sessions.person("ada", ENDS) is None
    people.add(ADA, "right")
    assert sessions.person("ada", ENDS) is None


def test_role_and_grants_are_those_of_now(sessions: Sessions, people: People) -> None:
    """What a person may see is looked up again each time."""
    before = sessions.person("ada", ENDS)
    people.grant("ada", [Grant("demo")])
    after = sessions.person("ada", ENDS)
    assert before and after and not before.may_see("demo", "delivery") and after.may_see("demo", "delivery")


def test_no_hash_is_kept_with_a_sign_in(sessions: Sessions, people: People) -> None:
    """Beside the name is a digest, and no hash of a password."""
    with people.engine.connect() as connection:
        (row,) = connection.execute(select(sign_ins)).all()
    assert "$2b$" not in str(row)
    assert len(row.proof) == 64


def test_two_desks_do_not_overwrite_each_other(sessions: Sessions, other: Sessions) -> None:
    """Sign-ins and sign-outs of one are honored by the other at once."""
    other.begin("ada", ENDS + 1)
    assert all(known.person("ada", end) for known in (sessions, other) for end in (ENDS, ENDS + 1))
    sessions.end("ada", ENDS + 1)
    assert other.person("ada", ENDS + 1) is None
    assert other.person("ada", ENDS)


def test_what_one_desk_takes_away_the_other_knows(
    sessions: Sessions, other: Sessions, people: People
) -> None:
    """A role, a grant or a person that is gone at one desk is gone at the other with the next look."""
    people.grant("ada", [Grant("demo")])
    person = other.person("ada", ENDS)
    assert person and person.may_see("demo")
    people.revoke("ada", [Grant("demo")])
    person = other.person("ada", ENDS)
    assert person and not person.may_see("demo")
    people.remove("ada")
    assert other.person("ada", ENDS) is None


def test_the_key_of_cookies_is_the_same_at_every_desk(people: People, other: Sessions) -> None:
    """It is made once, of 32 random bytes, whoever asks first; another installation has another one."""
    keys = {secret(engine, "cookie") for engine in (people.engine, other._scope.engine)}
    assert [len(key) for key in keys] == [43]
    assert secret(people.engine, "another") not in keys
    assert public_name(*keys) == public_name(*keys) != public_name("x")


def test_desks_that_start_together_have_one_key(database_url: str, people: People) -> None:
    """Desks that ask for it at the same time get the same one."""
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(secret_of, [database_url] * 8))) == 1


def secret_of(url: str) -> str:
    """The secret over a connection of its own."""
    return secret(database.engine(url), "raced")


def test_who_has_the_password_of_the_demo_is_out_once_demo_mode_is_off(tmp_path: Path) -> None:
    """A sign-in from when the demo was on holds no more outside of it, until the password is another."""
    people = people_in(tmp_path)
    people.add(Person("admin", "Demo Admin", None, "admin"), "demo")
    Sessions(people, lambda: NOW).begin("admin", ENDS)
    outside = people_in(tmp_path, locks_demo=True)
    sessions = Sessions(outside, lambda: NOW)
    assert sessions.person("admin", ENDS) is None
    assert outside.check("admin", "demo") is None
    outside.set_password("admin", "quite another")
    sessions.begin("admin", ENDS)
    assert sessions.person("admin", ENDS)
    assert outside.check("admin", "quite another")
