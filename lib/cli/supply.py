"""`tranche supply`: import supply files from a folder."""

from functools import partial
from pathlib import Path

import click

from lib.cli.options import caller, table
from lib.deals.supply.formats import position
from lib.deals.supply.store import SupplyFiles, folder_files
from lib.people.tokens.audit import Audit, Event
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import ImportRefused

MOST_LINES = 20


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def supply(folder: Path) -> None:
    """Import the supply files in FOLDER: who may sell which sites and apps.

    Files are named like news.example.ads.txt or news.example/ads.txt; the same for app-ads.txt and
    sellers.json. apps.csv has the columns app and domain. Each file replaces its previous version. Files with
    other names are skipped; lines that can't be read are reported.

    \b
    tranche supply crawl/
    """
    names, others = folder_files(folder)
    resources = connect.installation(Settings.load())
    note = partial(_note, resources.access.audit)
    files = SupplyFiles(resources.access.store.engine, None, note, caller())
    outcomes = files.add(names)
    read = [outcome for outcome in outcomes if not outcome.refusal]
    rows = []
    for kind in sorted({outcome.kind for outcome in read}):
        same = [outcome for outcome in read if outcome.kind == kind]
        records = sum(outcome.records for outcome in same)
        problem_count = sum(outcome.problem_count for outcome in same)
        rows.append((kind, f"{len(same):,}", f"{records:,}", f"{problem_count:,}"))
    click.echo(table(("KIND", "FILES", "RECORDS", "LINES NOT READ"), rows))
    lines = [
        f"{outcome.name}, {position(outcome.kind, problem.line)}: {problem.why}"
        for outcome in read
        for problem in outcome.problems
    ]
    for line in lines[:MOST_LINES]:
        click.echo(line, err=True)
    if others:
        click.echo(f"{others:,} other files were skipped", err=True)
    refusals = [outcome for outcome in outcomes if outcome.refusal]
    if refusals:
        sentences = "\n".join(outcome.refusal for outcome in refusals[:MOST_LINES])
        more = f"\nand {len(refusals) - MOST_LINES:,} more" if len(refusals) > MOST_LINES else ""
        raise ImportRefused(f"{len(refusals):,} of {len(outcomes):,} files were refused:\n{sentences}{more}")


def _note(audit: Audit, event: Event, detail: str) -> None:
    audit.note(event, caller(), "supply files", detail)
