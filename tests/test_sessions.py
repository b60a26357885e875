"""Sign-ins: what a cookie claims counts only while it is noted here."""

import stat
from pathlib import Path

import pytest

from lib.people import Grant, People, Person
from lib.people.sessions import Sessions

ADA = Person("ada", "Ada Example", None, "viewer")
NOW, ENDS = 1_000_000.0, 1_000_600.25


@pytest.fixture
def people(tmp_path: Path) -> People:
    """Ada alone, with a cheap hash."""
    people = People(tmp_path / "people.yaml", rounds=4)
    people.add(ADA, "right")
    return people


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the sign-ins are kept."""
    return tmp_path / "home" / "sessions.json"


@pytest.fixture
def sessions(path: Path, people: People) -> Sessions:
    """Ada is signed in."""
    sessions = Sessions(path, people, lambda: NOW)
    sessions.begin("ada", ENDS)
    return sessions


def test_a_sign_in_holds(sessions: Sessions, people: People) -> None:
    """Whoever signed in is known by name and end of the sign-in together."""
    assert sessions.person("ada", ENDS) == people.get("ada")
    assert sessions.person("ada", ENDS + 1) is None
    assert sessions.person("eve", ENDS) is None


def test_a_sign_in_outlives_a_restart(sessions: Sessions, path: Path, people: People) -> None:
    """Another process that opens the same file knows the sign-in, and its end to the last digit."""
    assert Sessions(path, people, lambda: NOW).person("ada", ENDS)


def test_signing_out_ends_it(sessions: Sessions, path: Path, people: People) -> None:
    """After the sign-out nothing brings it back, not even a restart; other sign-ins go on."""
    sessions.begin("ada", ENDS + 1)
    sessions.end("ada", ENDS)
    for known in (sessions, Sessions(path, people, lambda: NOW)):
        assert known.person("ada", ENDS) is None
        assert known.person("ada", ENDS + 1)


def test_time_ends_it(path: Path, people: People) -> None:
    """A sign-in is over at its end, and forgotten with the next one."""
    clock = [NOW]
    sessions = Sessions(path, people, lambda: clock[0])
    sessions.begin("ada", ENDS)
    clock[0] = ENDS
    assert sessions.person("ada", ENDS) is None
    sessions.begin("ada", ENDS + 600)
    assert str(ENDS) not in path.read_text()


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


def test_the_file_is_the_owners(sessions: Sessions, path: Path) -> None:
    """The file is readable by its owner alone and holds no password hash."""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "$2b$" not in path.read_text()


def test_a_damaged_file_signs_everybody_out(path: Path, people: People) -> None:
    """A file that can't be read opens nothing, and does not keep the desk from starting."""
    path.parent.mkdir()
    path.write_text("[{]")
    sessions = Sessions(path, people, lambda: NOW)
    assert sessions.person("ada", ENDS) is None
    sessions.begin("ada", ENDS)
    assert sessions.person("ada", ENDS)


def test_two_processes_do_not_overwrite_each_other(path: Path, people: People) -> None:
    """Sign-ins and sign-outs of one are honoured by the other, whichever opened the file first."""
    one, other = (Sessions(path, people, lambda: NOW) for _ in range(2))
    one.begin("ada", ENDS)
    other.begin("ada", ENDS + 1)
    assert all(known.person("ada", end) for known in (one, other) for end in (ENDS, ENDS + 1))
    one.end("ada", ENDS + 1)
    assert other.person("ada", ENDS + 1) is None
    assert other.person("ada", ENDS)


def test_who_has_the_password_of_the_demo_is_out_once_demo_mode_is_off(path: Path, tmp_path: Path) -> None:
    """A sign-in from when the demo was on holds no more outside of it, until the password is another."""
    people = People(tmp_path / "demo.yaml", rounds=4)
    people.add(Person("admin", "Demo Admin", None, "admin"), "demo")
    Sessions(path, people, lambda: NOW).begin("admin", ENDS)
    outside = People(tmp_path / "demo.yaml", rounds=4, locks_demo=True)
    sessions = Sessions(path, outside, lambda: NOW)
    assert sessions.person("admin", ENDS) is None
    assert outside.check("admin", "demo") is None
    outside.set_password("admin", "quite another")
    sessions.begin("admin", ENDS)
    assert sessions.person("admin", ENDS)
    assert outside.check("admin", "quite another")
