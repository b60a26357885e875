"""`tranche` itself, and `tranche user`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from peopled import people_in

from lib.cli import COMMANDS, Commands, main
from lib.people import DealsGrant, Grant, People, Person
from lib.people.person import LEVELS
from lib.serving import connect
from lib.settings import Settings
from lib.wire.filters import Filter

PASSWORD = "correct horse"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> People:
    """A home of its own, nobody in it."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    return people_in(tmp_path)


def run(*words: str, typed: str = "") -> Result:
    """Run the command line with these arguments and this input."""
    return CliRunner().invoke(main, list(words), input=typed, prog_name="tranche")


def added(*words: str) -> Result:
    """Ada, with what these words say of her."""
    return run("user", "add", "ada", *words, "--password-stdin", typed=f"{PASSWORD}\n")


def test_help_names_every_command() -> None:
    """`tranche --help` has a sentence for each command, a first example, and the exit codes."""
    shown = run("--help")
    assert shown.exit_code == 0
    for name, (_, sentence) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(sentence)}$", shown.output, re.MULTILINE)
    assert "tranche import auctions.csv" in shown.output
    assert "Exit codes: 0" in shown.output


def test_help_is_quick_to_make() -> None:
    """Help imports no command's module and none of the heavy packages."""
    program = "import sys; from lib.cli import main; main(['--help'], standalone_mode=False); "
    program += "heavy = {'pandas', 'pyarrow', 'sqlalchemy', 'fastapi', 'streamlit'}; "
    program += "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, cwd=Path(__file__).parents[2]
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name: str) -> None:
    """Each command that help names can be called, and has help of its own."""
    group = main
    assert isinstance(group, Commands)
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.help
    assert run(name, "--help").exit_code == 0


def test_unknown_command() -> None:
    """A command that is none is not understood: exit code 2."""
    assert run("sliders").exit_code == 2
    assert "Unknown command 'xyz'\n" in run("xyz").stderr


@pytest.mark.parametrize(
    ("words", "name"), [(("improt",), "import"), (("user", "lst"), "list"), (("slicer", "renam"), "rename")]
)
def test_misspelled_command(words: tuple[str, ...], name: str) -> None:
    """A misspelled command or one of its parts is answered with the nearest one."""
    answer = run(*words)
    assert answer.exit_code == 2
    assert f"id you mean '{name}'?" in answer.stderr


@pytest.mark.parametrize("words", [("user", "add"), ("user", "change"), ("token", "create")])
def test_help_names_every_permission_for_deals(words: tuple[str, ...]) -> None:
    """`--deals` has all levels in its help, as they are typed."""
    assert f"--deals {'|'.join(LEVELS)}[:seats]".upper() in run(*words, "--help").output.upper()


def test_version() -> None:
    """`tranche --version` says which version is installed."""
    assert run("--version").output.startswith("tranche 0.")


def test_a_wrong_setting_is_one_sentence(people: People, tmp_path: Path) -> None:
    """An error is printed as its sentence, without a traceback, with exit code 1."""
    (tmp_path / "tranche.toml").write_text("prot = 1")
    answer = run("user", "list")
    assert answer.exit_code == 1
    assert answer.stderr == f"Error: {tmp_path}/tranche.toml: Unknown setting 'prot'; did you mean 'port'?\n"


def test_add(people: People) -> None:
    """A person is added with role, name, e-mail and grants, and can sign in."""
    words = ("--role", "manager", "--full-name", "Ada Example", "--email", "ada@example.org")
    answer = added(*words, "--grant", "demo", "--grant", "other/x")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert "Added ada (manager), who may see demo, other/x" in answer.stderr
    person = people.check("ada", PASSWORD)
    assert person is not None
    assert (person.name, person.email, person.role) == ("Ada Example", "ada@example.org", "manager")
    assert person.grants == (Grant("demo"), Grant("other", "x"))


def test_the_password_is_asked_for_twice_and_not_shown(people: People) -> None:
    """At the keyboard the password is typed twice, alike, and never printed."""
    typed = f"{PASSWORD}\nanother one\n{PASSWORD}\n{PASSWORD}\n"
    answer = run("user", "add", "Ada", "--role", "admin", typed=typed)
    assert answer.exit_code == 0
    assert "do not match" in answer.output
    assert PASSWORD not in answer.output
    assert people.check("ada", PASSWORD)


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("--role", "boss"), 2, "'boss' is not one of 'viewer', 'manager', 'admin'"),
        ((), 2, "Missing option '--role'"),
        (
            ("--role", "viewer", "--grant", "demo/"),
            2,
            "'demo/' is not a grant: write project, project/slicer",
        ),
    ],
)
def test_not_understood(people: People, words: tuple[str, ...], code: int, reason: str) -> None:
    """A role or grant that is none is a usage error."""
    answer = added(*words)
    assert answer.exit_code == code
    assert reason in answer.stderr
    assert people.everyone() == []


def test_refused(people: People) -> None:
    """A name that is taken or none, and a short password, are refused, with exit code 1."""
    added("--role", "viewer")
    assert added("--role", "viewer").stderr == "Error: There is a person 'ada' already\n"
    short = run("user", "add", "bob", "--role", "viewer", "--password-stdin", typed="short\n")
    assert (short.exit_code, short.stderr) == (1, "Error: A password has at least 8 characters\n")
    odd = run("user", "add", "no name", "--role", "viewer", "--password-stdin", typed=f"{PASSWORD}\n")
    assert odd.exit_code == 1
    assert "can't be a user name" in odd.stderr
    assert [person.username for person in people.everyone()] == ["ada"]


def test_list(people: People) -> None:
    """People are listed with what they may see, in columns."""
    people.add(Person("ada", "Ada", None, "viewer", (Grant("demo"), Grant("other", "x"))), "pw")
    people.add(Person("root", "Root Example", "root@example.org", "admin"), "pw")
    assert run("user", "list").stdout.splitlines() == [
        "USER  NAME          ROLE    E-MAIL            MAY SEE        DEALS",
        "ada   Ada           viewer                    demo, other/x  none",
        "root  Root Example  admin   root@example.org  everything     write",
    ]


def test_grant_and_revoke(people: People) -> None:
    """Grants are given and taken back, several at a time."""
    added("--role", "viewer")
    assert "may see demo, other/x" in run("user", "grant", "ada", "demo", "other/x", "--yes").stderr
    assert "may see other/x" in run("user", "grant", "ada", "demo", "--revoke").stderr
    again = run("user", "grant", "ada", "demo", "--revoke")
    assert (again.exit_code, again.stderr) == (
        1,
        "Error: 'ada' does not hold the grant 'demo', but other/x\n",
    )
    unknown = run("user", "grant", "adda", "demo")
    assert (unknown.exit_code, unknown.stderr) == (1, "Error: Unknown person 'adda'; did you mean 'ada'?\n")


def test_what_does_not_exist_is_asked_about(people: People, home: Path) -> None:
    """A grant of a project or slicer that is not there names the nearest one, and is given with a yes."""
    added("--role", "viewer")
    shutil.copytree(home / "warehouse", Settings.load().warehouse)
    assert run("user", "grant", "ada", "demo", "demo/delivery", "*").exit_code == 0
    run("user", "grant", "ada", "demo", "demo/delivery", "*", "--revoke")
    for target, question in (
        ("demmo", "Unknown project 'demmo'; did you mean 'demo'. Grant it anyway?"),
        ("demo/delivry", "Unknown slicer 'demo/delivry'; did you mean 'demo/delivery'. Grant it anyway?"),
    ):
        asked = run("user", "grant", "ada", target, typed="n\n")
        assert (asked.exit_code, people.require("ada").grants) == (1, ())
        assert question in asked.stderr
        assert f"may see {target}" in run("user", "grant", "ada", target, typed="y\n").stderr
        run("user", "grant", "ada", target, "--revoke")
        assert f"may see {target}" in run("user", "grant", "ada", target, "--yes").stderr
        run("user", "grant", "ada", target, "--revoke")


def test_a_slicer_is_granted_with_filters(people: People) -> None:
    """Rows are limited by filters beside the grant, listed in words, and open again without."""
    added("--role", "viewer")
    as_json = '{"name": "site", "value": ["Shop"], "match": "contains", "case_insensitive": 1}'
    granted = run("user", "grant", "ada", "demo/sales", "--filter", "seat=3,7", "--filter", as_json, "--yes")
    limit = "demo/sales (only seat equals 3, 7; site contains Shop (in any case))"
    assert f"may see {limit}" in granted.stderr
    seats = Filter(name="seat", value=("3", "7"), match="equals")
    site = Filter(name="site", value=("Shop",), match="contains", case_insensitive=1)
    assert people.require("ada").grants == (Grant("demo", "sales", (seats, site)),)
    assert limit in run("user", "list").stdout
    assert "may see demo/sales;" in run("user", "grant", "ada", "demo/sales", "--yes").stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("demo", "--filter", "seat=3"), "belong to one slicer"),
        (("demo/sales", "--filter", "seat"), "no filters"),
        (("demo/sales", "--filter", '{"name": "seat", "value": "3"}'), "no filters"),
        (("demo/sales", "--filter", "seat=3", "--revoke"), "leave --filter out"),
    ],
)
def test_filters_that_can_not_be(people: People, words: tuple[str, ...], reason: str) -> None:
    """What is no filter of one slicer is refused, and the person has what they had."""
    added("--role", "viewer", "--grant", "demo/sales")
    refused = run("user", "grant", "ada", *words)
    assert (refused.exit_code > 0, reason in refused.stderr) == (True, True), refused.stderr
    assert people.require("ada").grants == (Grant("demo", "sales"),)


def test_deals_are_granted_apart_from_projects(people: People) -> None:
    """A new person may see no deals until they are granted: all or those of some seats."""
    assert "may see no deals" in added("--role", "manager", "--grant", "demo").stderr
    answer = run("user", "change", "ada", "--deals", "write:3,7")
    assert "deals: may change the deals of the seats 3, 7" in answer.stderr
    assert people.get("ada").deals == DealsGrant("write", frozenset({3, 7}))
    assert "may see the deals of the seats 3, 7" in run("user", "change", "ada", "--role", "viewer").stderr
    refused = run("user", "change", "ada", "--deals", "write")
    assert (refused.exit_code, people.get("ada").deals.writes) == (1, False)
    assert "A viewer can't change deals" in refused.stderr
    both = run("user", "change", "ada", "--role", "manager", "--deals", "write")
    assert "ada (manager), who may see demo; deals: may change all deals" in both.stderr
    odd = run("user", "change", "ada", "--deals", "write:x")
    assert (odd.exit_code, "is not a grant for deals: write none, read, propose or write" in odd.stderr) == (
        2,
        True,
    )
    assert run("user", "change", "ada").exit_code == 2


def test_another_password(people: People) -> None:
    """A password is replaced; of an unknown person none is even asked."""
    added("--role", "viewer")
    assert run("user", "password", "ada", "--password-stdin", typed="battery staple\n").exit_code == 0
    assert people.check("ada", "battery staple")
    assert run("user", "password", "bob").stderr == "Error: Unknown person 'bob'\n"


def test_remove(people: People) -> None:
    """Removing asks first, and takes the person's tokens with it."""
    added("--role", "viewer", "--deals", "read")
    token = run("token", "create", "--person", "ada", "--service", "deals", "--name", "x").stdout.strip()
    kept = run("user", "remove", "ada", typed="n\n")
    assert (kept.exit_code, people.get("ada") is None) == (1, False)
    assert "1 of their tokens revoked" in run("user", "remove", "ada", typed="y\n").stderr
    assert people.get("ada") is None
    assert run("user", "remove", "ada", "--yes").exit_code == 1
    assert token not in run("token", "list").output
    assert "revoked" in run("token", "list").output


def test_home_is_private(people: People, tmp_path: Path) -> None:
    """All that the command line makes in its home is for its owner alone."""
    added("--role", "viewer")
    run("token", "list")
    connect.installation(Settings.load())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_who_may_make_share_links(people: People) -> None:
    """`--shares` grants it and `--no-shares` takes it away; nothing else changes it."""
    assert not added("--role", "manager").exit_code
    assert not people.require("ada").may_share
    assert "may make share links" in run("user", "change", "ada", "--shares").output
    run("user", "change", "ada", "--role", "viewer")
    assert people.require("ada").may_share
    run("user", "change", "ada", "--role", "admin")
    run("user", "change", "ada", "--role", "viewer", "--no-shares")
    assert not people.require("ada").may_share
