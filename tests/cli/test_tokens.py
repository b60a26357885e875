"""`tranche token`."""

import re
from datetime import timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from peopled import people_in

from lib.cli import main
from lib.cli.options import Duration
from lib.people import DealsGrant, Grant, Person
from lib.people.tokens.access import Access
from lib.settings import Settings
from lib.wire.filters import Filter

SEES_DEALS = DealsGrant("read")


@pytest.fixture
def access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Access:
    """A home of its own, with Ada, who may see the project demo."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    people = people_in(tmp_path)
    people.add(Person("ada", "Ada Example", None, "viewer", (Grant("demo"),), deals=SEES_DEALS), "right")
    return Access.of(Settings.load())


def run(*words: str) -> Result:
    """Run `tranche token` with these arguments."""
    return CliRunner().invoke(main, ["token", *words], prog_name="tranche")


def created(*words: str, service: str = "reporting") -> Result:
    """A token of Ada's, with what these words say of it."""
    return run("create", "--person", "ada", "--service", service, "--name", "nightly", *words)


def test_the_token_stands_alone_on_standard_output(access: Access) -> None:
    """A script can take the token from standard output; notes for people go to standard error."""
    answer = created()
    assert answer.exit_code == 0
    assert re.fullmatch(r"trn_rep_[A-Za-z0-9_-]{43}\n", answer.stdout)
    sees = "gives access to everything that ada can see"
    assert answer.stderr == f"For reporting, {sees}, never expires. The token is shown only once:\n"
    assert access.caller(answer.stdout.strip(), "reporting").may_see("demo", "delivery")


def test_expiry_and_grants(access: Access) -> None:
    """A token may be short-lived, and open one slicer alone."""
    answer = created("--expires", "90d", "--project", "demo", "--slicer", "delivery")
    token = access.caller(answer.stdout.strip(), "reporting").token
    assert token.expires == token.created + timedelta(days=90)
    assert token.grants == (Grant("demo", "delivery"),)
    assert "gives access to demo/delivery, expires 20" in answer.stderr


def test_a_token_for_some_rows(access: Access) -> None:
    """A token of one slicer may be limited by filters, which it and the list of tokens say in words."""
    answer = created("--project", "demo", "--slicer", "delivery", "--filter", "seat=3,7")
    caller = access.caller(answer.stdout.strip(), "reporting")
    assert caller.row_filters("demo", "delivery") == (Filter(name="seat", value=("3", "7"), match="equals"),)
    assert "gives access to demo/delivery (only seat equals 3, 7)" in answer.stderr
    assert "demo/delivery (only seat equals 3, 7)" in run("list").stdout
    assert "--filter needs --project and --slicer" in created("--project", "demo", "--filter", "a=b").stderr


def test_service_identifiers_are_settings(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token carries the identifier that the settings give the service."""
    monkeypatch.setenv("TRANCHE_DEALS_SERVICE", "4711")
    assert access.caller(created(service="deals").stdout.strip(), "4711")


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("--slicer", "delivery"), 2, "--slicer needs --project"),
        (("--expires", "soon"), 2, "'soon' is not a duration of up to 100 years, like 90d, 12h or 30m"),
        (("--service", "cooking"), 2, "'cooking' is not one of"),
        (
            ("--project", "other"),
            1,
            "'ada' may not see other, so their token can't either; they may see demo",
        ),
        (("--person", "bob"), 1, "Unknown person 'bob'"),
        (("--name", " "), 1, "The token's name is missing"),
        (("--name", "x" * 201), 1, "The token's name is too long: 201"),
        (("--name", "night\u202ely"), 1, "The token's name must not contain characters"),
    ],
)
def test_no_token(access: Access, words: tuple[str, ...], code: int, reason: str) -> None:
    """What is not understood or not granted gives no token, and nothing on standard output."""
    answer = created(*words)
    assert (answer.exit_code, answer.stdout) == (code, "")
    assert reason in answer.stderr
    assert access.store.everything() == []


def test_list(access: Access) -> None:
    """Tokens are listed with what there is to know of them, but never whole."""
    access.people.add(Person("bob", "Bob", None, "admin"), "right")
    text = created("--expires", "12h", "--project", "demo").stdout.strip()
    access.issue("bob", "deals", "other", None)
    access.caller(text, "reporting")
    heading, first, second = run("list").stdout.splitlines()
    assert re.sub(" +", " ", heading) == "ID BEGINS PERSON SERVICE NAME OPENS CREATED EXPIRES LAST USED STATE"
    assert re.match(
        rf"1 +{text[:12]}… +ada +reporting +nightly +demo( +\d{{4}}-\d\d-\d\d \d\d:\d\d){{3}} +active", first
    )
    assert re.match(
        r"2 +trn_dea_.{4}… +bob +deals +other +all that its owner can see +\S+ \S+ +never +never +active",
        second,
    )
    (process_lock,) = run("list", "--person", "Bob").stdout.splitlines()[1:]
    assert process_lock.split() == second.split()


def test_revoke(access: Access) -> None:
    """A revoked token opens nothing; an unknown number is refused."""
    text = created().stdout.strip()
    assert run("revoke", "1").stderr == "Token 1 is revoked\n"
    assert run("list").stdout.splitlines()[1].endswith("revoked")
    assert text not in run("list").output
    unknown = run("revoke", "2")
    assert (unknown.exit_code, unknown.stderr) == (1, "Error: There is no token 2\n")
    assert run("revoke", "x").exit_code == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("90d", timedelta(days=90)), ("12h", timedelta(hours=12)), ("30m", timedelta(minutes=30))],
)
def test_durations(typed: str, meant: timedelta) -> None:
    """Days, hours and minutes are understood."""
    assert Duration().convert(typed, None, None) == meant


@pytest.mark.parametrize(
    "typed", ["", "90", "d", "0d", "-1d", "1.5h", "90 days", "36501d", "999999999d", "٣d"]
)
def test_no_durations(typed: str) -> None:
    """Anything else is refused with examples."""
    with pytest.raises(click.BadParameter, match="like 90d, 12h or 30m"):
        Duration().convert(typed, None, None)
