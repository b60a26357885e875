"""`tranche token …`: tokens with which scripts call the APIs."""

from datetime import UTC, datetime, timedelta

import click

from lib.cli.durations import Duration
from lib.cli.table import table
from lib.people import Grant
from lib.settings import Settings
from lib.tokens.access import Access
from lib.tokens.models import Token


@click.group()
def token() -> None:
    """Tokens with which scripts call the APIs: each for one person and one service."""


@token.command()
@click.option("--person", required=True, help="Whose token it is; it opens at most what they may see.")
@click.option(
    "--service", type=click.Choice(["reporting", "deals"]), required=True, help="The API that it opens."
)
@click.option("--name", required=True, help="What it is for, so that it can be told from others later.")
@click.option("--expires", type=Duration(), help="After 90d, 12h or 30m; without it, never.")
@click.option("--project", help="Opens this project alone.")
@click.option("--slicer", help="Opens this slicer of the project alone.")
def create(
    person: str, service: str, name: str, expires: timedelta | None, project: str | None, slicer: str | None
) -> None:
    """Make a token; it stands alone on standard output, this once, and is not kept.

    \b
    TOKEN=$(tranche token create --person ada --service reporting --name nightly --expires 90d)
    """
    if slicer is not None and project is None:
        raise click.UsageError("--slicer needs --project, the project that the slicer is in")
    settings = Settings.load()
    grants = () if project is None else (Grant(project, slicer),)
    text = Access.of(settings).issue(person, settings.services[service], name, expires, grants)
    sees = str(grants[0]) if grants else f"all that {person} may see"
    ends = "never expires" if expires is None else f"expires {_time(datetime.now(UTC) + expires)}"
    click.echo(f"For {service}, opens {sees}, {ends}. It is shown this once:", err=True)
    click.echo(text)


@token.command("list")
@click.option("--person", help="This person's alone.")
def list_tokens(person: str | None) -> None:
    """List tokens: number, beginning, owner, service, what they open, last use, state. Times are UTC."""
    access = Access.of(Settings.load())
    kept = access.store.everything(person.strip().lower() if person else None)
    header = (
        "ID",
        "BEGINS",
        "PERSON",
        "SERVICE",
        "NAME",
        "OPENS",
        "CREATED",
        "EXPIRES",
        "LAST USED",
        "STATE",
    )
    click.echo(table(header, [_row(one, datetime.now(UTC)) for one in kept]))


@token.command()
@click.argument("token_id", type=int, metavar="ID")
def revoke(token_id: int) -> None:
    """Make the token of this number (see `token list`) worthless, at once and for good."""
    Access.of(Settings.load()).store.revoke(token_id)
    click.echo(f"Token {token_id} is revoked", err=True)


def _row(one: Token, now: datetime) -> tuple[str, ...]:
    opens = ", ".join(map(str, one.grants)) or "all of theirs"
    ends = "never" if one.expires is None else _time(one.expires)
    used = "never" if one.last_used is None else _time(one.last_used)
    times = (_time(one.created), ends, used, one.state(now))
    return (str(one.id), f"{one.prefix}…", one.owner, one.service, one.name, opens, *times)


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
