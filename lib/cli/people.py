"""`tranche user …`: who may sign in, and what they may see."""

import sys

import click

from lib.cli.table import table
from lib.people import ROLES, SHORTEST_PASSWORD, Grant, People, Person, Role
from lib.settings import Settings
from lib.wire.errors import BadRequest, UnknownName

GRANT_HELP = "A project, or project/slicer; * is everything. May be repeated."


class GrantType(click.ParamType[Grant]):
    """A grant as it is typed."""

    name = "project[/slicer]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Grant:
        """The grant; a text that is none is a usage error."""
        try:
            return Grant.parse(str(value))
        except BadRequest as error:
            self.fail(error.reason, param, ctx)


@click.group()
def user() -> None:
    """People: who may sign in, their roles, and the projects and slicers that they may see.

    A viewer reads reports, a manager sets up deals too, an admin sees everything and decides who else may.
    """


@user.command()
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True)
@click.option("--full-name", help="As the desk shows it; the user name without one.")
@click.option("--email")
@click.option("--grant", "grants", type=GrantType(), multiple=True, help=GRANT_HELP)
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, not from the keyboard."
)
def add(
    name: str,
    role: Role,
    full_name: str | None,
    email: str | None,
    grants: tuple[Grant, ...],
    password_stdin: bool,
) -> None:
    """Add the person NAME; asks for their password twice."""
    person = Person(name.strip().lower(), full_name or name, email, role, grants)
    people = _people()
    if people.get(person.username):
        raise BadRequest(f"There is a person '{person.username}' already")
    people.add(person, _password(password_stdin))
    click.echo(f"Added {_described(person)}", err=True)


@user.command("list")
def list_people() -> None:
    """List all people: user name, name, role, e-mail, grants."""
    rows = [
        (person.username, person.name, person.role, person.email or "", _grants(person))
        for person in _people().everyone()
    ]
    click.echo(table(("USER", "NAME", "ROLE", "E-MAIL", "MAY SEE"), rows))


@user.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
def remove(name: str, yes: bool) -> None:
    """Remove the person NAME; their tokens stop working."""
    from lib.tokens.access import Access

    access = Access.of(Settings.load())
    if not yes and access.people.get(name):
        click.confirm(f"Remove {name} and revoke their tokens?", abort=True, err=True)
    revoked = access.remove(name)
    click.echo(f"Removed {name}; {revoked} of their tokens revoked", err=True)


@user.command()
@click.argument("name")
@click.argument("grants", type=GrantType(), nargs=-1, required=True, metavar="PROJECT[/SLICER]...")
@click.option("--revoke", is_flag=True, help="Take the grants away instead.")
def grant(name: str, grants: tuple[Grant, ...], revoke: bool) -> None:
    """Let the person NAME see projects (all their slicers) or single slicers; * is everything."""
    people = _people()
    person = people.revoke(name, grants) if revoke else people.grant(name, grants)
    click.echo(_described(person), err=True)


@user.command()
@click.argument("name")
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, not from the keyboard."
)
def password(name: str, password_stdin: bool) -> None:
    """Give the person NAME another password."""
    people = _people()
    if people.get(name) is None:
        raise UnknownName("person", name, [person.username for person in people.everyone()])
    people.set_password(name, _password(password_stdin))
    click.echo(f"The password of {name} is changed", err=True)


def _people() -> People:
    return People(Settings.load().people_file)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    else:
        given = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    if len(given) < SHORTEST_PASSWORD:
        raise BadRequest(f"The password is too short: at least {SHORTEST_PASSWORD} characters")
    return str(given)


def _grants(person: Person) -> str:
    return "everything" if person.role == "admin" else ", ".join(map(str, person.grants))


def _described(person: Person) -> str:
    return f"{person.username} ({person.role}), who may see {_grants(person) or 'nothing yet'}"
