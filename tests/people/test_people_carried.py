"""People of earlier versions: a file that is carried over into the database once, whole or not at all."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from peopled import write_people
from sqlalchemy import Engine

from lib import database
from lib.people import DealsGrant, Grant, People, Person, people_file
from lib.people.people_file import carry_over
from lib.wire.errors import Misconfigured

ADA = Person("ada", "Ada Example", "ada@example.org", "viewer", (Grant("demo"),), deals=DealsGrant("read"))
BOB = Person("bob", "Bob Example", None, "manager", (Grant("*"),), deals=DealsGrant.parse("write:3,7"))
BEFORE = """
usernames:
  vera: {name: Vera, roles: [viewer], password: x}
  max: {name: Max, roles: [manager], grants: [demo], password: x, added: 2026-02-03 04:05:06+00:00}
  ada: {name: Ada, roles: [admin], password: x}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file was."""
    return tmp_path / "home" / "people.yaml"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A new database."""
    engine = database.engine(f"sqlite:///{tmp_path}/tranche.db")
    database.migrate(engine)
    yield engine
    engine.dispose()


def written(path: Path, text: str) -> Path:
    """The file, with this text."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def names(engine: Engine) -> list[str]:
    """Who is in the database."""
    return [person.username for person in People(engine).everyone()]


def test_people_are_carried_over(engine: Engine, path: Path) -> None:
    """Everybody is there with what they had, passwords and unknown fields too; the file is put aside."""
    write_people(path, (ADA, BOB), "right")
    content = yaml.safe_load(path.read_text())
    content["usernames"]["ada"]["picture"] = "ada.png"
    path.write_text(yaml.safe_dump(content))
    carry_over(engine, path)
    people = People(engine)
    found = {person.username: person for person in people.everyone()}
    assert [(p.name, p.role, p.grants, p.deals) for p in found.values()] == [
        (p.name, p.role, p.grants, p.deals) for p in (ADA, BOB)
    ]
    assert people.check("ada", "right") == found["ada"]
    assert people.record("ada") == content["usernames"]["ada"]
    assert {one.name for one in path.parent.glob("people*")} == {
        "people.yaml.carried-over", "people.yaml.lock",
    }  # fmt: skip


def test_nothing_is_carried_over_twice(engine: Engine, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that appears later changes nobody, stays where it is, and the log says so."""
    write_people(path, [ADA], "right")
    carry_over(engine, path)
    People(engine).remove("ada")
    People(engine).add(BOB, "right")
    write_people(path, [ADA], "right")
    carry_over(engine, path)
    assert names(engine) == ["bob"]
    assert path.exists()
    assert "is not read: people are in the database" in caplog.text


def test_after_a_crash_the_file_is_put_aside(
    engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends between the database and the file: the next one finishes, and changes nobody."""
    write_people(path, (ADA, BOB), "right")
    with monkeypatch.context() as patch:
        patch.setattr(people_file, "_put_aside", lambda path: None)
        carry_over(engine, path)
    assert path.exists()
    carry_over(engine, path)
    assert names(engine) == ["ada", "bob"]
    assert not path.exists()


def test_processes_that_start_together_carry_over_once(engine: Engine, path: Path) -> None:
    """Whoever is first does it, and the others find it done."""
    write_people(path, (ADA, BOB), "right")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: carry_over(engine, path), range(8)))
    assert names(engine) == ["ada", "bob"]


def test_without_a_file_nothing_happens(engine: Engine, path: Path) -> None:
    """A new installation has no file, and gets none."""
    carry_over(engine, path)
    assert names(engine) == []
    assert not path.parent.exists()


def test_a_file_of_streamlit_authenticator(engine: Engine, path: Path) -> None:
    """Entries as streamlit-authenticator writes them are read: two names, capitals, no grants of ours."""
    entry = {"email": "b@example.org", "first_name": "Bob", "last_name": "Example", "roles": ["admin"]}
    carry_over(engine, written(path, yaml.safe_dump({"usernames": {"Bob": entry}})))
    assert People(engine).get("bob") == Person("bob", "Bob Example", "b@example.org", "admin")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("usernames:\n  ada: [}", r"people\.yaml, line 2: not YAML"),
        ("- ada", r"people\.yaml must have 'usernames'"),
        ("usernames:\n  ada: " + "[" * 20_000, r"people\.yaml, line 2: not YAML \(nested too deeply\)"),
        ("usernames: {bo: {}, ada: {grants: ['..']}}", r"no project or slicer is called \. or \.\."),
        ("usernames: {ada: viewer}", r"one mapping of fields per person"),
        ("usernames: {bo: {}, ada: {roles: [boss]}}", r"person 'ada' can't be read: Unknown role 'boss'"),
        ("usernames: {bo: {}, ada: {grants: ['/']}}", r"person 'ada' can't be read: '/' is not a grant"),
        ("usernames: {bo: {}, ada: {roles: 7}}", r"person 'ada' can't be read"),
        ("usernames: {bo: {}, 'a b': {}}", r"person 'a b' can't be read: 'a b' can't be a user name"),
    ],
)
def test_an_unreadable_file(engine: Engine, path: Path, text: str, reason: str) -> None:
    """A file that can't be read is named, with the entry or line; nobody of it is carried over."""
    with pytest.raises(Misconfigured, match=reason):
        carry_over(engine, written(path, text))
    assert names(engine) == []
    assert path.read_text() == text


def test_existing_people_keep_their_permissions(engine: Engine, path: Path) -> None:
    """Without grants for deals in the file viewers read, managers and administrators write, all seats."""
    carry_over(engine, written(path, BEFORE))
    people = People(engine).everyone()
    assert {person.username: str(person.deals) for person in people} == {
        "vera": "read", "max": "write", "ada": "write",
    }  # fmt: skip
    assert {str(person.added) for person in people} == {"None", "2026-02-03 04:05:06+00:00"}


def test_a_person_of_whom_a_newer_file_says_nothing_may_see_no_deals(engine: Engine, path: Path) -> None:
    """Once the file states who may do what with deals, an entry that says nothing grants nothing."""
    carry_over(engine, written(path, "format: 2\nusernames:\n  max: {name: Max, roles: [manager]}\n"))
    found = People(engine).get("max")
    assert found is not None
    assert not found.deals.reads
