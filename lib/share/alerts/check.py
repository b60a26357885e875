"""One alert, checked: its view's query in its owner's name, judged by lib/reporting/watched.py."""

from dataclasses import dataclass, replace

from lib.people import Person
from lib.reporting import links, watched
from lib.reporting.models import InfoQuery
from lib.reporting.watched import FigureUnavailable
from lib.serving import connect
from lib.settings import Settings
from lib.views import Alert, AlertState
from lib.wire.errors import AccessError, DeadlineExceeded, ResponseTimeout, TrancheError


@dataclass(frozen=True)
class Verdict:
    """`state` is None where it is unknown, and `problem` says why; the alert's state then stays.

    `value` is the figure, `low` and `high` the bounds between which it is as usual, for `changed`. All of it
    is about the rows of `rows_key`.
    """

    state: AlertState | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    problem: str = ""
    rows_key: str = ""


def check(alert: Alert, person: Person | None, settings: Settings) -> Verdict:
    """The alert's verdict for its owner, None where they can't sign in any more. Failures become verdicts."""
    if person is None:
        return Verdict("lost", problem="Its owner can't sign in any more.")
    try:
        verdict = _judge(alert, connect.connect(person, settings))
    except AccessError:
        reason = f"Its owner can't see this view of {alert.project}/{alert.slicer} any more."
        verdict = Verdict("lost", problem=reason)
    except FigureUnavailable as unavailable:
        verdict = Verdict(problem=str(unavailable))
    except ResponseTimeout:
        verdict = Verdict(problem="The service did not answer in time.")
    except DeadlineExceeded:
        verdict = Verdict(problem="The figure took too long to compute; choose fewer days in the view.")
    except TrancheError as error:
        verdict = Verdict(problem=error.sentence)
    return replace(verdict, rows_key=person.rows_key(alert.project, alert.slicer))


def _judge(alert: Alert, clients: connect.Clients) -> Verdict:
    """The verdict on the figure. AccessError without the view; FigureUnavailable, the service's errors."""
    view = clients.view_store.views.get(alert.view_id)
    if view is None or (view.project, view.slicer) not in clients.slicers:
        raise AccessError("The view is gone, or its slicer")
    about = {"project_name": view.project, "slicer_name": view.slicer}
    slicer = clients.with_own(clients.reporting.info(InfoQuery(**about)), view.project, view.slicer)
    if alert.field not in slicer.data_names:
        raise FigureUnavailable(f"{view.slicer} has no data field {alert.field} any more.")
    reading = links.from_params(view.params, slicer, view.project, view.slicer)
    if reading.left_out:
        raise FigureUnavailable(f"The view no longer fits: {' '.join(reading.left_out)}")
    history = watched.watch(
        reading.query,
        alert.field,
        slicer,
        lambda query: clients.reporting.audience(query, slicer),
        watched.MOST_WEEKS if alert.rule == "changed" else 0,
    )
    judgment = history.judge(alert.rule, alert.bound)
    value = history.figures[-1].value
    return Verdict("firing" if judgment.fires else "ok", value, judgment.low, judgment.high)
