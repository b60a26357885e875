"""One call of `tranche import`: infer, define, read, commit, prepare."""

import datetime as dt
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import click
import pyarrow as pa

from lib.cli.import_progress import reading
from lib.cli.options import plain_name, table, write_definition
from lib.ingest import Format, Hints, ImportJob, Reader, Rejects, fits, import_files, infer, readers
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.definition.file import read_definition
from lib.slicers.definition.reading import ALL_SHEETS, OverlapRule, Sheets, Totals, time_zone
from lib.slicers.warehouse import Mode, Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer, read_mapping
from lib.slicers.warehouse.writer import refuse_mode
from lib.wire import private
from lib.wire.errors import ImportRefused, RowsOverlap
from lib.wire.text import and_more, count_of

Mappings = Mapping[str, Mapping[str, str]]
_WORDS = 20
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def slicer_hours(zone: str) -> int:
    """The whole hours east of UTC of a zone's standard time. ValueError where it has none."""
    moment = dt.datetime.now(time_zone(zone))
    offset = (moment.utcoffset() or dt.timedelta()) - (moment.dst() or dt.timedelta())
    hours, rest = divmod(offset, dt.timedelta(hours=1))
    if rest or not -12 <= hours <= 12:
        raise ValueError(
            f"the days of a slicer begin on whole hours from -12 to 12, not {offset} ahead of UTC; "
            "name the zone in a definition, as the time's timezone"
        )
    return hours


@dataclass(frozen=True)
class ImportRequest:
    """The arguments and options of one call, as they were typed."""

    files: tuple[Path, ...]
    project: str
    slicer: str
    definition: Path | None
    mappings: dict[str, Path]
    append: bool
    replace_days: bool
    replace: bool
    max_rejects: float
    rejects: Path | None
    format: Format | None
    encoding: str | None
    delimiter: str | None
    header: bool | None
    decimal: str | None
    thousands: str | None
    year: int | None
    dates: str | None
    time: str | None
    time_zone: str | None
    sheet: tuple[str, ...]
    all_sheets: bool
    totals: Totals | None
    overlap: OverlapRule | None
    unpivot: bool
    only_try: bool

    @property
    def sheets(self) -> Sheets:
        """The sheets of workbooks to import; a usage error if all and some are named."""
        if self.sheet and self.all_sheets:
            raise click.UsageError("--sheet and --all-sheets can't be used together; name one")
        return ALL_SHEETS if self.all_sheets else self.sheet or None

    def settle(self, definition: Definition) -> Definition:
        """A definition with this call's sheets, totals, days across columns and time zone."""
        options: dict[str, Any] = {"sheets": self.sheets, "totals": self.totals, "unpivot": self.unpivot}
        if self.time_zone:
            time = definition.time.model_copy(update={"timezone": self.time_zone})
            options |= {"time": time, "timezone": slicer_hours(self.time_zone)}
        return definition.model_copy(update={name: value for name, value in options.items() if value})

    @property
    def hints(self) -> Hints:
        """The hints for inference; a usage error if they contradict each other."""
        if self.decimal and self.decimal == self.thousands:
            raise click.UsageError(f"--decimal and --thousands can't both be '{self.decimal}'")
        decimal = self.decimal or {".": ",", ",": "."}.get(self.thousands or "")
        return Hints(decimal, self.thousands, self.year, self.dates, self.time)

    def refuse_hints(self) -> None:
        """Raise a usage error if options of inference are given where nothing is inferred."""
        for name in ("decimal", "thousands", "year", "dates", "time", "header"):
            if getattr(self, name) is not None:
                raise click.UsageError(f"--{name} is for inferring; with a definition, write it there")

    @property
    def target(self) -> str:
        return f"{self.project}/{self.slicer}"

    @property
    def mode(self) -> Mode:
        """The mode of the import; a usage error if two are given."""
        flags: dict[Mode, bool] = {
            "append": self.append, "replace-days": self.replace_days, "replace": self.replace,
        }  # fmt: skip
        modes = [mode for mode, is_chosen in flags.items() if is_chosen]
        if len(modes) > 1:
            raise click.UsageError(f"--{modes[0]} and --{modes[1]} can't be used together; name one")
        is_several = len(self.files) > 1 or self.sheets or self.definition
        if self.overlap and not self.append and not is_several:
            raise click.UsageError(
                "--overlap is for --append or several files or sheets, whose rows may come again"
            )
        return modes[0] if modes else "create"


def run(request: ImportRequest, settings: Settings) -> None:
    """Run the import. ImportRefused or BadDefinition if it can't be done; nothing is changed then.

    A signal that ends the process leaves the slicer as it was before, or with all rows, and says which.
    """
    with suppress(NotImplementedError):  # not in every build; takes half of the system's time, less memory
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    warehouse, name, target = Warehouse(settings.warehouse), (request.project, request.slicer), request.target
    private.folder(settings.home)
    before: StoredSlicer | None = None
    try:
        with stoppable():
            with warehouse.lock(*name):
                before = warehouse.open(*name) if warehouse.has(*name) else None
                readers, slicer = _import_slicer(request, settings, warehouse, before)
            _report(slicer, before, readers)
            _prepare(slicer)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise ImportRefused(f"{error.strerror or error}{where}; nothing was changed") from None
    except StopSignal as stop:
        if not warehouse.has(*name):
            left = f"nothing was imported, and there is no slicer {target}. Run the same command again"
        elif before and warehouse.open(*name).imports == before.imports:
            left = f"nothing was imported, and {target} is as it was before. Run the same command again"
        else:
            left = f"all rows are imported into {target}; the first question prepares them"
        click.echo(f"\nStopped by {stop.name}: {left}", err=True)
        raise click.exceptions.Exit(stop.exit_code) from None


def _import_slicer(
    request: ImportRequest, settings: Settings, warehouse: Warehouse, before: StoredSlicer | None
) -> tuple[list[Reader], StoredSlicer]:
    """The files that were read, and the slicer after the import; `before` is what it was."""
    refuse_mode(request.mode, before is not None, request.target)
    mappings = {name: read_mapping(path) for name, path in request.mappings.items()}
    readers, definition, new_file = _readers_and_definition(request, before, mappings)
    job = ImportJob(
        request.project, request.slicer, readers, definition, mappings, request.mode, request.max_rejects,
        request.overlap,
    )  # fmt: skip
    now = dt.datetime.now(dt.UTC)
    usual_path = settings.home / "rejects" / f"{plain_name(request.slicer)}-{now:%Y%m%dT%H%M%S}.csv"
    rejects_path = request.rejects or usual_path
    try:
        try:
            slicer = _import(job, warehouse, rejects_path)
        except RowsOverlap as overlap:
            slicer = _import(_settle_overlap(job, overlap), warehouse, rejects_path)
    except OSError:
        if new_file is not None:
            new_file.unlink()
        raise
    return readers, slicer


def _settle_overlap(job: ImportJob, overlap: RowsOverlap) -> ImportJob:
    """The job as a person at the terminal wants it; without one, or if they stop, exit code 2."""
    answers: dict[str, dict[str, Any]] = {"skip": {"overlap": "skip"}, "add": {"overlap": "add"}}
    if not overlap.is_among_files:
        answers = {"replace-days": {"mode": "replace-days"}} | answers
    answer = "stop"
    if sys.stdin.isatty():
        click.echo(f"\n{overlap.reason}\n", err=True)
        answer = click.prompt("These rows", type=click.Choice([*answers, answer]), default=answer, err=True)
    if answer not in answers:
        raise click.UsageError(overlap.reason)
    return replace(job, **answers[answer])


def recognize(request: ImportRequest, definition: Definition | None = None) -> list[Reader]:
    """The readers of the files; prints what was recognized."""
    files = _open(request, definition)
    for reader in files:
        compression = f", {reader.file.compression}" if reader.file.compression else ""
        click.echo(f"{reader.file.name}: {reader.description}{compression}")
    return files


def _open(request: ImportRequest, definition: Definition | None) -> list[Reader]:
    try:
        delimiter = Hints.delimiter(request.delimiter) if request.delimiter else None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--delimiter") from None
    text = request.format, request.encoding, delimiter, request.header
    tables = definition, request.sheets, request.unpivot
    return [reader for path in request.files for reader in readers(path, *text, *tables)]


def _readers_and_definition(
    request: ImportRequest, before: StoredSlicer | None, mappings: Mappings
) -> tuple[list[Reader], Definition, Path | None]:
    """The files, and the definition: the given one, the slicer's own if it fits, or an inferred one.

    The last is the file that an inferred one was written to, unless it was there before.
    """
    if request.definition:
        request.refuse_hints()
        definition = request.settle(read_definition(request.definition))
        return recognize(request, definition), definition, None
    if before and request.mode != "replace":
        request.refuse_hints()
    if before and (request.mode != "replace" or _all_fit(request, before.definition)):
        definition = request.settle(before.definition)
        files = recognize(request, definition)
        click.echo(f"Definition: that of {request.target}, unchanged")
        _tell_misfits(files, definition)
        return files, definition, None
    files = recognize(request)
    inference = infer(files[0], mappings, request.hints, files[1:])
    definition = request.settle(inference.definition)
    name, source = plain_name(request.slicer), " ".join(request.files[0].name.split())
    slicer = ["--project", request.project, "--slicer", request.slicer]
    command = shlex.join(["tranche", "import", source, *slicer, "--replace", "--definition", f"{name}.yaml"])
    head = f"Inferred from {source}. Check it, change it, and import again with\n  {command}"
    lines = [head, *inference.notes]
    path, is_new = write_definition(request.slicer, "\n".join(lines), definition)
    tell_guess(inference.reasons, inference.notes, ", ".join(file.file.name for file in files))
    click.echo(
        f"\nWritten to {path.absolute()}; change it there and import again with --replace --definition\n"
    )
    files = files if definition.header else recognize(request, definition)
    return files, definition, path if is_new else None


def _tell_misfits(files: Sequence[Reader], definition: Definition) -> None:
    """Print what later files say against the definition, or why they can't be held against it."""
    decimal = None if definition.decimal == "unknown" else definition.decimal
    hints = Hints(decimal, definition.thousands)
    try:
        sentences = infer(files[0], None, hints, files[1:], definition.time).misfits(definition)
    except (ImportRefused, ValueError) as error:
        why = f"as they can't be inferred alone: {error}"
        sentences = [f"the definition is not compared with these files, {why}"]
    for sentence in sentences:
        click.echo(f"Check: {sentence}.")


def _all_fit(request: ImportRequest, definition: Definition) -> bool:
    """Whether all files have the columns of a definition, and no option asks for another guess."""
    if request.hints != Hints() or request.header is not None:
        return False
    try:
        return all(fits(reader, definition) for reader in _open(request, definition))
    except ImportRefused:
        return False


def tell_guess(reasons: Sequence[tuple[str, str, str]], notes: Sequence[str], file: str) -> None:
    """Print what was inferred of each column, and why."""
    click.echo(f"\nDefinition inferred from the first rows of {file}:\n")
    click.echo(table(("COLUMN", "INFERRED AS", "BECAUSE"), reasons))
    click.echo("".join(f"\n{note}" for note in notes))


def _import(job: ImportJob, warehouse: Warehouse, rejects_path: Path) -> StoredSlicer:
    size = sum(reader.file.size for reader in job.readers)
    with click.progressbar(length=size, label="Checking", file=sys.stderr) as bar:
        marks = job.digests(bar.update)
    with Rejects(rejects_path) as rejects:
        try:
            with reading(size) as progress:
                slicer = import_files(job, marks, warehouse, rejects, progress.read, progress.take)
        except StopSignal:
            if len(rejects):
                rejects_path.unlink()
            raise
        except BaseException:
            tell_rejects(rejects)
            raise
        tell_rejects(rejects)
        return slicer


def tell_rejects(rejects: Rejects) -> None:
    """Print the number of rejected rows by reason, with examples."""
    for counts, label in ((rejects.left_out, "left out"), (rejects.faults, "can't be read")):
        if counts:
            total = sum(count for _, count in counts)
            click.echo(f"\n{count_of(total, 'row')} {label}:")
        for reason, count in counts:
            click.echo(f"{count:>9,}  {reason}")
            for example in rejects.examples[reason]:
                click.echo(f"{'':9}    {example}")
    if len(rejects) and rejects.path:
        click.echo(f"All of them are in {rejects.path}\n")
    for (column, word), count in rejects.missing_words.most_common(_WORDS):
        click.echo(f"{word!r} {count_of(count, 'time')} in '{column}': read as missing")
    if len(rejects.missing_words) > _WORDS:
        click.echo(f"and {len(rejects.missing_words) - _WORDS:,} other words for missing values")
    for note in rejects.notes:
        click.echo(note)


def _report(slicer: StoredSlicer, before: StoredSlicer | None, readers: Sequence[Reader]) -> None:
    """Print what was imported, and the columns that no field is read from: a later file may bring one."""
    info, rows = slicer.info(), slicer.imports[-1].rows
    in_all = f", {slicer.row_count:,} in all" if before else ""
    click.echo(
        f"{count_of(rows, 'row')} imported into {slicer.project}/{slicer.name}{in_all}; "
        f"its days are {info.first_date} to {info.last_date}"
    )
    columns = dict.fromkeys(name for reader in readers for name in reader.names)
    formulas = {field.name for field in slicer.definition.data_fields if field.formula}
    read = formulas.union(slicer.definition.source_columns())
    names = [f"'{name}'" for name in columns if name not in read]
    if names:
        click.echo(f"Not imported, as no field is read from it: {and_more(names, _WORDS)}")


def _prepare(slicer: StoredSlicer) -> None:
    from lib.engines import prepare

    try:
        with click.progressbar(length=1000, label="Preparing", file=sys.stderr) as bar:
            prepare(slicer, lambda share: bar.update(round(1000 * share) - bar.pos))
    except OSError as error:
        click.echo(
            f"\nNot prepared: {error.strerror or error}. The rows are imported; the first question "
            "prepares them, once there is space on the disk.",
            err=True,
        )


class StopSignal(BaseException):
    """A signal asks the process to end. No Exception: what catches errors is not to go on."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number  # as shells report it


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise StopSignal in the block when a signal asks the process to end; further ones are ignored then.

    Signals that are ignored already, as SIGHUP below `nohup`, stay so. Only the main thread gets signals: in
    another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise StopSignal(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
