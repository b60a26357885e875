"""The audit log: what is noted, who may read it, and that nobody can fill it."""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner
from peopled import people_in
from sqlalchemy import Engine, func, select, text

from lib.cli import main
from lib.people import DealsGrant, Grant, Person
from lib.people.tokens import audit
from lib.people.tokens.access import Access
from lib.people.tokens.audit import Audit
from lib.settings import Settings

ADA = Person("ada", "Ada Example", None, "manager", (Grant("demo"),))


@pytest.fixture
def access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Access:
    """Ada, in a home of her own."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    people_in(tmp_path).add(ADA, "right")
    return Access.of(Settings.load())


def noted(access: Access) -> list[tuple[str, str, str, str]]:
    """Event, person, by and details, oldest first."""
    return [(entry.event, entry.about, entry.who, entry.detail) for entry in access.audit.entries()[1][::-1]]


def test_sign_ins_and_refused_ones(access: Access) -> None:
    """Each is noted with its address; a name that is none is not written down: it may be a password."""
    access.sign_in("ada", "right", "203.0.113.7")
    access.sign_in("Ada", "wrong", "203.0.113.8")
    access.sign_in("my secret passphrase", "x", "203.0.113.9")
    entries = [(entry.event, entry.about, entry.address) for entry in access.audit.entries()[1][::-1]]
    assert entries == [
        ("signed in", "ada", "203.0.113.7"),
        ("sign-in refused", "ada", "203.0.113.8"),
        ("sign-in refused", "unknown name", "203.0.113.9"),
    ]
    assert "passphrase" not in str(access.audit.entries())


def test_permissions(access: Access) -> None:
    """Who changed whose role, projects and deals, from what to what; a change of nothing is none."""
    access.change("ada", "root", grants=[Grant("demo", "delivery")], deals=DealsGrant("read"))
    access.change("ada", "root", deals=DealsGrant("read"))
    access.change("ada", "root", role="viewer")
    access.regrant("ada", [Grant("other")], "root")
    changed = [detail for event, _, _, detail in noted(access) if event == "person changed"]
    assert changed == [
        "manager, sees demo, deals none → manager, sees demo/delivery, deals read",
        "manager, sees demo/delivery, deals read → viewer, sees demo/delivery, deals read",
        "viewer, sees demo/delivery, deals read → viewer, sees demo/delivery, other, deals read",
    ]


def test_tokens_and_people(access: Access) -> None:
    """Tokens made and revoked, people added and removed, passwords changed; never a token or a password."""
    access.add(Person("bo", "Bo", None, "viewer"), "long enough", "ada")
    token = access.issue("ada", "reporting", "nightly", None, by="root")
    access.revoke(access.store.everything("ada")[0], "root")
    access.issue("ada", "reporting", "again", None)
    access.set_password("ada", "battery staple", "root")
    access.remove("bo", "ada")
    assert noted(access) == [
        ("person added", "bo", "ada", "viewer, sees nothing, deals none"),
        ("token made", "ada", "root", "permanent, reporting, 'nightly', opens all that its owner can see"),
        ("token revoked", "ada", "root", "1, reporting, 'nightly'"),
        ("token made", "ada", "ada", "permanent, reporting, 'again', opens all that its owner can see"),
        ("password changed", "ada", "root", "tokens revoked: 1"),
        ("person removed", "bo", "ada", "tokens revoked: 0"),
    ]
    everything = str(access.audit.entries())
    assert token not in everything
    assert "battery" not in everything


def test_another_password_revokes_tokens(access: Access) -> None:
    """A reset password takes the tokens with it, unless they are to be kept; the command line says which."""
    access.issue("ada", "reporting", "one", None)
    words = ["user", "password", "ada", "--password-stdin"]
    said = CliRunner().invoke(main, words, input="battery staple\n").stderr
    assert said == "The password of ada is changed; 1 of their tokens revoked\n"
    access.issue("ada", "reporting", "two", None)
    said = CliRunner().invoke(main, [*words, "--keep-tokens"], input="battery staple 2\n").stderr
    assert "their tokens keep working" in said
    states = [token.state(dt.datetime.now(dt.UTC)) for token in access.store.everything("ada")]
    assert states == ["revoked", "active"]


def test_nobody_can_fill_it(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of refused sign-ins the latest are kept, as many as fit; they push nothing else out."""
    monkeypatch.setattr(audit, "MOST_REFUSALS", 5)
    access.audit.note("token made", "ada", "ada")
    for number in range(12):
        access.audit.note("sign-in refused", "unknown name", "unknown name", str(number) + "x" * 10_000)
    count, entries = access.audit.entries()
    assert count == 6
    assert [entry.detail[:2] for entry in entries[:2]] == ["11", "10"]
    assert entries[-1].event == "token made"
    assert max(len(entry.detail) for entry in entries) == audit.LONGEST_DETAIL


def test_a_lost_log_stops_nobody(access: Access, caplog: pytest.LogCaptureFixture) -> None:
    """What happened has happened: an audit log that can't be written is an error in the log of the desk."""
    with access.store.engine.begin() as connection:
        connection.execute(text("DROP TABLE audit"))
    assert access.sign_in("ada", "right") is not None
    assert "The audit log could not be written: signed in: ada" in caplog.text


def test_the_command(access: Access) -> None:
    """`tranche log` lists the entries, the latest first, narrowed to a person, an event or a time."""
    access.sign_in("ada", "wrong", "203.0.113.8")
    access.issue("ada", "reporting", "nightly", None)
    lines = CliRunner().invoke(main, ["log"]).stdout.splitlines()
    assert lines[0].split() == ["TIME", "EVENT", "PERSON", "BY", "FROM", "DETAILS"]
    assert ["token made" in lines[1], "203.0.113.8" in lines[2]] == [True, True]
    result = CliRunner().invoke(
        main, ["log", "--event", "sign-in refused", "--person", "Ada", "--since", "1h"]
    )
    assert len(result.stdout.splitlines()) == 2
    some = CliRunner().invoke(main, ["log", "--limit", "1"])
    assert "1 earlier entries" in some.stderr


def test_on_postgresql_too(database_url: str) -> None:
    """Entries are written and forgotten alike in every database."""
    from lib import database

    engine: Engine = database.engine(database_url)
    database.migrate(engine)
    log = Audit(engine)
    for number in range(3):
        log.note("sign-in refused", "x", "x", str(number))
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(audit.audit)).scalar_one() == 3
    assert [entry.detail for entry in log.entries(limit=1, offset=1)[1]] == ["1"]
