"""`tranche slicers` and `tranche slicer`: what is there, under which names."""

from typing import TYPE_CHECKING

import click

from lib.cli.options import caller, table
from lib.settings import Settings
from lib.slicers.definition import RowSource
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer
from lib.wire.errors import BadRequest, TrancheError

if TYPE_CHECKING:
    from lib.people.tokens.access import Access

YES = click.option("--yes", is_flag=True, help="Don't ask.")
Pair = tuple[str, str]
_UNITS = ["B", "kB", "MB", "GB", "TB"]


@click.command()
def slicers() -> None:
    """List the slicers: rows, first and last date, fields, size on disk, last import (UTC), rows' place.

    A slicer whose database does not answer is listed too, and what is wrong with it below. Exit code 1 then.
    """
    settings = Settings.load()

    def current(slicer: StoredSlicer) -> StoredSlicer:
        from lib.engines import ConnectedSlicers  # engines take a second to load: only where a table is asked

        return ConnectedSlicers(settings.connection_urls).current(slicer)

    warehouse = Warehouse(settings.warehouse, current)
    lines, problems = [], []
    for project, name in warehouse.slicers():
        try:
            stored_slicer = warehouse.open(project, name)
            lines.append(_line(stored_slicer))
            problem = stored_slicer.problem
        except TrancheError as error:
            source = warehouse.definition(project, name).source
            lines.append((project, name, *["–"] * 7, _row_location(source)))
            problem = error.reason
        if problem:
            problems.append(f"{project}/{name}: {problem}")
    if not lines:
        click.echo("There are no slicers yet; create one with `tranche import` or `tranche demo`.")
        return
    header = (
        "PROJECT", "SLICER", "ROWS", "FIRST", "LAST", "KEY FIELDS", "DATA FIELDS", "SIZE", "LAST IMPORT",
        "ROWS ARE IN",
    )  # fmt: skip
    click.echo(table(header, lines))
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _row_location(source: RowSource | None) -> str:
    return "imported" if source is None else f"{source.connection}: {source.table}"


def _line(slicer: StoredSlicer) -> tuple[str, ...]:
    info, size, unit = slicer.info(), float(slicer.size()), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return (
        slicer.project, slicer.name, f"{slicer.row_count:,}", info.first_date or "–", info.last_date or "–",
        str(len(info.key_fields)), str(len(info.data_fields)), f"{size:.{1 if unit else 0}f} {_UNITS[unit]}",
        f"{slicer.imports[-1].when:%Y-%m-%d %H:%M}" if slicer.imports else "–",
        _row_location(slicer.definition.source),
    )  # fmt: skip


@click.group()
def slicer() -> None:
    """Rename or remove a slicer, PROJECT/SLICER, or confirm its guesses.

    What depends on it is shown before it is renamed or removed, and confirmed.

    Filters on rows keep narrowing a slicer that gets the old name later, until an administrator lifts them.
    Rules of a company sign-in that name the slicer are not changed, and stop a rename; nor are slicers in
    files of other desks.
    """


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
def confirm(name: str) -> None:
    """Confirm what was guessed about a slicer's fields, so that it is no longer marked."""
    warehouse, _, pair = _open(name)
    names = warehouse.confirm(*pair)
    click.echo(f"Confirmed: {', '.join(names)}." if names else f"Nothing of {name} is marked as a guess.")


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
@YES
def remove(name: str, yes: bool) -> None:
    """Remove a slicer, its imported rows, and the views, alerts, notes and grants that depend on it.

    The table of a connected slicer stays as it is.
    """
    warehouse, access, pair = _open(name)
    from lib.serving.connect import dependents

    source = warehouse.definition(*pair).source
    rows = "its imported rows" if source is None else f"not the table {source.table}, which stays"
    _ask(f"This removes {name} and {rows}{_and_dependents(access, pair)}.", yes)
    dependents.remove(warehouse, access, pair, caller())
    click.echo(f"Removed {name}.")


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
@click.argument("to", metavar="TO_PROJECT/TO_SLICER")
@YES
def rename(name: str, to: str, yes: bool) -> None:
    """Rename a slicer, or move it to another project; views, alerts, notes and grants follow it.

    Links and API requests with the old name stop working.
    """
    warehouse, access, pair = _open(name)
    from lib.people.tokens.company import claim_rules
    from lib.serving.connect import dependents

    target = _pair(to)
    _ask(f"This renames {name} to {to}{_and_dependents(access, pair)}. Links to {name} end.", yes)
    dependents.rename(warehouse, access, pair, target, caller(), claim_rules(Settings.load()))
    click.echo(f"Renamed {name} to {to}.")


def _open(name: str) -> tuple[Warehouse, "Access", Pair]:
    from lib.people.tokens.access import Access

    settings, pair = Settings.load(), _pair(name)
    warehouse = Warehouse(settings.warehouse)
    if not warehouse.has(*pair):
        raise BadRequest(f"There is no slicer {name}; `tranche slicers` lists them")
    return warehouse, Access.of(settings), pair


def _pair(name: str) -> Pair:
    project, slash, slicer_name = name.partition("/")
    if not slash or not project or not slicer_name:
        raise click.UsageError(f"Write PROJECT/SLICER, not '{name}'")
    return project, slicer_name


def _and_dependents(access: "Access", pair: Pair) -> str:
    from lib.serving.connect import dependents

    sentence = dependents.count(access, pair).sentence()
    return f", with {sentence}" if sentence else ""


def _ask(sentence: str, yes: bool) -> None:
    click.echo(sentence)
    if not yes:
        click.confirm("Continue?", abort=True)
