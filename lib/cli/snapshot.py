"""`tranche snapshot`: the figures of a saved view, or of a link to a question, as a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import click

from lib import connect
from lib.people import Person
from lib.settings import Settings
from lib.snapshot import render
from lib.views.entries import find_views
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class _Question:
    """What is asked: project and slicer, the parameters, a title, and whose view it is."""

    about: tuple[str, str]
    params: Mapping[str, str]
    title: str = ""
    owner: str | None = None


@click.command()
@click.argument("view")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="The file: its ending, .html, .pdf or .png, says which.",
)  # fmt: skip
@click.option("--person", help="In whose name to ask. Default: the owner of a view.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
def snapshot(view: str, output: Path, person: str | None, paper: str) -> None:
    """Write the figures of VIEW into one file: HTML, PDF or PNG.

    VIEW is a saved view, its name or number, or a link to a question, as Link on Audience has it.

    \b
    The HTML file makes no network requests; it has the link to the live question:
      tranche snapshot "Weekly delivery" -o weekly.html
      tranche snapshot 12 -o weekly.pdf --paper letter
      tranche snapshot "audience?project=acme&slicer=auctions&start=-7d" --person ada -o week.png
    """
    kind = output.suffix.lower().removeprefix(".")
    if kind not in render.KINDS:
        raise click.UsageError(f"Write a file that ends in {', '.join(f'.{kind}' for kind in render.KINDS)}")
    settings = Settings.load()
    question = _of_link(view) or _of_view(settings, view)
    username = person or question.owner
    if username is None:
        raise click.UsageError("A link has no owner: say by --person in whose name to ask")
    who = _person(settings, username)

    from lib.ui.audience.snapshots import Snapshots

    figures = Snapshots(settings).take(who, question.about, question.params, question.title)
    output.write_bytes(render.file(figures, kind, paper))
    click.echo(f"Wrote {output}: {figures.title}", err=True)


def _of_link(text: str) -> _Question | None:
    """The question of a link, or of what follows the ? in it; None for a text that has no such parameters."""
    params = dict(parse_qsl(urlsplit(text).query))
    if not {"project", "slicer"} <= params.keys():
        return None
    return _Question((params.pop("project"), params.pop("slicer")), params)


def _of_view(settings: Settings, text: str) -> _Question:
    """The one view of that name or number; BadRequest for none, or several."""
    engine = connect.installation(settings).access.store.engine
    views = find_views(engine, settings.base_url, text)
    if not views:
        raise BadRequest(f"There is no saved view '{text}'")
    if len(views) > 1:
        several = "; ".join(f"{view.id} ({view.project}/{view.slicer}, by {view.owner})" for view in views)
        raise BadRequest(f"Several views are named '{text}'. Name one by its number: {several}")
    view = views[0]
    return _Question((view.project, view.slicer), view.params, view.name, view.owner)


def _person(settings: Settings, username: str) -> Person:
    people = connect.installation(settings).people
    person = people.require(username)
    if people.is_locked(person):
        raise BadRequest(f"'{person.username}' can't sign in, so nothing is asked in their name")
    return person
