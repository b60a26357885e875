"""One call of `tranche import`: recognise, define, read, commit, prepare; each step told on the screen."""

import datetime as dt
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from lib import private
from lib.cli.import_request import Request
from lib.cli.table import table
from lib.reporting.definition import Definition
from lib.reporting.definition.file import definition_yaml, read_definition
from lib.reporting.ingest.delimited import delimiter_named
from lib.reporting.ingest.importing import Job, digests, import_files, missing_columns
from lib.reporting.ingest.inference import Inference, infer
from lib.reporting.ingest.readers import reader
from lib.reporting.ingest.rejects import Rejects
from lib.reporting.ingest.rows import Reader
from lib.reporting.warehouse import Warehouse
from lib.reporting.warehouse.mappings import read_mapping
from lib.reporting.warehouse.stored import StoredSlicer
from lib.reporting.warehouse.writer import refuse_mode
from lib.settings import Settings
from lib.wire.errors import ImportRefused

Mappings = Mapping[str, Mapping[str, str]]


def run(request: Request, settings: Settings) -> None:
    """Do what was asked. ImportRefused or BadDefinition when it can't be done; nothing was changed then."""
    try:
        stored, before = _imported(request, settings)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise ImportRefused(f"{error.strerror or error}{where}; nothing was changed") from None
    _report(stored, before)
    _prepare(stored)


def _imported(request: Request, settings: Settings) -> tuple[StoredSlicer, StoredSlicer | None]:
    """The slicer as it is after the import, and as it was before."""
    mode, warehouse = request.mode, Warehouse(settings.warehouse)
    before = (
        warehouse.open(request.project, request.slicer)
        if warehouse.has(request.project, request.slicer)
        else None
    )
    refuse_mode(mode, before is not None, request.target)
    mappings = {name: read_mapping(path) for name, path in request.mappings.items()}
    readers = _readers(request)
    definition = _definition(request, before, readers, mappings)
    job = Job(request.project, request.slicer, readers, definition, mappings, mode, request.max_rejects)
    private.folder(settings.home)
    return _import(job, warehouse, request.rejects or _rejects_path(settings, request)), before


def _readers(request: Request) -> list[Reader]:
    try:
        delimiter = delimiter_named(request.delimiter) if request.delimiter else None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--delimiter") from None
    readers = [reader(path, request.format, request.encoding, delimiter) for path in request.files]
    for found in readers:
        gzipped = ", gzipped" if found.file.is_gzipped else ""
        click.echo(f"{found.file.name}: {found.description}{gzipped}")
    return readers


def _definition(
    request: Request, before: StoredSlicer | None, readers: Sequence[Reader], mappings: Mappings
) -> Definition:
    """The definition that was given; else the slicer's own, where the files fit it; else a guess."""
    if request.definition:
        return read_definition(request.definition)
    if before and (request.mode != "replace" or all(_fits(found, before.definition) for found in readers)):
        click.echo(f"Definition: that of {request.target}, as it is")
        return before.definition
    inference = infer(readers[0], mappings)
    path = _write_definition(request, inference.definition)
    _tell(inference, readers[0].file.name, path)
    return inference.definition


def _fits(found: Reader, definition: Definition) -> bool:
    """Whether a file has the columns that a definition reads; NDJSON may leave out empty ones."""
    if found.columns is not None:
        return not missing_columns(found.columns, definition)
    next(iter(found.rows(None, lambda reject: None)), None)
    return definition.time.column in found.seen


def _write_definition(request: Request, definition: Definition) -> Path:
    """Write what was guessed into the current folder, beside files of that name that say something else."""
    name, source = _plain(request.slicer), " ".join(request.files[0].name.split())
    slicer = ["--project", request.project, "--slicer", request.slicer]
    command = shlex.join(["tranche", "import", source, *slicer, "--replace", "--definition", f"{name}.yaml"])
    head = f"# Guessed from {source}. Check it, mend it, and import again with\n#   {command}\n"
    text = head + definition_yaml(definition)
    number, path = 2, Path(f"{name}.yaml")
    while path.exists() and path.read_bytes() != text.encode():
        path, number = Path(f"{name}-{number}.yaml"), number + 1
    path.write_text(text, encoding="utf-8")
    return path


def _tell(inference: Inference, file: str, path: Path) -> None:
    rows = [(inference.time.column, f"time ({inference.time.granularity})", inference.time.reason)]
    rows += [(guess.column, guess.kind, guess.reason) for guess in inference.columns]
    click.echo(f"\nDefinition guessed from the first rows of {file}:\n")
    click.echo(table(("COLUMN", "TAKEN FOR", "BECAUSE"), rows))
    click.echo(
        f"\nWritten to {path.absolute()}; mend it there and import again with --replace --definition\n"
    )


def _import(job: Job, warehouse: Warehouse, rejects_path: Path) -> StoredSlicer:
    size = sum(found.file.size for found in job.readers)
    with _bar("Checking", size) as checked:
        marks = digests(job.readers, checked)
    with Rejects(rejects_path) as rejects:
        try:
            with _bar("Reading", size) as read:
                return import_files(job, marks, warehouse, rejects, read)
        finally:
            _tell_rejects(rejects)


@contextmanager
def _bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


def _tell_rejects(rejects: Rejects) -> None:
    if not len(rejects):
        return
    click.echo(f"\n{len(rejects):,} rows can't be read:")
    for reason, count in rejects.counts.most_common():
        click.echo(f"{count:>9,}  {reason}")
        for example in rejects.examples[reason]:
            click.echo(f"{'':9}    {example}")
    click.echo(f"All of them are in {rejects.path}\n")


def _report(stored: StoredSlicer, before: StoredSlicer | None) -> None:
    info, brought = stored.info(), stored.imports[-1].rows
    in_all = f", {stored.row_count:,} in all" if before else ""
    click.echo(
        f"{brought:,} rows imported into {stored.project}/{stored.name}{in_all}; "
        f"its days are {info.first_date} to {info.last_date}"
    )


def _prepare(stored: StoredSlicer) -> None:
    from lib.reporting.engines.resident import prepare

    with click.progressbar(length=1000, label="Preparing", file=sys.stderr) as bar:
        prepare(stored, lambda share: bar.update(round(1000 * share) - bar.pos))


def _rejects_path(settings: Settings, request: Request) -> Path:
    now = dt.datetime.now(dt.UTC)
    return settings.home / "rejects" / f"{_plain(request.slicer)}-{now:%Y%m%dT%H%M%S}.csv"


def _plain(name: str) -> str:
    """A name as the name of a file, wherever it is read."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
