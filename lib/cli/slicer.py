"""`tranche slicer`: rename or remove a slicer, with what hangs on it."""

import click

from lib.cli.options import caller
from lib.connect import hanging
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.tokens.access import Access
from lib.wire.errors import BadRequest

YES = click.option("--yes", is_flag=True, help="Don't ask.")


@click.group()
def slicer() -> None:
    """Rename or remove a slicer, PROJECT/SLICER. What hangs on it is shown, and asked about, before.

    Rules of a company sign-in that name the slicer, and slicers in files of other desks, are not changed.
    """


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
@YES
def remove(name: str, yes: bool) -> None:
    """Remove a slicer, its imported rows, and the views, alerts, notes and grants that hang on it.

    The table of a connected slicer stays as it is.
    """
    warehouse, access, pair = _opened(name)
    source = warehouse.definition(*pair).source
    rows = "its imported rows" if source is None else f"not the table {source.table}, which stays"
    _ask(f"This removes {name} and {rows}{_and_what_hangs(access, pair)}.", yes)
    warehouse.remove(*pair)
    hanging.remove(access, pair, caller())
    click.echo(f"Removed {name}.")


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
@click.argument("to", metavar="TO_PROJECT/TO_SLICER")
@YES
def rename(name: str, to: str, yes: bool) -> None:
    """Rename a slicer, or move it to another project; views, alerts, notes and grants follow it.

    Links to the old name, and tokens' calls of the API that name it, find it no more.
    """
    warehouse, access, pair = _opened(name)
    target = _pair(to)
    _ask(f"This renames {name} to {to}{_and_what_hangs(access, pair)}. Links to {name} end.", yes)
    warehouse.rename(*pair, *target)
    hanging.rename(access, pair, target, caller())
    click.echo(f"Renamed {name} to {to}.")


def _opened(name: str) -> tuple[Warehouse, Access, hanging.Pair]:
    settings, pair = Settings.load(), _pair(name)
    warehouse = Warehouse(settings.warehouse)
    if not warehouse.has(*pair):
        raise BadRequest(f"There is no slicer {name}; `tranche slicers` lists them")
    return warehouse, Access.of(settings), pair


def _pair(name: str) -> hanging.Pair:
    project, slash, slicer_name = name.partition("/")
    if not slash or not project or not slicer_name:
        raise click.UsageError(f"Write PROJECT/SLICER, not '{name}'")
    return project, slicer_name


def _and_what_hangs(access: Access, pair: hanging.Pair) -> str:
    words = hanging.hanging(access, pair).sentence()
    return f", with {words}" if words else ""


def _ask(sentence: str, yes: bool) -> None:
    click.echo(sentence)
    if not yes:
        click.confirm("Continue?", abort=True)
