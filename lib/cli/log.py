"""`tranche log`: who signed in, who was refused, who changed whose permissions and tokens."""

from datetime import UTC, datetime, timedelta

import click

from lib.cli.options import Duration, table
from lib.settings import Settings
from lib.tokens.access import Access
from lib.tokens.audit import EVENTS, Event


@click.command("log")
@click.option("--person", help="Only entries about or by this person.")
@click.option(
    "--event", "events", type=click.Choice(EVENTS), multiple=True, help="Only these events. Can be repeated."
)
@click.option("--since", type=Duration(), help="Only the last 90d, 12h or 30m.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Maximum number of entries.",
)
def show_log(person: str | None, events: tuple[Event, ...], since: timedelta | None, limit: int) -> None:
    """Show the audit log, the latest first. Times are UTC."""
    earliest = None if since is None else datetime.now(UTC) - since
    about = person.strip().lower() if person else None
    count, entries = Access.of(Settings.load()).audit.entries(limit, 0, about, earliest, events or EVENTS)
    rows = [
        (f"{one.at:%Y-%m-%d %H:%M:%S}", one.event, one.about, one.who, one.address or "", one.detail)
        for one in entries
    ]
    click.echo(table(("TIME", "EVENT", "PERSON", "BY", "FROM", "DETAILS"), rows))
    if count > len(entries):
        click.echo(f"{count - len(entries):,} earlier entries: --limit shows more", err=True)
