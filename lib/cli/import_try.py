"""`tranche import --try`: definition and first rows as an import would read them; nothing is written."""

from typing import Any

import click
import pyarrow as pa

from lib.cli.import_request import ImportRequest
from lib.cli.import_run import recognised, tell_guess, tell_rejects
from lib.cli.table import table
from lib.reporting.definition import Definition
from lib.reporting.definition.file import definition_yaml, read_definition
from lib.reporting.ingest.files import Reader
from lib.reporting.ingest.importing import refuse_missing
from lib.reporting.ingest.inference import infer
from lib.reporting.ingest.normalise import Normaliser
from lib.reporting.ingest.rejects import Ending, Reject, Rejects
from lib.reporting.warehouse.mappings import read_mapping

_ROWS = 5
_WIDTH = 24


def try_files(request: ImportRequest) -> None:
    """Show how the files would be read. ImportRefused or BadDefinition where they would be refused."""
    definition = read_definition(request.definition) if request.definition else None
    readers = recognised(request, definition)
    if definition is None:
        mappings = {name: read_mapping(path) for name, path in request.mappings.items()}
        inference = infer(readers[0], mappings, request.hints, readers[1:])
        definition = inference.definition
        tell_guess(inference, ", ".join(found.file.name for found in readers))
        click.echo(f"\n{definition_yaml(definition)}")
    else:
        request.refuse_hints()
    for found in readers:
        _show_first_rows(found, definition)


def _show_first_rows(found: Reader, definition: Definition) -> None:
    refuse_missing(found.file.name, found.columns, definition)
    rejects, read, tables = Rejects(None), 0, list[pa.Table]()
    normaliser = Normaliser(definition)

    def refuse(reject: Reject) -> None:
        rejects.add(found.file.name, reject)

    ending = Ending(refuse)
    for raw in found.rows(definition.source_columns(), refuse):
        read += raw.table.num_rows
        rows, last = normaliser.rows(raw, ending.refuse)
        tables.append(rows.slice(0, _ROWS))
        if last is not None:
            ending.passed(last)
        if sum(rows.num_rows for rows in tables) >= _ROWS:
            break
    ending.close()
    first = pa.concat_tables(tables or [definition.schema().empty_table()]).slice(0, _ROWS)
    header = ("FIELD", *(f"ROW {number}" for number in range(1, first.num_rows + 1)))
    lines = [(name, *map(_shown, first.column(name).to_pylist())) for name in first.column_names]
    click.echo(f"{found.file.name} as it would be read:\n\n{table(header, lines)}")
    tell_rejects(rejects)
    click.echo(f"\nRead {read:,} rows to show this; nothing was written.")


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.15g}"
    text = " | ".join(value) if isinstance(value, list) else str(value).removesuffix("+00:00")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
