"""`tranche import`: its arguments and options. What it does is imported once they are understood."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from lib.cli.options import LazyChoice, Share, with_mappings
from lib.settings import Settings

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _formats() -> Sequence[str]:
    from lib.ingest import Format

    return get_args(Format)


def _orders() -> Sequence[str]:
    from lib.ingest import Hints

    return Hints.ORDERS


def _overlap_rules() -> Sequence[str]:
    from lib.slicers.definition.reading import OverlapRule

    return get_args(OverlapRule)


def _time_zone(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a time zone whose offset a slicer's days can have; a usage error for another text."""
    if value is None:
        return None
    from lib.cli.import_run import slicer_hours

    try:
        slicer_hours(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    return value


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--project", help="The project that the slicer is in.")
@click.option("--slicer", help="The slicer's name in the project.")
@click.option(
    "--try", "only_try", is_flag=True,
    help="Show the definition and the first rows as they would be read, and write nothing.",
)  # fmt: skip
@click.option("--definition", type=_FILE, help="YAML file that defines the columns; inferred if not given.")
@with_mappings
@click.option("--append", is_flag=True, help="Add rows to a slicer that exists.")
@click.option("--replace-days", is_flag=True, help="Replace the days of the slicer that are in the files.")
@click.option(
    "--replace", is_flag=True, help="Replace all rows of the slicer, and its definition if one is given."
)
@click.option(
    "--overlap", type=LazyChoice(_overlap_rules),
    help="Whether rows whose time and key fields come again, in the slicer or a later file, "
    "are added or left out (skip).",
)  # fmt: skip
@click.option(
    "--max-rejects", type=Share(), default="1%", show_default=True,
    help="Share of unreadable rows, as 2% or 0.02, above which nothing is imported.",
)  # fmt: skip
@click.option(
    "--rejects", type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the rows that can't be read.  [default: <home>/rejects/<slicer>-<time>.csv]",
)  # fmt: skip
@click.option("--format", type=LazyChoice(_formats), help="The files' format, if their names don't show it.")
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
    "--drop-totals/--keep-totals", "totals", default=None,
    callback=lambda ctx, param, value: value if value is None else "drop" if value else "keep",
    help="Whether rows such as Total, which would count twice, are left out; asked if there are any.",
)  # fmt: skip
@click.option(
    "--dates", type=LazyChoice(_orders),
    help="Order of day, month and year in dates such as 01/02/2026; asked if more than one fits.",
)  # fmt: skip
@click.option(
    "--time", metavar="COLUMN",
    help="The column of a row's time; inferred from values and names if not given.",
)  # fmt: skip
@click.option(
    "--time-zone", metavar="NAME", callback=_time_zone,
    help="Zone of times without an offset, such as Europe/Berlin; its standard time sets the slicer's days.",
)  # fmt: skip
@click.option("--year", type=click.IntRange(1900, 2199), help="Year of dates that are written without one.")
def import_(project: str | None, slicer: str | None, **fields: Any) -> None:
    """Import the rows of FILES into a slicer: CSV, TSV, Excel, Parquet, Arrow, ORC or JSON,
    each also packed.

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
    if not fields["only_try"]:
        for name, value in (("--project", project), ("--slicer", slicer)):
            if value is None:
                raise click.UsageError(f"Missing option '{name}'.")
    from lib.cli.import_run import ImportRequest, run

    # An empty name is one that no slicer can have, and not a missing one.
    project, slicer = "project" if project is None else project, "slicer" if slicer is None else slicer
    request = ImportRequest(project=project, slicer=slicer, **fields)
    if fields["only_try"]:
        from lib.cli.import_try import try_files

        try_files(request)
    else:
        run(request, Settings.load())
