"""`tranche snapshot`: the figures of a saved view, a board, or of a link to one, as a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import click

from lib.figures.query import board_params
from lib.reporting import links
from lib.serving import connect
from lib.settings import Settings
from lib.share import render, snapshots
from lib.views.board_copies import copy_board
from lib.views.entries import read_number, rows_by_name
from lib.views.tables import boards, saved_views
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class _Question:
    """What is asked: a question of a slicer or a board, under these parameters, and whose it is.

    `about` is project and slicer, or the number of a board.
    """

    about: tuple[str, str] | int
    params: Mapping[str, str]
    title: str = ""
    owner: str | None = None


@click.command()
@click.argument("view")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="The file: its ending, .html, .pdf or .png, says which.",
)  # fmt: skip
@click.option("--person", help="In whose name to ask. Default: the owner of a view or board.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
def snapshot(view: str, output: Path, person: str | None, paper: str) -> None:
    """Write the figures of VIEW into one file: HTML, PDF or PNG.

    VIEW is a saved view or a board, its name or number, or a link to a question or a board, as Link has it.

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
    question = _of_link(view) or _of_name(settings, view)
    username = person or question.owner
    if username is None:
        raise click.UsageError("A link has no owner: say by --person in whose name to ask")
    people = connect.installation(settings).people
    asker = people.require(username)
    if people.is_locked(asker):
        raise BadRequest(f"'{asker.username}' can't sign in, so nothing is asked in their name")
    from lib.ui import streamlit_compat

    streamlit_compat.log_errors_alone()
    from lib.share import Documents

    figures: snapshots.Snapshot | snapshots.Board
    if isinstance(question.about, int):
        store = connect.connect(asker, settings).view_store.boards
        board = store.get(question.about)
        if board is None:
            raise BadRequest(f"'{asker.username}' sees no board {question.about}, or none of its views")
        params = board_params.params_of_link(board, question.params)
        link = links.href("boards", board_params.link_params(board, params))
        address = f"{settings.address}/{link}" if settings.address else ""
        copy = copy_board(board, store.views_of(board), params)
        figures = Documents(settings).of_board(asker, copy, board.name, address)
    else:
        figures = Documents(settings).of_question(asker, question.about, question.params, question.title)
    output.write_bytes(render.file(figures, kind, paper))
    click.echo(f"Wrote {output}: {figures.title}", err=True)


def _of_link(text: str) -> _Question | None:
    """The question of a link, or of what follows the ? in it; None for a text that has no such parameters."""
    params = dict(parse_qsl(urlsplit(text).query))
    if (number := read_number(params.get("board", ""))) is not None:
        return _Question(number, params)
    if not {"project", "slicer"} <= params.keys():
        return None
    return _Question((params.pop("project"), params.pop("slicer")), params)


def _of_name(settings: Settings, text: str) -> _Question:
    """The one view or board of that name or number; BadRequest for none, or several."""
    engine, service = connect.installation(settings).access.store.engine, settings.remote.base_url
    questions: dict[str, _Question] = {}
    for row in rows_by_name(saved_views, engine, service, text):
        about, label = (row.project, row.slicer), f"{row.id} ({row.project}/{row.slicer}, by {row.owner})"
        questions[label] = _Question(about, row.params, row.name, row.owner)
    for row in rows_by_name(boards, engine, service, text):
        label = f"boards?board={row.id} (a board, by {row.owner})"
        questions[label] = _Question(row.id, row.params, row.name, row.owner)
    if not questions:
        raise BadRequest(f"There is no saved view or board '{text}'")
    if len(questions) > 1:
        advice = "Name a view by its number, a board by its link"
        raise BadRequest(f"Several are named '{text}'. {advice}: {'; '.join(questions)}")
    (question,) = questions.values()
    return question
