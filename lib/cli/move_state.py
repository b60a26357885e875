"""`tranche move-state`."""

import click

from lib import connect
from lib.backup import move
from lib.settings import Settings


@click.command("move-state")
@click.option("--to", "url", required=True, help="SQLAlchemy URL of an empty PostgreSQL database.")
def move_state(url: str) -> None:
    """Copy people, sign-ins, tokens, deals and views from the SQLite file to PostgreSQL, all or nothing.

    Stop the desk first. The file is left as it is, and rows of slicers stay in the data directory. A URL on
    the command line is visible to others on the machine: leave the password out of it, and give it in
    PGPASSWORD or ~/.pgpass.
    """
    settings = Settings.load()
    connect.installation(settings)
    moved = move(settings, url)
    rows = sum(moved.rows.values())
    click.echo(f"{rows:,} rows of {len(moved.rows)} tables copied. Now set database_url to the new database")
