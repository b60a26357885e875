"""`tranche import --try`: how files would be read; nothing is written."""

from typing import Any

import click

from lib.cli.import_run import ImportRequest, recognize, tell_guess, tell_rejects
from lib.cli.options import table
from lib.ingest import Rejects, infer, preview
from lib.slicers.definition.file import definition_yaml, read_definition
from lib.slicers.warehouse.slicer import read_mapping
from lib.wire.text import count_of

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
        tell_guess(inference.reasons, inference.notes, ", ".join(reader.file.name for reader in readers))
        click.echo(f"\n{definition_yaml(definition)}")
    else:
        request.refuse_hints()
    for reader in readers:
        rejects = Rejects(None)
        first, count = preview(reader, definition, rejects, _ROWS, _TRIED_ROWS)
        header = ("FIELD", *(f"ROW {number}" for number in range(1, first.num_rows + 1)))
        lines = [(name, *map(_cell_text, first.column(name).to_pylist())) for name in first.column_names]
        click.echo(f"{reader.file.name} as it would be read:\n\n{table(header, lines)}")
        tell_rejects(rejects)
        which = "the first " if count >= _TRIED_ROWS else "all " if count > 1 else ""
        click.echo(f"\nRead {which}{count_of(count, 'row')} to show this; nothing was written.")


def _cell_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.15g}"
    text = " | ".join(value) if isinstance(value, list) else str(value).removesuffix("+00:00")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
