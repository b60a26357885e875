"""What a mail about a saved view or about alerts says: its figures, as the desk shows them to that person."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lib import connect
from lib.mail import Letter, Link, Part, Remark, Row, Rows
from lib.mail.letter import Tone
from lib.people import Person
from lib.reporting.answers import Audience
from lib.reporting.models import InfoQuery
from lib.settings import Settings
from lib.ui.audience import headline, moved, over_time
from lib.ui.charts import alert_words
from lib.ui.charts.numbers import Numbers, days
from lib.ui.kit.request_context import RequestContext
from lib.ui.query import ask, compared_answers, filter_words, focus, link
from lib.ui.query import view as views
from lib.ui.query.ask import Answers
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.views import Alert, SavedView
from lib.wire.errors import TrancheError

TONES: dict[str, Tone] = {"green": "good", "red": "bad", "gray": "plain"}
ARROWS = {"up": "▲ ", "down": "▼ ", "off": ""}
MOST_MOVERS = 5


class Digest:
    """Writes the mails of an installation (`lib.mail.Writer`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of_view(
        self, view: SavedView, person: Person, clients: connect.Clients, with_snapshot: bool
    ) -> Letter:
        """A saved view: figures with their changes, the chart, what moved beyond noise, and the link."""
        shown, left_out = _focus(view, person, clients)
        query = shown.over_time()
        for one in (query, *(shown.in_days(query, other) for other in shown.other_days)):
            ask.audience(
                shown.context, one
            )  # the whole figures: nobody waits, so that no estimates are needed
        now = ask.audience(shown.context, query)
        dates = days(*shown.period)
        parts: list[Part] = [Rows((), view.name), Remark(f"{view.project}/{view.slicer} · {dates}")]
        if headline.is_there(now):
            parts += _figures(shown, now)
            parts += _moved(shown)
        else:
            parts.append(headline.no_data(shown).sentence)
        parts += [Remark(sentence) for sentence in left_out]
        parts.append(Link("Open on the desk", self._address(view.project, view.slicer, view.params)))
        return Letter(f"{view.name}: {dates}", parts)

    def of_alerts(self, fired: Sequence[Alert], ended: Sequence[Alert]) -> Letter:
        """Alerts that fire now, and those that ceased to, together."""
        count = f"{len(fired)} alert{'' if len(fired) == 1 else 's'}"
        subject = f"{count} fired" if fired else f"{len(ended)} alert{'' if len(ended) == 1 else 's'} cleared"
        if len(fired) + len(ended) == 1:
            (one,) = (*fired, *ended)
            subject = f"Alert {'fired' if fired else 'cleared'}: {_name(one)}"
        parts: list[Part] = []
        for title, alerts in (("Fired", fired), ("Cleared", ended)):
            if alerts:
                parts.append(Rows((), title))
            for alert in alerts:
                parts += self._alert(alert)
        return Letter(subject, parts)

    def _alert(self, alert: Alert) -> Iterator[Part]:
        if not alert.view_name:
            yield f"{_name(alert)}: you can't see this view any more."
            return
        numbers = Numbers()
        yield f"{alert.view_name}: {alert_words.condition_text(alert, numbers)}"
        yield Remark(f"{alert_words.now(alert, numbers)} · {alert.project}/{alert.slicer}")
        yield Link("Open the view", self._address(alert.project, alert.slicer, alert.params))

    def _address(self, project: str, slicer: str, params: Mapping[str, str]) -> str:
        about = {"project": project, "slicer": slicer, **params}
        return f"{self._settings.address}/{link.href('audience', about)}"


def _name(alert: Alert) -> str:
    return alert.view_name or f"A view of {alert.project}/{alert.slicer}"


def _focus(view: SavedView, person: Person, clients: connect.Clients) -> tuple[Focus, list[str]]:
    """The question of a view, and a sentence for each part of it that no longer fits."""
    about = view.project, view.slicer
    slicer = clients.reporting.info(InfoQuery(project_name=about[0], slicer_name=about[1]))
    slicer = clients.with_own(slicer, *about)
    if not slicer.data_fields:
        raise TrancheError("This slicer has no data fields to show")
    caches = {ask.ANSWERS: Answers()}
    context = RequestContext(person, *about, slicer, clients, caches=caches)
    reading = link.from_params(view.params, slicer, *about)
    looked = views.from_params(view.params, slicer)
    left_out = [*reading.left_out, *views.left_out(view.params, slicer, view.slicer)]
    return focus.of_question(context, reading.query, looked), left_out


def _figures(shown: Focus, now: Audience) -> Iterator[Part]:
    """The figures of the headline, each with its change, and what a reader needs to know of them."""
    found = compared_answers.fetch_each(shown, shown.over_time(), now)
    each = [replace(shown, field=shown.slicer.data_field(name)) for name in shown.headline]
    yield Rows([_row(one, now, found) for one in each])
    if shown.comparison is not None:
        yield Remark(f"Changes against {days(*shown.comparison.before)}.")
    for note in headline.notes(shown, now, found):
        yield Remark(note)


def _row(shown: Focus, now: Audience, found: Sequence[ComparedAnswers | None]) -> Row:
    lines = [line.series for line in over_time.lines(shown, now, found)]
    figure = headline.figure(shown, now, found, lines)
    value = " ".join(filter(None, (figure.text, figure.off)))
    is_quiet = figure.is_noise or figure.style.arrow == "off"
    change = f"{ARROWS[figure.style.arrow]}{figure.delta}" if figure.delta else ""
    remark = f"{change}, within noise" if change and is_quiet else change
    return Row(figure.title, value, remark, "quiet" if is_quiet else TONES[figure.style.color])


def _moved(shown: Focus) -> Iterator[Part]:
    """The values of key fields that moved the figure shown by more than noise."""
    if shown.comparison is None:
        return
    try:
        movers = moved.compute(shown)
    except TrancheError as error:
        yield Remark(f"What moved could not be computed: {error.reason.rstrip('.')}.")
        return
    sentences = [moved.total_sentence(shown, movers), *moved.alike(shown, movers)]
    rows = [
        Row(
            f"{filter_words.field(name, shown.slicer)}: {moved.mover_name(mover)}",
            moved.change_text(shown, mover.contribution),
        )
        for name, mover in moved.ranked(movers)[:MOST_MOVERS]
    ]
    yield Rows(rows, "What moved")
    yield Remark(" ".join(sentences))
