"""`tranche import`, `tranche import --try`, `tranche slicers`, and `tranche slicer`."""

from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from lib.cli.import_request import ImportRequest, Share, time_zone_option, with_mappings
from lib.cli.import_run import recognize, run, tell_guess, tell_rejects
from lib.cli.options import caller, table
from lib.connect import hanging
from lib.reporting.connected import ConnectedSlicers
from lib.reporting.definition import Definition, RowSource
from lib.reporting.definition.file import definition_yaml, read_definition
from lib.reporting.ingest.files import FORMATS, Reader
from lib.reporting.ingest.importing import refuse_missing
from lib.reporting.ingest.inference import infer
from lib.reporting.ingest.normalize import Normalizer
from lib.reporting.ingest.rejects import Ending, Reject, Rejects
from lib.reporting.ingest.time_guess import ORDERS
from lib.reporting.warehouse import Warehouse
from lib.reporting.warehouse.slicer import StoredSlicer, read_mapping
from lib.settings import Settings
from lib.tokens.access import Access
from lib.wire.errors import BadRequest, TrancheError

_ROWS = 5
_WIDTH = 24
_TRIED_ROWS = 500_000
YES = click.option("--yes", is_flag=True, help="Don't ask.")
_UNITS = ["B", "kB", "MB", "GB", "TB"]
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def try_files(request: ImportRequest) -> None:
    """Show how the files would be read. ImportRefused or BadDefinition where they would be refused."""
    definition = request.settle(read_definition(request.definition)) if request.definition else None
    readers = recognize(request, definition)
    if definition is None:
        mappings = {name: read_mapping(path) for name, path in request.mappings.items()}
        inference = infer(readers[0], mappings, request.hints, readers[1:])
        definition = request.settle(inference.definition)
        tell_guess(inference, ", ".join(reader.file.name for reader in readers))
        click.echo(f"\n{definition_yaml(definition)}")
    else:
        request.refuse_hints()
    for reader in readers:
        _show_first_rows(reader, definition)


def _show_first_rows(reader: Reader, definition: Definition) -> None:
    refuse_missing(reader.file.name, reader.columns, definition)
    rejects, read, tables = Rejects(None), 0, list[pa.Table]()
    normalizer = Normalizer(definition)

    def refuse(reject: Reject) -> None:
        rejects.add(reader.file.name, reject)

    ending = Ending(refuse)
    for raw in reader.rows(definition.source_columns(), refuse):
        read += raw.table.num_rows
        rows, last = normalizer.rows(raw, ending.refuse)
        if sum(table.num_rows for table in tables) < _ROWS:
            tables.append(rows.slice(0, _ROWS))
        if last is not None:
            ending.accept(last)
        if read >= _TRIED_ROWS:
            break
    ending.close()
    first = pa.concat_tables(tables or [definition.schema().empty_table()]).slice(0, _ROWS)
    header = ("FIELD", *(f"ROW {number}" for number in range(1, first.num_rows + 1)))
    lines = [(name, *map(_cell_text, first.column(name).to_pylist())) for name in first.column_names]
    click.echo(f"{reader.file.name} as it would be read:\n\n{table(header, lines)}")
    tell_rejects(rejects)
    what = "the first" if read >= _TRIED_ROWS else "all"
    click.echo(f"\nRead {what} {read:,} rows to show this; nothing was written.")


def _cell_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.15g}"
    text = " | ".join(value) if isinstance(value, list) else str(value).removesuffix("+00:00")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--project", help="The project that the slicer is in.")
@click.option("--slicer", help="The slicer's name in the project.")
@click.option(
    "--try",
    "only_try",
    is_flag=True,
    help="Show the definition and the first rows as they would be read, and write nothing.",
)
@click.option("--definition", type=_FILE, help="YAML file that defines the columns; inferred if not given.")
@with_mappings
@click.option("--append", is_flag=True, help="Add rows to a slicer that exists.")
@click.option("--replace-days", is_flag=True, help="Replace the days of the slicer that are in the files.")
@click.option(
    "--replace", is_flag=True, help="Replace all rows of the slicer, and its definition if one is given."
)
@click.option(
    "--max-rejects",
    type=Share(),
    default="1%",
    show_default=True,
    help="Share of unreadable rows, as 2% or 0.02, above which nothing is imported.",
)
@click.option(
    "--rejects",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the rows that can't be read.  [default: <home>/rejects/<slicer>-<time>.csv]",
)
@click.option("--format", type=click.Choice(FORMATS), help="The files' format, if their names don't show it.")
@click.option("--encoding", help="The files' encoding, such as utf-8 or cp1252; detected if not given.")
@click.option("--delimiter", help="comma, tab, semicolon, pipe or a character; detected if not given.")
@click.option(
    "--header/--no-header", default=None, help="Whether there is a header row; detected if not given."
)
@click.option(
    "--decimal", type=click.Choice([",", "."]), help="Decimal mark, as in 12,50; needed only if ambiguous."
)
@click.option("--thousands", type=click.Choice([",", ".", " ", "'"]), help="Thousands mark, as in 1.285.000.")
@click.option("--sheet", multiple=True, help="A sheet of a workbook to import. Can be given several times.")
@click.option("--all-sheets", is_flag=True, help="Import all sheets that have the columns of the first.")
@click.option("--unpivot", is_flag=True, help="Make a row of each column that is a day: day and value.")
@click.option(
    "--drop-totals/--keep-totals",
    "totals",
    default=None,
    callback=lambda ctx, param, value: value if value is None else "drop" if value else "keep",
    help="Whether rows such as Total, which would count twice, are left out; asked if there are any.",
)
@click.option(
    "--dates",
    type=click.Choice(list(ORDERS)),
    help="Order of day, month and year in dates such as 01/02/2026; asked if more than one fits.",
)
@click.option(
    "--time-zone",
    metavar="NAME",
    callback=time_zone_option,
    help="Zone of times without an offset, such as Europe/Berlin; its standard time sets the slicer's days.",
)
@click.option("--year", type=click.IntRange(1900, 2199), help="Year of dates that are written without one.")
def bring(project: str | None, slicer: str | None, **fields: Any) -> None:
    """Import the rows of FILES into a slicer: CSV, TSV, Excel, Parquet or JSON, each also packed.

    All files together are one atomic import. Packed are gzip, zstd, and zip archives of one file.

    \b
    What is in a file, and how it would be read; nothing is written:
      tranche import --try auctions.csv
    A new slicer, with an inferred definition, shown and written to auctions.yaml:
      tranche import auctions.csv --project acme --slicer auctions
    The next day, or the last days once more:
      tranche import 2026-02-01.csv.gz --project acme --slicer auctions --append
      tranche import last_week.csv --project acme --slicer auctions --replace-days
    Once more from the beginning, with a better definition and names for the country codes:
      tranche import *.csv --project acme --slicer auctions --replace \\
        --definition auctions.yaml --mapping country=countries.csv
    """
    if fields["only_try"]:
        try_files(ImportRequest(project=project or "project", slicer=slicer or "slicer", **fields))
        return
    for name, value in (("--project", project), ("--slicer", slicer)):
        if value is None:
            raise click.UsageError(f"Missing option '{name}'.")
    run(ImportRequest(project=str(project), slicer=str(slicer), **fields), Settings.load())


@click.command()
def slicers() -> None:
    """List the slicers: rows, first and last date, fields, size on disk, last import (UTC), rows' place.

    A slicer whose database does not answer is listed too, and what is wrong with it below. Exit code 1 then.
    """
    settings = Settings.load()
    warehouse = Warehouse(settings.warehouse, ConnectedSlicers(settings.connection_urls).current)
    lines, problems = [], []
    for project, name in warehouse.slicers():
        try:
            stored_slicer = warehouse.open(project, name)
            lines.append(_line(stored_slicer))
            problem = stored_slicer.problem
        except TrancheError as error:
            source = warehouse.definition(project, name).source
            lines.append((project, name, *["–"] * 7, _place(source)))
            problem = error.reason
        if problem:
            problems.append(f"{project}/{name}: {problem}")
    if not lines:
        click.echo("There are no slicers yet; create one with `tranche import` or `tranche demo`.")
        return
    header = (
        "PROJECT",
        "SLICER",
        "ROWS",
        "FIRST",
        "LAST",
        "KEY FIELDS",
        "DATA FIELDS",
        "SIZE",
        "LAST IMPORT",
        "ROWS ARE IN",
    )
    click.echo(table(header, lines))
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _place(source: RowSource | None) -> str:
    return "imported" if source is None else f"{source.connection}: {source.table}"


def _line(slicer: StoredSlicer) -> tuple[str, ...]:
    info = slicer.info()
    last = f"{slicer.imports[-1].when:%Y-%m-%d %H:%M}" if slicer.imports else "–"
    return (
        slicer.project,
        slicer.name,
        f"{slicer.row_count:,}",
        info.first_date or "–",
        info.last_date or "–",
        str(len(info.key_fields)),
        str(len(info.data_fields)),
        _size(slicer.size()),
        last,
        _place(slicer.definition.source),
    )


def _size(amount: float) -> str:
    unit = 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.{0 if unit == 0 else 1}f} {_UNITS[unit]}"


@click.group()
def slicer() -> None:
    """Rename or remove a slicer, PROJECT/SLICER. What depends on it is shown first, and confirmed.

    Rules of a company sign-in that name the slicer, and slicers in files of other desks, are not changed.
    """


@slicer.command()
@click.argument("name", metavar="PROJECT/SLICER")
@YES
def remove(name: str, yes: bool) -> None:
    """Remove a slicer, its imported rows, and the views, alerts, notes and grants that depend on it.

    The table of a connected slicer stays as it is.
    """
    warehouse, access, pair = _open(name)
    source = warehouse.definition(*pair).source
    rows = "its imported rows" if source is None else f"not the table {source.table}, which stays"
    _ask(f"This removes {name} and {rows}{_and_what_hangs(access, pair)}.", yes)
    hanging.remove(warehouse, access, pair, caller())
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
    target = _pair(to)
    _ask(f"This renames {name} to {to}{_and_what_hangs(access, pair)}. Links to {name} end.", yes)
    hanging.rename(warehouse, access, pair, target, caller())
    click.echo(f"Renamed {name} to {to}.")


def _open(name: str) -> tuple[Warehouse, Access, hanging.Pair]:
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
