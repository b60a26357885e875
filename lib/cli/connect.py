"""`tranche connect`: a slicer whose rows stay in the table of a database."""

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click
from pydantic import ValidationError

from lib.cli.options import plain_name, with_mappings, write_definition
from lib.engines import ConnectedSlicers
from lib.settings import Settings
from lib.slicers.definition import Definition, RowSource
from lib.slicers.definition.file import read_definition
from lib.slicers.definition.reading import READING
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import read_mapping
from lib.slicers.warehouse.writer import refuse_mode
from lib.wire import private
from lib.wire.errors import BadRequest
from lib.wire.text import count_of

Mappings = Mapping[str, Mapping[str, str]]
_SAMPLE_ROWS = 50_000
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("connect")
@click.argument("connection")
@click.argument("table")
@click.option("--project", required=True, help="The project that the slicer is in.")
@click.option("--slicer", required=True, help="The slicer's name in the project.")
@click.option("--definition", type=_FILE, help="YAML file that defines the columns; inferred if not given.")
@with_mappings
@click.option("--replace", is_flag=True, help="Replace the slicer of that name, and its rows if it has any.")
@click.option(
    "--days-from",
    metavar="TABLE",
    help="Table of loads with a date and how many rows came for it: the rows themselves are never counted.",
)
def connect(
    connection: str,
    table: str,
    project: str,
    slicer: str,
    definition: Path | None,
    mappings: dict[str, Path],
    replace: bool,
    days_from: str | None,
) -> None:
    """Make a slicer of the TABLE of a CONNECTION of the settings. Its rows stay there.

    \b
    tranche connect lake auctions --project acme --slicer auctions
    tranche connect warehouse auctions --project acme --slicer auctions --days-from loads
    tranche connect warehouse reports.deliveries --project acme --slicer delivery --definition delivery.yaml
    """
    settings = Settings.load()
    connected = ConnectedSlicers(settings.connection_urls)
    warehouse = Warehouse(settings.warehouse, connected.current)
    try:
        source = RowSource(connection=connection, table=table, days_from=days_from)
    except ValidationError as error:
        what = "connection" if error.errors()[0]["loc"] == ("connection",) else "table"
        wrong_name = connection if what == "connection" else table
        raise BadRequest(
            f"The name of a {what} has 1 to 200 characters, no quotes and no control characters, unlike "
            f"{wrong_name!r}: {'name a view of it' if what == 'table' else 'choose one of the settings'}"
        ) from None
    descriptions = {name: read_mapping(path) for name, path in mappings.items()}
    refuse_mode("replace" if replace else "create", warehouse.has(project, slicer), f"{project}/{slicer}")
    if definition is None:
        slicer_definition = _infer(connected, source, descriptions, project, slicer)
    else:
        slicer_definition = read_definition(definition).model_copy(update={"source": source})
    connected.live.check(slicer_definition)
    private.folder(settings.home)
    warehouse.connect(project, slicer, slicer_definition, descriptions, replace)
    stored_slicer = warehouse.open(project, slicer)
    info, count = stored_slicer.info(), stored_slicer.row_count
    days = f"its days are {info.first_date} to {info.last_date}"
    rows = f"{count_of(count, 'row')}, {days}" if count else "no rows yet"
    click.echo(f"{project}/{slicer} is connected to {table}: {rows}")


def _infer(
    connected: ConnectedSlicers, source: RowSource, mappings: Mappings, project: str, slicer: str
) -> Definition:
    """The definition that the first rows suggest, printed and written to a file."""
    import pyarrow.parquet as pq

    from lib.cli.import_run import tell_guess
    from lib.ingest import Hints, infer, readers

    sample = connected.live.sample(source, _SAMPLE_ROWS)
    left_out = dict(sample.left_out)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{plain_name(source.table)}.parquet"
        is_fitting = False
        while not is_fitting:
            names = [name for name in sample.rows.column_names if name not in left_out]
            pq.write_table(sample.rows.select(names), path)
            inference = infer(readers(path)[0], mappings, Hints(is_database=True))
            # The definition without how cells of files are read.
            content = inference.definition.model_dump(exclude_defaults=True)
            parts = {name: value for name, value in content.items() if name not in (*READING, "thousands")}
            parts["data_fields"] = [
                {name: value for name, value in field.items() if name not in READING}
                for field in content.get("data_fields", ())
            ]
            definition = Definition.model_validate(parts | {"source": source})
            misfits = connected.live.misfits(definition)
            left_out |= misfits
            is_fitting = not misfits
    command = ["tranche", "connect", source.connection, source.table, "--project", project, "--slicer"]
    rerun = shlex.join([*command, slicer, "--replace", "--definition", f"{plain_name(slicer)}.yaml"])
    head = f"Inferred from {source.table}. Check it, change it, and connect again with\n  {rerun}"
    path, _ = write_definition(slicer, head, definition)
    notes = [*inference.notes, *(f"Left out: '{name}': {why}." for name, why in left_out.items())]
    tell_guess(inference.reasons, notes, source.table)
    click.echo(
        f"\nWritten to {path.absolute()}; change it there and connect again with --replace --definition\n"
    )
    return definition
