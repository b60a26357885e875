"""`tranche backup`, `tranche restore` and `tranche move-state`."""

import os
from pathlib import Path

import click

from lib.serving.backup import Inventory, back_up, move
from lib.serving.backup import restore as restored
from lib.settings import CONFIG, SETTINGS, Settings, config_file
from lib.settings.local import PREFIX
from lib.wire.text import count_of

FILE = click.Path(path_type=Path, dir_okay=False)
HOME = ".tranche"
LOCATIONS = {f"{PREFIX}HOME", CONFIG}


@click.command()
@click.argument("file", type=FILE)
def backup(file: Path) -> None:
    """Write one archive of the installation into a new FILE: slicers, people, secrets, database, settings.

    The desk may run, and imports may go on: a slicer is backed up as it was before or after an import. The
    archive holds secrets and password hashes; it is readable by its owner alone.
    """
    settings = Settings.load()
    archive = back_up(settings, file)
    click.echo(f"{file}: {_describe(archive.contents)}, {archive.size / 1e6:,.1f} MB")
    if archive.left_out:
        click.echo(f"Not in it, because Tranche did not write it: {', '.join(archive.left_out)}", err=True)
    if archive.moved:
        click.echo(
            f"Not in it: {archive.moved}, the state before `tranche move-state` copied it to PostgreSQL; "
            "delete it when you no longer need it",
            err=True,
        )
    if config_file().is_file() and config_file().absolute() != settings.home / "tranche.toml":
        click.echo(f"Not in it: the settings file {config_file()}, which {CONFIG} names", err=True)
    names = sorted(
        f"{PREFIX}{name.upper()}"
        for name in SETTINGS
        if os.environ.get(f"{PREFIX}{name.upper()}") and f"{PREFIX}{name.upper()}" not in LOCATIONS
    )
    if names:
        click.echo(f"Not in it: the settings of the environment ({', '.join(names)})", err=True)


@click.command()
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Replace a data directory that holds something, all of it.")
def restore(file: Path, replace: bool) -> None:
    """Restore the data directory from the archive FILE, after every byte of it was verified.

    Stop the desk first. With --replace the former data directory is kept under another name.
    """
    home = Settings.load().home if os.environ.get(CONFIG) else Path(os.environ.get(f"{PREFIX}HOME") or HOME)
    home = home.expanduser().absolute()
    summary = restored(file, home, replace=replace)
    click.echo(f"{home}: {_describe(summary.contents)}, as of {summary.contents.made:%Y-%m-%d %H:%M:%S} UTC")
    if summary.other_database:
        click.echo(
            f"Its tranche.toml names another database, {summary.other_database}: a desk that starts without "
            "TRANCHE_DATABASE_URL would open that one. Change database_url in the file",
            err=True,
        )
    if summary.former:
        click.echo(f"The former one is {summary.former}; delete it when you no longer need it")


def _describe(contents: Inventory) -> str:
    slicers = count_of(len(contents.slicers()), "slicer")
    database = {None: "no database yet", "sqlite": "SQLite database", "postgresql": "rows of PostgreSQL"}
    kind = contents.database.kind if contents.database else None
    return f"{slicers}, {count_of(len(contents.members), 'file')}, {database[kind]}"


@click.command("move-state")
@click.option("--to", "url", required=True, help="SQLAlchemy URL of an empty PostgreSQL database.")
def move_state(url: str) -> None:
    """Copy people, sign-ins, tokens, deals and views from the SQLite file to PostgreSQL, all or nothing.

    Stop the desk first. The file is left as it is, and rows of slicers stay in the data directory. A URL on
    the command line is visible to others on the machine: leave the password out of it, and give it in
    PGPASSWORD or ~/.pgpass.
    """
    from lib.serving import connect

    settings = Settings.load()
    connect.installation(settings)
    rows = move(settings, url)
    click.echo(
        f"{count_of(sum(rows.values()), 'row')} of {count_of(len(rows), 'table')} copied. "
        "Now set database_url to the new database"
    )
