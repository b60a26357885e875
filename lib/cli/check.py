"""`tranche check`: whether the services answer; `tranche verify`: every stored file by its checksums."""

from collections.abc import Callable, Iterator
from functools import partial

import click

from lib.settings import Settings, config_file
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire import time_zones
from lib.wire.errors import Misconfigured
from lib.wire.text import count_of

MARKS = {"ok": "ok", "note": "--", "refused": "REFUSED", "failed": "FAILED"}


@click.command()
def check() -> None:
    """Check the settings, then every remote service, step by step; say how to fix what fails.

    Nothing is changed. Exit code 1 if anything was refused or failed. A running desk keeps the settings that
    it started with: check a changed file here, then restart the desk.
    """
    from lib.serving.check import check as steps

    settings = Settings.load()
    path, good = config_file(), "environment and defaults are good"
    sentence = f"{path} is good" if path.is_file() else f"there is no {path}; {good}"
    click.echo(f"{MARKS['ok']:8}{'settings':11}file: {sentence}")
    is_good = True
    for step in steps(settings):
        click.echo(f"{MARKS[step.state]:8}{step.service:11}{step.what}: {step.result}")
        if step.remedy:
            click.echo(f"{'':19}{step.remedy}")
        is_good = is_good and step.is_good
    if not is_good:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--project", help="Project to check. Default: all.")
@click.option("--slicer", help="Slicer to check. Default: all.")
def verify(project: str | None, slicer: str | None) -> None:
    """Check rows, mappings and layouts of slicers, every byte of them.

    A damaged layout is rebuilt from the rows. Rows and mappings are stored nowhere else: a damaged file
    is named, with what to do, and the exit code is 1. Imports whose times were read with other data of time
    zones are named too.
    """
    from lib.engines import repair

    warehouse = Warehouse(Settings.load().warehouse)
    pairs = [(p, name) for p, name in warehouse.slicers() if project in (None, p) and slicer in (None, name)]
    if not pairs:
        raise click.ClickException("There is no such slicer; `tranche slicers` lists them")
    problems = 0
    for pair in pairs:
        stored_slicer = warehouse.open(*pair)
        damage = list(_damage(stored_slicer))
        problems += len(damage)
        for problem in damage:
            click.echo(f"{problem}\n", err=True)
        if damage:
            state = f"{len(damage)} damaged"
        elif not stored_slicer.layout_folder.exists():
            state = "intact; no layout yet"
        elif (layout_damage := repair(stored_slicer)) is None:
            state = "intact, with its layout"
        else:
            state = f"intact; its layout was damaged ({layout_damage}) and has been rebuilt"
        rows = count_of(stored_slicer.row_count, "row")
        click.echo(f"{stored_slicer.project}/{stored_slicer.name}: {rows}, {state}")
        for note in _other_zone_data(stored_slicer):
            click.echo(note)
    if problems:
        raise click.exceptions.Exit(1)


def _other_zone_data(slicer: StoredSlicer) -> Iterator[str]:
    """Imports of times of a named zone that were read with other data, a line for each version."""
    time, version = slicer.definition.time, time_zones.data().version
    others = [import_ for import_ in slicer.imports if import_.zone_data != version]
    for other in sorted({import_.zone_data for import_ in others}) if time.has_named_zone else ():
        imports = [import_ for import_ in others if import_.zone_data == other]
        files = ", ".join(dict.fromkeys(source.name for import_ in imports for source in import_.sources))
        data = f"data of time zones {other}" if other else "data of time zones that nobody noted"
        yield (
            f"  {time.timezone}: read with {data}, not {version}: {files}. If its clocks differ there, "
            "import the days again with --replace-days."
        )


def _damage(slicer: StoredSlicer) -> Iterator[str]:
    """The damage of files that can't be rebuilt, a sentence each."""
    checks: list[Callable[[], object]] = [
        *(partial(slicer.check, path) for files in slicer.files.values() for path in files),
        *(partial(slicer.mapping, name) for name in slicer.mapping_files),
    ]
    for check in checks:
        try:
            check()
        except Misconfigured as problem:
            yield problem.reason
