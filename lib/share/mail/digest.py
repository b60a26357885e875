"""What a mail about a saved view or about alerts says: its figures, as the desk shows them to that person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from lib.figures import alert_text
from lib.figures.context import read_zone
from lib.figures.numbers import NOTHING, Numbers
from lib.figures.query import state
from lib.figures.query.board_params import COMPARISON, DAYS, under
from lib.people import Person
from lib.reporting import links
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.share.documents.documents import Documents
from lib.share.documents.question import Params, live_address
from lib.share.mail import letter as letters
from lib.share.snapshot import models as snapshots
from lib.share.snapshot import page, render
from lib.slicers.models import Slicer
from lib.views import Alert, Board, SavedView
from lib.views.board_copies import copy_board
from lib.wire.text import count_of, write_day

TONES: dict[str, letters.Tone] = {"green": "good", "red": "bad", "gray": "plain"}
MOST_MOVERS, MOST_ROWS = 5, 10


class Digest:
    """Writes the mails of an installation, with the figures that a person may see."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._documents = settings, Documents(settings)

    def questions(
        self,
        views: Iterable[SavedView],
        board_params: Params,
        clients: connect.Clients,
        at: datetime,
        zone: str,
    ) -> dict[str, dict[str, str]]:
        """The questions of views, under a board's days, on those that their dates mean at this time in the
        reader's zone: URL parameters by the view's number. Raises the errors of the service."""
        questions, own_zone = {}, read_zone(zone)
        board_days = {name: text for name, text in board_params.items() if name in (*DAYS, *COMPARISON)}
        for view in views:
            slicer, params = _slicer(view, clients), under(view.params, board_days)
            questions[str(view.id)] = state.fixed_days(
                params, slicer, view.project, view.slicer, at, own_zone
            )
        return questions

    def of_view(
        self, view: SavedView, params: Params, person: Person, clients: connect.Clients, with_snapshot: bool
    ) -> letters.Letter:
        """A saved view: figures with their changes, the chart, what moved beyond noise, and the link."""
        about, params = (view.project, view.slicer), {**params, "lower": "moved"}
        left_out = state.read(view.params, _slicer(view, clients), view.project, view.slicer)[1]
        snapshot = self._documents.of_question(person, about, params, view.name)
        snapshot = replace(snapshot, address=live_address(self._settings.address, about, view.params))
        facts = dict(snapshot.facts)
        # What the figures are about, of which days, and how exact.
        against, filters = facts.get("Compared with"), facts["Filters"]
        details = [facts["Slicer"], facts["Days"], facts.get("Time zone", "")]
        details += [f"compared with {against}" if against else "", "" if filters == "None" else filters]
        details += [facts.get(name, "") for name in ("Metric filters", "Precision", "Freshness")]
        parts: list[letters.Part] = [
            letters.FigureTable((), view.name),
            letters.Remark(" · ".join(filter(None, details))),
        ]
        if snapshot.nothing:
            parts.append(snapshot.nothing)
        else:
            parts.append(letters.FigureTable([*map(_row, snapshot.figures)]))
        if snapshot.chart is not None:
            png = render.picture(snapshot.chart)
            parts.append(letters.Picture(png, f"{snapshot.chart.title}, {facts['Days']}"))
        # The values of key fields that moved the figure shown by more than noise.
        for table in snapshot.tables:
            rows = [[cell.text for cell in row.cells] for row in table.rows[:MOST_MOVERS]]
            lines = [letters.FigureRow(f"{field}: {value}", change) for value, field, change, *_ in rows]
            parts += [letters.FigureTable(lines, table.title), letters.Remark(table.message)]
        parts += [letters.Remark(sentence) for sentence in (*snapshot.notes, *left_out)]
        parts.append(letters.Link("Open on the desk", snapshot.address))
        files = [_file(view.name, snapshot)] if with_snapshot else []
        return letters.Letter(f"{view.name}: {facts['Days']}", parts, files)

    def of_board(
        self,
        board: Board,
        views: Iterable[SavedView],
        questions: Mapping[str, Params],
        person: Person,
        day: date,
        with_snapshot: bool,
    ) -> letters.Letter:
        """A board on the reader's `day`: each cell's figures or first rows under its title, and the link."""
        own = {view.id: replace(view, params=questions.get(str(view.id), view.params)) for view in views}
        filters = {name: text for name, text in board.params.items() if name not in (*DAYS, *COMPARISON)}
        copy = copy_board(board, own, filters)
        address = f"{self._settings.address}/{links.href('boards', {'board': str(board.id)})}"
        snapshot = self._documents.of_board(person, copy, board.name, address)
        parts: list[letters.Part] = []
        for block in snapshot.blocks:
            if block.figures or block.title:
                parts.append(letters.FigureTable([_row(figure) for figure in block.figures], block.title))
            parts += [block.text] * bool(block.text)
            parts += [letters.Remark(text) for text in (block.about, *block.notes, block.message) if text]
            if block.chart is not None:
                png = render.picture(block.chart)
                parts.append(letters.Picture(png, f"{block.chart.title}, {block.about}"))
            if block.table is not None:
                # The first rows: names, the first figure, and its change where the table has one.
                lines, change = [], block.table.change
                for row in block.table.rows[:MOST_ROWS]:
                    texts = [cell.text for cell in row.cells]
                    name = " · ".join(filter(None, texts[: block.table.keys]))
                    text = NOTHING if change is None else texts[change]
                    percent = "" if text in (NOTHING, "") else f"{text} %"
                    tone: letters.Tone = "quiet" if percent else "plain"
                    lines.append(letters.FigureRow(name, texts[block.table.keys], percent, tone))
                parts.append(letters.FigureTable(lines))
        parts.append(letters.Link("Open on the desk", address))
        files = [_file(board.name, snapshot)] if with_snapshot else []
        return letters.Letter(f"{board.name}: {write_day(day)}", parts, files)

    def of_alerts(self, starts: Sequence[Alert], ends: Sequence[Alert]) -> letters.Letter:
        """Alerts that fire now, and those that ceased to, together."""
        subject = f"{count_of(len(starts or ends), 'alert')} {'fired' if starts else 'cleared'}"
        if len(starts) + len(ends) == 1:
            (alert,) = (*starts, *ends)
            subject = f"Alert {'fired' if starts else 'cleared'}: {_name(alert)}"
        parts: list[letters.Part] = []
        for title, alerts in (("Fired", starts), ("Cleared", ends)):
            if alerts:
                parts.append(letters.FigureTable((), title))
            for alert in alerts:
                if not alert.view_name:
                    parts.append(f"{_name(alert)}: you can't see this view any more.")
                    continue
                about, numbers = (alert.project, alert.slicer), Numbers()
                address = live_address(self._settings.address, about, alert.params)
                parts += [
                    f"{alert.view_name}: {alert_text.condition_text(alert, numbers)}",
                    letters.Remark(f"{alert_text.alert_state(alert, numbers)} · {'/'.join(about)}"),
                    letters.Link("Open the view", address),
                ]
        return letters.Letter(subject, parts)


def _file(name: str, snapshot: snapshots.Snapshot | snapshots.Board) -> letters.Attachment:
    """A snapshot as a page to keep."""
    return letters.Attachment(f"{name}.html", "text/html", page.html(snapshot).encode())


def _name(alert: Alert) -> str:
    return alert.view_name or f"A view of {alert.project}/{alert.slicer}"


def _slicer(view: SavedView, clients: connect.Clients) -> Slicer:
    """The slicer of a view, with its reader's own metrics."""
    slicer = clients.reporting.info(InfoQuery(project_name=view.project, slicer_name=view.slicer))
    return clients.with_own(slicer, view.project, view.slicer)


def _row(figure: snapshots.Figure) -> letters.FigureRow:
    value = " ".join(filter(None, (figure.text, figure.range)))
    change = "" if figure.delta in (None, NOTHING) else str(figure.delta)
    if change and figure.is_noise:
        return letters.FigureRow(figure.title, value, f"{change}, within chance", "quiet")
    return letters.FigureRow(figure.title, value, change, TONES[figure.color])
