"""`tranche import --try`: how files would be read; nothing is written."""

from typing import Any

import click
import pyarrow as pa

from lib.cli.import_run import ImportRequest, recognize, tell_guess, tell_rejects
from lib.cli.options import table
from lib.ingest.files import Reader
from lib.ingest.importing import refuse_missing
from lib.ingest.inference import infer
from lib.ingest.normalize import Normalizer
from lib.ingest.rejects import Ending, Reject, Rejects
from lib.slicers.definition import Definition
from lib.slicers.definition.file import definition_yaml, read_definition
from lib.slicers.warehouse.slicer import read_mapping

_ROWS = 5
_WIDTH = 24
_TRIED_ROWS = 500_000


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
    rejects.missing_words.update(normalizer.missing_words)
    rejects.clock_notes += normalizer.clock_notes
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
