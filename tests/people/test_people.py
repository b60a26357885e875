"""People: passwords, roles, grants, and how guessing is slowed down."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, update
from streamlit_authenticator import Hasher

from lib import database
from lib.people import Attempts, DealsGrant, Grant, People, Person, passwords
from lib.people import attempts as attempts_module
from lib.people.tables import attempts as rows_of_attempts
from lib.people.tables import people as table
from lib.wire.errors import BadRequest, TooManyAttempts, UnknownName

ADA = Person("ada", "Ada Example", "ada@example.org", "viewer", (Grant("demo"),))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A new database of SQLite, for what is the same on every database."""
    engine = database.engine(f"sqlite:///{tmp_path}/tranche.db")
    database.migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def either(database_url: str) -> Iterator[Engine]:
    """A new database, once of SQLite and once of PostgreSQL."""
    engine = database.engine(database_url)
    database.migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def people(engine: Engine) -> People:
    """Ada alone, with a cheap hash."""
    people = People(engine)
    people.add(ADA, "right")
    return people


@pytest.mark.parametrize(
    ("grant", "slicer", "covered"),
    [
        ("demo", ("demo", "delivery"), True),
        ("demo", ("demo", None), True),
        ("demo", ("demos", "delivery"), False),
        ("demo/delivery", ("demo", "delivery"), True),
        ("demo/delivery", ("demo", "curation"), False),
        ("demo/delivery", ("demo", None), False),
        ("*", ("anything", "at all"), True),
        ("*", ("anything", None), True),
        ("demo", ("*", None), False),
    ],
)
def test_what_a_grant_covers(grant: str, slicer: tuple[str, str | None], covered: bool) -> None:
    """A grant covers its project or its slicer, and `*` everything."""
    assert Grant.parse(grant).covers(*slicer) is covered
    assert str(Grant.parse(grant)) == grant


@pytest.mark.parametrize("text", ["", "/", "demo/", "/delivery", "*/delivery"])
def test_no_grant(text: str) -> None:
    """What is neither a project nor a slicer of one is refused."""
    for dots in (".", "..", "demo/..", "./delivery"):
        with pytest.raises(BadRequest, match=r"no project or slicer is called \. or \.\."):
            Grant.parse(dots)
    with pytest.raises(BadRequest, match="is not a grant: write project, project/slicer"):
        Grant.parse(text)


def test_a_slicers_name_may_have_a_slash() -> None:
    """The first slash ends the project; others belong to the slicer."""
    assert Grant.parse("demo/a/b") == Grant("demo", "a/b")


def test_an_admin_sees_everything() -> None:
    """An admin needs no grants; a manager sees what is granted."""
    assert replace(ADA, role="admin", grants=()).may_see("other", "slicer")
    assert not replace(ADA, role="manager").may_see("other", "slicer")
    assert ADA.may_see("demo", "delivery")


@pytest.mark.parametrize("username", ["", "Ada", "a b", "-a", "ä", "a" * 65, "a\n"])
def test_no_username(username: str) -> None:
    """A username is short, lower-case and plain."""
    with pytest.raises(BadRequest, match="can't be a user name"):
        replace(ADA, username=username)


def test_no_role() -> None:
    """An unknown role is refused, with the nearest."""
    with pytest.raises(UnknownName, match="Unknown role 'manger'; did you mean 'manager'"):
        replace(ADA, role="manger")  # type: ignore[arg-type]


def test_add_and_get(people: People, engine: Engine) -> None:
    """Who was added is there, for another process too, and whatever the capitals."""
    added = people.get("Ada ")
    assert added is not None
    assert added.added is not None
    assert replace(added, added=None) == ADA
    assert People(engine).everyone() == [added]
    assert people.get("bob") is None


def test_a_name_is_taken_once(people: People) -> None:
    """A second person of the same name is refused."""
    with pytest.raises(BadRequest, match="There is a person 'ada' already"):
        people.add(ADA, "other")


def test_no_password_is_stored(people: People) -> None:
    """What is stored of a person holds a hash of their password, and not the password."""
    assert "right" not in str(people.record("ada"))
    assert "$2b$04$" in str(people.record("ada"))


def test_remove(people: People) -> None:
    """A removed person is gone; an unknown one can't be removed."""
    people.remove("ADA")
    assert people.everyone() == []
    with pytest.raises(UnknownName, match="Unknown person 'ada'"):
        people.remove("ada")


def test_grant_and_revoke(people: People) -> None:
    """Grants are added once each, and taken away in the words in which they were given."""
    more = [Grant("other", "x"), Grant("demo")]
    assert people.grant("ada", more).grants == (Grant("demo"), Grant("other", "x"))
    assert people.revoke("ada", [Grant("demo")]).grants == (Grant("other", "x"),)
    with pytest.raises(BadRequest, match="does not hold the grant 'other', but other/x"):
        people.revoke("ada", [Grant("other")])


def test_check(people: People) -> None:
    """The right password gives the person; a wrong one and a wrong name give nobody."""
    person = people.check("Ada", "right")
    assert person is not None
    assert person.username == "ada"
    assert people.check("ada", "wrong") is None
    assert people.check("bob", "right") is None


def test_unknown_names_cost_a_hash_too(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a name that is not there as much is computed as for one that is: one hash of the same cost."""
    import bcrypt

    computed: list[bytes] = []
    checkpw = bcrypt.checkpw

    def counted(password: bytes, hashed: bytes) -> bool:
        computed.append(hashed[:7])
        return checkpw(password, hashed)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    people.check("ada", "wrong")
    people.check("bob", "wrong")
    assert computed == [b"$2b$04$", b"$2b$04$"]


def test_another_password(people: People) -> None:
    """After a change the new password opens and the old one doesn't."""
    people.set_password("ada", "newer")
    assert people.check("ada", "newer")
    assert people.check("ada", "right") is None


@pytest.mark.parametrize("password", ["", "x" * 73, "é" * 37])
def test_passwords_that_bcrypt_would_cut(people: People, password: str) -> None:
    """No password that bcrypt reads only in part can be set, nor does it open anything."""
    with pytest.raises(BadRequest, match="1 to 72 bytes"):
        people.set_password("ada", password)
    assert people.check("ada", password) is None


def test_a_longer_password_is_another(people: People) -> None:
    """What follows the 72nd byte is not ignored."""
    people.set_password("ada", "x" * 72)
    assert people.check("ada", "x" * 73) is None
    assert people.check("ada", "x" * 72)


def test_a_running_desk_sees_changes(either: Engine, database_url: str) -> None:
    """Changes by another process are seen at once."""
    people, other = People(either), People(database.engine(database_url))
    people.add(ADA, "right")
    other.grant("ada", [Grant("new")])
    assert people.get("ada") == other.get("ada")
    other.remove("ada")
    assert people.everyone() == []


def test_writers_at_once_lose_nothing(either: Engine) -> None:
    """People added at the same time over several handles are all there, and so are their grants."""
    People(either).add(ADA, "pw")

    def add(number: int) -> None:
        People(either).add(replace(ADA, username=f"p{number:02}"), "pw")
        People(either).grant("ada", [Grant(f"g{number}")])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, range(12)))
    ada, *others = People(either).everyone()
    assert [person.username for person in others] == [f"p{n:02}" for n in range(12)]
    assert len(ada.grants) == 13


def test_unknown_fields_are_kept(people: People, engine: Engine) -> None:
    """What is stored of a person and unknown here is there after a change."""
    with engine.begin() as connection:
        connection.execute(update(table).values(record=people.record("ada") | {"picture": "ada.png"}))
    people.grant("ada", [Grant("new")])
    assert people.record("ada")["picture"] == "ada.png"


def test_hashes_are_streamlit_authenticators(people: People) -> None:
    """What is stored of a password is a hash of its Hasher's, which the Hasher itself finds to be right."""
    stored = people.record("ada")["password"]
    assert Hasher.is_hash(stored) and Hasher.check_pw("right", stored)


@pytest.mark.parametrize("space", [" {}", "{} ", "\u00a0{}", "{}\t"], ids=repr)
def test_white_space_is_part_of_a_password(people: People, space: str) -> None:
    """A password that begins or ends with white space is right with it alone, in a name of any case."""
    people.set_password("ada", space.format("a long one"))
    assert people.check(" ADA ", space.format("a long one"))
    assert people.check("ada", "a long one") is None


@pytest.mark.parametrize(
    ("password", "sentence"),
    [
        ("1234567", "At least 8 characters."),
        ("", "At least 8 characters."),
        ("é" * 37, "At most 72 bytes."),
        ("x" * 300, "At most 72 bytes."),
        ("12345678", ""),
        ("correct horse battery staple, and more than 20", ""),
        (" 123456 ", ""),
    ],
)
def test_the_length_of_a_password_counts_alone(password: str, sentence: str) -> None:
    """Eight characters to 72 bytes can be chosen, whatever they are, spaces and long sentences too."""
    assert passwords.fault(password) == sentence


def test_a_plain_password_opens_nothing(people: People, engine: Engine) -> None:
    """A password written in plain by hand lets nobody in, here or on the desk."""
    with engine.begin() as connection:
        connection.execute(update(table).values(record=people.record("ada") | {"password": "plain"}))
    assert people.check("ada", "plain") is None


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def failing(attempts: Attempts, times: int, username: str = "ada", address: str | None = "192.0.2.1") -> None:
    """So many attempts that don't succeed."""
    for _ in range(times):
        attempts.begin(username, address)


def test_repeated_failures_are_slowed_down(people: People, engine: Engine) -> None:
    """After five wrong passwords even the right one waits, and then opens."""
    clock = Clock()
    slowed = People(engine, attempts=Attempts(engine, clock))
    for _ in range(5):
        assert slowed.check("ada", "wrong", "192.0.2.1") is None
    with pytest.raises(TooManyAttempts, match="try again in 5 seconds") as caught:
        slowed.check("ada", "right", "192.0.2.1")
    assert caught.value.retry_after == 5
    assert slowed.check("ada", "right", "192.0.2.2"), "from elsewhere they get in"
    clock.now += 5
    assert slowed.check("ada", "right", "192.0.2.1")


def test_delays_grow(engine: Engine) -> None:
    """Each failure doubles the next delay, up to five minutes; after an hour all is forgotten."""
    clock = Clock()
    attempts, waits = Attempts(engine, clock), []
    failing(attempts, 5)
    for _ in range(8):
        with pytest.raises(TooManyAttempts) as caught:
            attempts.begin("ada", "192.0.2.1")
        waits.append(caught.value.retry_after)
        clock.now += caught.value.retry_after
        attempts.begin("ada", "192.0.2.1")
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300]
    clock.now += 3600
    failing(attempts, 5)


def test_unknown_names_are_slowed_down_alike(engine: Engine) -> None:
    """Whether a name exists can't be told from the waiting."""
    attempts = Attempts(engine, Clock())
    failing(attempts, 5, "nobody", None)
    with pytest.raises(TooManyAttempts):
        attempts.begin("nobody", None)


def test_success_clears_the_pair(engine: Engine) -> None:
    """A right password forgets the failures of this name from this address."""
    attempts = Attempts(engine, Clock())
    for _ in range(10):
        failing(attempts, 5)
        attempts.take_back("ada", "192.0.2.1")


def test_guesses_spread_over_addresses(engine: Engine) -> None:
    """After fifty failures of a name from anywhere the next attempt waits, from new addresses too."""
    attempts = Attempts(engine, Clock())
    for number in range(50):
        attempts.begin("ada", f"198.51.100.{number}")
    with pytest.raises(TooManyAttempts, match="try again in 5 seconds"):
        attempts.begin("ada", "203.0.113.1")
    attempts.begin("new", "203.0.113.1")


def test_guesses_spread_over_names(people: People, engine: Engine) -> None:
    """Failures from an address don't lock out whoever shares it, but leave one guess per name there."""
    slowed = People(engine, attempts=Attempts(engine, Clock()))
    for number in range(60):
        assert slowed.check(f"p{number}", "guess", "192.0.2.1") is None
    assert slowed.check("ada", "right", "192.0.2.1"), "the first attempt is let through"
    assert slowed.check("ada", "wrong", "192.0.2.1") is None
    with pytest.raises(TooManyAttempts):
        slowed.check("ada", "right", "192.0.2.1")
    with pytest.raises(TooManyAttempts):
        slowed.check("p7", "another guess", "192.0.2.1")


def test_no_lock_keeps_a_known_browser_out(people: People, engine: Engine) -> None:
    """Failures elsewhere never delay the right password in a browser known for this person."""
    slowed = People(engine, attempts=Attempts(engine, Clock()))
    for number in range(60):
        with suppress(TooManyAttempts):
            slowed.check("ada", "guess", f"192.0.2.{number % 3}")
    with pytest.raises(TooManyAttempts):
        slowed.check("ada", "right", "192.0.2.1")
    assert slowed.check("ada", "right", "192.0.2.1", "her browser")


def test_a_known_browser_has_a_limit_of_its_own(people: People, engine: Engine) -> None:
    """Guesses in a known browser are slowed down alike, and delay nobody elsewhere."""
    slowed = People(engine, attempts=Attempts(engine, Clock()))
    for _ in range(5):
        assert slowed.check("ada", "guess", "192.0.2.1", "her browser") is None
    with pytest.raises(TooManyAttempts):
        slowed.check("ada", "right", "192.0.2.1", "her browser")
    assert slowed.check("ada", "right", "192.0.2.1", "her phone")
    assert slowed.check("ada", "right", "192.0.2.1")


@pytest.mark.parametrize(
    ("addresses", "is_one"),
    [
        (("2001:db8::1", "2001:db8::ffff:1"), True),
        (("2001:db8::1", "2001:db8:0:1::1"), False),
        (("::ffff:192.0.2.1", "192.0.2.1"), True),
        (("192.0.2.1", "192.0.2.2"), False),
        (("not an address", "x" * 100_000), True),
    ],
)
def test_addresses_that_count_as_one(addresses: tuple[str, str], is_one: bool, engine: Engine) -> None:
    """A /64 of IPv6 counts as one address, as do all texts that are none, however long."""
    attempts = Attempts(engine, Clock())
    failing(attempts, 5, address=addresses[0])
    with engine.connect() as connection:
        assert max(len(row.origin) for row in connection.execute(select(rows_of_attempts))) < 64
    if is_one:
        with pytest.raises(TooManyAttempts):
            attempts.begin("ada", addresses[1])
    else:
        attempts.begin("ada", addresses[1])


def test_attempts_at_once_do_not_pass_the_limit(either: Engine) -> None:
    """An attempt counts from its beginning, so that many at the same time are slowed down too."""
    attempts = Attempts(either, Clock())

    def allowed(_: int) -> bool:
        try:
            attempts.begin("ada", "192.0.2.1")
        except TooManyAttempts:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(allowed, range(40))) == 5


def test_what_is_remembered_is_bounded(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses under ever new names don't fill the database, and what is over is forgotten."""
    monkeypatch.setattr(attempts_module, "MOST_ROWS", 10)
    clock = Clock()
    attempts = Attempts(engine, clock)

    def count() -> int:
        with engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(rows_of_attempts)).scalar_one()

    for number in range(30):
        attempts.begin(f"p{number}", None)
    assert count() == 10
    clock.now += 3600
    attempts.begin("ada", None)
    assert count() == 1


def test_failures_at_one_desk_count_at_the_other(
    either: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guesses that are spread over desks are slowed down as those at one."""
    monkeypatch.setattr(attempts_module, "FIRST_DELAY", attempts_module.LONGEST_DELAY)
    desks = People(either), People(database.engine(database_url))
    desks[0].add(ADA, "right")
    for number in range(5):
        assert desks[number % 2].check("ada", "wrong", "192.0.2.1") is None
    for desk in desks:
        with pytest.raises(TooManyAttempts):
            desk.check("ada", "right", "192.0.2.1")


def test_a_clock_that_was_put_back_locks_nobody_out(engine: Engine) -> None:
    """Failures that seem to come hours later don't count."""
    clock = Clock()
    attempts = Attempts(engine, clock)
    failing(attempts, 5)
    clock.now -= 7200
    attempts.begin("ada", "192.0.2.1")


def test_another_role_has_its_usual_deals_unless_others_were_granted(people: People) -> None:
    """Who could do the usual can do the new usual; a grant of its own stays, as far as allowed."""
    people.change("ada", deals=DealsGrant("read"))
    assert str(people.change("ada", "manager").deals) == "write"
    assert str(people.change("ada", deals=DealsGrant.parse("write:5")).deals) == "write:5"
    assert str(people.change("ada", "viewer").deals) == "read:5"
    assert str(people.change("ada", "manager").deals) == "read:5"
    assert str(people.change("ada", "admin").deals) == "write"


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("write", "read", "read"),
        ("write:1,2", "read:2,3", "read:2"),
        ("read:1", "write:2", "none"),
        ("none", "write", "none"),
        ("write", "write:4", "write:4"),
    ],
)
def test_what_two_grants_for_deals_allow(one: str, other: str, both: str) -> None:
    """The lesser of the two, of the seats that both name."""
    assert str(DealsGrant.parse(one).within(DealsGrant.parse(other))) == both
    assert str(DealsGrant.parse(other).within(DealsGrant.parse(one))) == both


@pytest.mark.parametrize(
    "text", ["", "all", "read:", "read:x", "none:1", "write:1,,2", "write:0", "Read", "read:-1"]
)
def test_no_grant_for_deals(text: str) -> None:
    """Another text is refused, with the ones that are right."""
    with pytest.raises(BadRequest, match="write none, read, propose or write"):
        DealsGrant.parse(text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"email": "bad mail"}, "The e-mail 'bad mail' can't be stored: not an e-mail address"),
        ({"name": "\u200b\u200b"}, "can't be stored: this has no visible character"),
        ({"name": "Bob \u202eExample"}, "reading direction"),
    ],
)
def test_what_can_not_be_stored_of_a_person(people: People, changes: dict[str, str], said: str) -> None:
    """Names and e-mail addresses are refused wherever a person is added, as on the screen Access."""
    with pytest.raises(BadRequest, match=said):
        people.add(replace(ADA, username="bob", **changes), "long enough")
    assert people.get("bob") is None
