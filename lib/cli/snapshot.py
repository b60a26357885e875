"""`tranche snapshot`: a saved view's figures as a file."""

from pathlib import Path

import click

from lib import connect
from lib.people import Person
from lib.settings import Settings
from lib.views import SavedView
from lib.views.named import find_views
from lib.wire.errors import BadRequest

KINDS = ("html", "pdf", "png")


@click.command()
@click.argument("view")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="The file: its ending, .html, .pdf or .png, says which.",
)  # fmt: skip
@click.option("--person", help="In whose name to ask. Default: the owner of the view.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
def snapshot(view: str, output: Path, person: str | None, paper: str) -> None:
    """Write the figures of the saved VIEW, its name or number, into one file: HTML, PDF or PNG.

    \b
    The HTML file asks nothing of anywhere; it has the link to the live question:
      tranche snapshot "Weekly delivery" -o weekly.html
      tranche snapshot 12 -o weekly.pdf --paper letter
    """
    kind = output.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise click.UsageError(f"Write a file that ends in {', '.join(f'.{one}' for one in KINDS)}")
    settings = Settings.load()
    saved = _view(settings, view)
    who = _person(settings, person or saved.owner)

    from lib.snapshot import render
    from lib.ui.audience.snapshots import Snapshots

    figures = Snapshots(settings).take(who, (saved.project, saved.slicer), saved.params, saved.name)
    output.write_bytes(render.file(figures, kind, paper))
    click.echo(f"Wrote {output}: {saved.name}, {saved.project}/{saved.slicer}", err=True)


def _view(settings: Settings, text: str) -> SavedView:
    """The one view of that name or number; BadRequest for none, or several."""
    engine = connect.installation(settings).access.store.engine
    views = find_views(engine, settings.base_url, text)
    if not views:
        raise BadRequest(f"There is no saved view '{text}'")
    if len(views) > 1:
        several = "; ".join(f"{one.id} ({one.project}/{one.slicer}, by {one.owner})" for one in views)
        raise BadRequest(f"Several views are named '{text}'. Name one by its number: {several}")
    return views[0]


def _person(settings: Settings, username: str) -> Person:
    people = connect.installation(settings).people
    person = people.require(username)
    if people.is_locked(person):
        raise BadRequest(f"'{person.username}' can't sign in, so nothing is asked in their name")
    return person
