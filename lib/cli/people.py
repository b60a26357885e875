"""`tranche user …`: who may sign in, and what they may see."""

import sys
from typing import TYPE_CHECKING

import click

from lib.cli.grant_options import FILTERS, DealsGrantType, with_filters
from lib.cli.options import caller, table
from lib.people import NO_DEALS, ROLES, DealsGrant, Grant, Person, Role, passwords
from lib.people.person import EVERYTHING, labels
from lib.settings import Settings
from lib.wire.errors import BadRequest, UnknownName
from lib.wire.filters import Filter

if TYPE_CHECKING:
    from lib.people.tokens.access import Access

DEALS_HELP = (
    "Permission for deals: none, read, propose or write, for all seats or for some: write:3,7 (ids); "
    "sync:3,7 for a DSP."
)
SHARES = click.option(
    "--shares/--no-shares", default=None,
    help="Whether they may make share links for people without an account.",
)  # fmt: skip
FROM_STDIN = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, not from the keyboard."
)
GRANT_HELP = (
    "A project, or project/slicer; * is everything; project/slicer/[{…}], with filter objects of the "
    "reporting API, only the rows that pass. Can be repeated."
)
SEATS_HINT = (
    "In {0} they see the rows of every seat. To limit them to the seats of their deals: "
    "tranche user grant {1} {0} --filter {2}"
)


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
    """People: who may sign in, their roles, and what they may see: projects, slicers, deals.

    A viewer reads, a manager may change deals too, an admin sees everything and decides who else may. Deals
    belong to no project: who may see or change them, of which seats, is a grant of its own.
    """


@user.command()
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True)
@click.option("--full-name", help="Name on screen. Default: the user name.")
@click.option("--email")
@click.option("--grant", "grants", type=GrantType(), multiple=True, help=GRANT_HELP)
@click.option("--deals", type=DealsGrantType(), default=NO_DEALS, help=f"{DEALS_HELP} Default: none.")
@SHARES
@FROM_STDIN
def add(
    name: str,
    role: Role,
    full_name: str | None,
    email: str | None,
    grants: tuple[Grant, ...],
    deals: DealsGrant,
    shares: bool | None,
    password_stdin: bool,
) -> None:
    """Add the person NAME; asks for their password twice."""
    settings = Settings.load()
    own, username = with_filters(grants, (), settings), name.strip().lower()
    person = Person(username, full_name or name, email, role, own, deals=deals, shares=bool(shares))
    access = _access()
    if access.people.get(person.username):
        raise BadRequest(f"There is a person '{person.username}' already")
    access.add(person, _password(password_stdin), caller())
    click.echo(f"Added {_describe(person)}", err=True)
    _offer_seats(person, settings)


@user.command()
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES))
@click.option("--deals", type=DealsGrantType(), help=DEALS_HELP)
@click.option("--email", help="Address for mails; empty: none.")
@SHARES
def change(
    name: str, role: Role | None, deals: DealsGrant | None, email: str | None, shares: bool | None
) -> None:
    """Change role or e-mail address of the person NAME, or their permissions for deals and share links.

    A new role brings its usual permission for deals, unless another one was granted.
    """
    if (role, deals, email, shares) == (None, None, None, None):
        raise click.UsageError("Name what to change: --role, --deals, --email, --shares")
    person = _access().change(name, caller(), role=role, deals=deals, email=email, shares=shares)
    click.echo(_describe(person), err=True)
    _offer_seats(person, Settings.load())


@user.command("list")
def list_people() -> None:
    """List all people: user name, name, role, e-mail, grants, deals, and company accounts, if any."""
    people = _access().people.everyone()
    rows: list[tuple[str, ...]] = [
        (person.username, person.name, person.role, person.email or "", _grants(person), str(person.deals))
        for person in people
    ]
    titles: tuple[str, ...] = ("USER", "NAME", "ROLE", "E-MAIL", "MAY SEE", "DEALS")
    if any(person.company for person in people):
        accounts = (f"{p.company}, blocked: {p.blocked}" if p.blocked else p.company for p in people)
        rows = [(*row, account) for row, account in zip(rows, accounts, strict=True)]
        titles = (*titles, "COMPANY ACCOUNT")
    click.echo(table(titles, rows))


@user.command()
@click.argument("name")
@click.option("--undo", is_flag=True, help="Let them sign in again.")
def block(name: str, undo: bool) -> None:
    """Block the person NAME, who has a company account: their sessions and tokens stop working at once."""
    person = _access().block(name, caller(), is_blocked=not undo)
    click.echo(f"{person.username} {'may sign in again' if undo else 'is blocked'}", err=True)


@user.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def remove(name: str, yes: bool) -> None:
    """Remove the person NAME; their tokens stop working."""
    access = _access()
    if not yes and access.people.get(name):
        click.confirm(f"Remove {name} and revoke their tokens?", abort=True, err=True)
    count = access.remove(name, caller())
    click.echo(f"Removed {name}; {count} of their tokens revoked", err=True)


@user.command()
@click.argument("name")
@click.argument("grants", type=GrantType(), nargs=-1, required=True, metavar="PROJECT[/SLICER]...")
@FILTERS
@click.option("--revoke", is_flag=True, help="Revoke these grants instead.")
@click.option("--yes", is_flag=True, help="Don't ask about projects and slicers that don't exist.")
def grant(
    name: str, grants: tuple[Grant, ...], filters: tuple[tuple[Filter, ...], ...], revoke: bool, yes: bool
) -> None:
    """Grant the person NAME projects (all their slicers) or single slicers; * is everything.

    A slicer may be granted with filters; they hold beside a grant for its whole project too. Granting the
    slicer again without them opens all of its rows.

    \b
    tranche user grant ada demo/curation --filter seat=3,7
    tranche user grant ada demo/sales --filter '{"name": "site", "value": ["shop"], "match": "contains"}'
    """
    if filters and revoke:
        raise click.UsageError("--revoke takes a grant away with all of its filters: leave --filter out")
    settings = Settings.load()
    own = grants if revoke else with_filters(grants, filters, settings)
    access = _access()
    access.people.require(name)
    if not (revoke or yes):
        # A grant of what does not exist may be a slip, or come later.
        from lib.slicers.warehouse import Warehouse

        pairs = map("/".join, Warehouse(settings.warehouse).slicers())
        slicers = {*(settings.remote.slicers if settings.remote.base_url else pairs)}
        names = slicers | {name.partition("/")[0] for name in slicers}
        for new in own:
            target = new.project if new.slicer is None else f"{new.project}/{new.slicer}"
            if new.project != EVERYTHING and target not in names:
                reason = UnknownName("project" if new.slicer is None else "slicer", target, names).reason
                click.confirm(f"{reason.rstrip('.?')}. Grant it anyway?", abort=True, err=True)
    person = access.regrant(name, own, caller(), takes=revoke)
    click.echo(_describe(person), err=True)
    _offer_seats(person, settings)


@user.command()
@click.argument("name")
@FROM_STDIN
@click.option("--keep-tokens", is_flag=True, help="Keep their tokens. Default: they are revoked.")
def password(name: str, password_stdin: bool, keep_tokens: bool) -> None:
    """Set a new password for the person NAME; signs them out and revokes their tokens."""
    access = _access()
    access.people.require(name)
    text = _password(password_stdin)
    count = access.set_password(name, text, caller(), revokes_tokens=not keep_tokens)
    outcome = "their tokens keep working" if keep_tokens else f"{count} of their tokens revoked"
    click.echo(f"The password of {name} is changed; {outcome}", err=True)


def _access() -> "Access":
    from lib.people.tokens.access import Access

    return Access.of(Settings.load())


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return passwords.check(sys.stdin.readline().rstrip("\r\n"))
    return passwords.check(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _grants(person: Person) -> str:
    return "everything" if person.role == "admin" else labels(person.grants)


def _describe(person: Person) -> str:
    sees = _grants(person) or "nothing yet"
    shares = "; may make share links" if person.shares else ""
    return f"{person.username} ({person.role}), who may see {sees}; deals: may {person.deals.words}{shares}"


def _offer_seats(person: Person, settings: Settings) -> None:
    """Name the filter that fits, where somebody with the deals of some seats sees the rows of all."""
    from lib.slicers.warehouse import Warehouse

    warehouse = Warehouse(settings.warehouse)
    for project, slicer in warehouse.slicers() if person.deals.seats is not None else ():
        field = warehouse.definition(project, slicer).slicer(None, None).seat_field
        if field and person.may_see(project, slicer) and not person.row_filters(project, slicer):
            seats = ",".join(map(str, sorted(person.deals.seats or ())))
            about = f"{project}/{slicer}", person.username, f"{field}={seats}"
            click.echo(SEATS_HINT.format(*about), err=True)
