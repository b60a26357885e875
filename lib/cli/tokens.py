"""`tranche token …`: tokens with which scripts call the APIs; `tranche log`: the audit log."""

from datetime import UTC, datetime, timedelta

import click

from lib.cli.grant_options import FILTERS, DealsGrantType, with_filters
from lib.cli.options import Duration, caller, table
from lib.people import DealsGrant, Grant
from lib.people.person import labels
from lib.people.tokens.access import Access
from lib.people.tokens.audit import EVENTS, Event
from lib.settings import Settings
from lib.wire.filters import Filter


@click.group()
def token() -> None:
    """Tokens with which scripts call the APIs: each for one person and one service."""


@token.command()
@click.option(
    "--person", required=True, help="Owner of the token; it gives access to at most what they can see."
)
@click.option(
    "--service", type=click.Choice(["reporting", "deals"]), required=True,
    help="The API that the token is for.",
)  # fmt: skip
@click.option("--name", required=True, help="What the token is for, to recognize it later.")
@click.option("--expires", type=Duration(), help="Lifetime, as 90d, 12h or 30m. Default: it never expires.")
@click.option("--project", help="Only this project.")
@click.option("--slicer", help="Only this slicer of the project.")
@FILTERS
@click.option(
    "--deals",
    type=DealsGrantType(),
    help="Permission for the deals API: read, propose, write, or read:3,7 (ids of seats); sync:3,7 for a "
    "DSP.",
)
def create(
    person: str,
    service: str,
    name: str,
    expires: timedelta | None,
    project: str | None,
    slicer: str | None,
    filters: tuple[tuple[Filter, ...], ...],
    deals: DealsGrant | None,
) -> None:
    """Create a token. Only the token is printed to standard output, once; it is not stored.

    \b
    TOKEN=$(tranche token create --person ada --service reporting --name nightly --expires 90d)
    """
    if slicer is not None and project is None:
        raise click.UsageError("--slicer needs --project, the project that the slicer is in")
    if filters and slicer is None:
        raise click.UsageError("--filter needs --project and --slicer: filters belong to one slicer")
    settings = Settings.load()
    grants = () if project is None else with_filters((Grant(project, slicer),), filters, settings)
    access = Access.of(settings)
    text = access.issue(person, settings.services[service], name, expires, grants, deals=deals, by=caller())
    sees = str(deals or (labels(grants) or f"everything that {person} can see"))
    ends = "never expires" if expires is None else f"expires {_time(datetime.now(UTC) + expires)}"
    click.echo(f"For {service}, gives access to {sees}, {ends}. The token is shown only once:", err=True)
    click.echo(text)


@token.command("list")
@click.option("--person", help="Only this person's tokens.")
def list_tokens(person: str | None) -> None:
    """List tokens: number, beginning, owner, service, what they open, last use, state. Times are UTC."""
    access = Access.of(Settings.load())
    tokens = access.store.everything(person.strip().lower() if person else None)
    header = (
        "ID", "BEGINS", "PERSON", "SERVICE", "NAME", "OPENS", "CREATED", "EXPIRES", "LAST USED", "STATE"
    )  # fmt: skip
    now, rows = datetime.now(UTC), []
    for token in tokens:
        opens = str(token.deals or "") or labels(token.grants) or "all that its owner can see"
        ends = "never" if token.expires is None else _time(token.expires)
        last_use = "never" if token.last_used is None else _time(token.last_used)
        whose = (str(token.id), f"{token.prefix}…", token.owner, token.service, token.name)
        rows.append((*whose, opens, _time(token.created), ends, last_use, token.state(now)))
    click.echo(table(header, rows))


@token.command()
@click.argument("token_id", type=int, metavar="ID")
def revoke(token_id: int) -> None:
    """Revoke the token of this number (see `token list`), at once and permanently."""
    access = Access.of(Settings.load())
    access.revoke(access.store.get(token_id), caller())
    click.echo(f"Token {token_id} is revoked", err=True)


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


@click.command("log")
@click.option("--person", help="Only entries about or by this person.")
@click.option(
    "--event", "events", type=click.Choice(EVENTS), multiple=True, help="Only these events. Can be repeated."
)
@click.option("--since", type=Duration(), help="Only the last 90d, 12h or 30m.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=100, show_default=True,
    help="Maximum number of entries.",
)  # fmt: skip
def show_log(person: str | None, events: tuple[Event, ...], since: timedelta | None, limit: int) -> None:
    """Show the audit log, the latest first. Times are UTC."""
    earliest = None if since is None else datetime.now(UTC) - since
    about = person.strip().lower() if person else None
    count, log = Access.of(Settings.load()).audit.entries(limit, 0, about, earliest, events or EVENTS)
    rows = [(f"{e.at:%Y-%m-%d %H:%M:%S}", e.event, e.about, e.who, e.address or "", e.detail) for e in log]
    click.echo(table(("TIME", "EVENT", "PERSON", "BY", "FROM", "DETAILS"), rows))
    if count > len(log):
        click.echo(f"{count - len(log):,} earlier entries: --limit shows more", err=True)
