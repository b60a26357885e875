"""One alert, checked: its view's query in its owner's name, compared with its noise."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Protocol

from scipy.special import stdtrit

from lib import connect
from lib.alerts.message import Verdict
from lib.people import Person
from lib.reporting import watched
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, InfoQuery, Slicer
from lib.reporting.watched import Figure, FigureUnavailable
from lib.settings import Settings
from lib.views import Alert, SavedView
from lib.wire.errors import AccessError, DeadlineExceeded, ResponseTimeout, TrancheError

FEWEST, MOST, CONFIDENCE = 4, 8, 0.99


def usual(past: Sequence[float]) -> tuple[float, float] | None:
    """Between which bounds a figure is expected, after those of the same weekdays in earlier weeks.

    The two-sided 99 % prediction interval for one further observation of a normal sample: mean ± t · s ·
    √(1 + 1/n), with Student's t of n − 1 degrees of freedom and the sample's standard deviation s (Hahn and
    Meeker 1991, "Statistical Intervals", section 4.7). Where nothing has changed, about one check of another
    day in a hundred falls outside of it.

    None where nothing can be said: fewer than four earlier figures, or all of them alike.
    """
    count = len(past)
    if count < FEWEST:
        return None
    mean = math.fsum(past) / count
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in past) / (count - 1))
    if spread <= 1e-12 * abs(mean):
        return None
    side = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * spread * math.sqrt(1 + 1 / count)
    return mean - side, mean + side


class ReadView(Protocol):
    """A question read from a view's parameters, and a sentence for each part that no longer fits."""

    @property
    def query(self) -> AudienceQuery:
        """The question."""

    @property
    def left_out(self) -> list[str]:
        """The sentences."""


Read = Callable[[Mapping[str, str], Slicer, str, str], ReadView]


def checked(alert: Alert, settings: Settings, read: Read) -> Verdict:
    """The alert's verdict now. Failures of a service or a person become verdicts; they are not raised."""
    person = _owner(alert, settings)
    if person is None:
        return Verdict("lost", problem="Its owner can't sign in any more.")
    try:
        clients = connect.connect(person, settings)
        view = clients.view_store.views.get(alert.view_id)
        if view is None or (view.project, view.slicer) not in clients.slicers:
            return _lost(alert)
        return _of_view(alert, view, clients, read)
    except AccessError:
        return _lost(alert)
    except FigureUnavailable as unavailable:
        return Verdict(problem=str(unavailable))
    except ResponseTimeout:
        return Verdict(problem="The service did not answer in time.")
    except DeadlineExceeded:
        return Verdict(problem="The figure took too long to compute; choose fewer days in the view.")
    except TrancheError as error:
        return Verdict(problem=f"{error.reason.rstrip('.')}.")


def _lost(alert: Alert) -> Verdict:
    return Verdict(
        "lost", problem=f"Its owner can't see this view of {alert.project}/{alert.slicer} any more."
    )


def _owner(alert: Alert, settings: Settings) -> Person | None:
    """The person as they are now; None where they are gone, locked out, or a namesake came instead."""
    people = connect.installation(settings).people
    person = people.get(alert.owner)
    if person is None or people.is_locked(person):
        return None
    return None if person.added is not None and alert.created < person.added else person


def _of_view(alert: Alert, view: SavedView, clients: connect.Clients, read: Read) -> Verdict:
    about = {"project_name": view.project, "slicer_name": view.slicer}
    slicer = clients.reporting.info(InfoQuery(**about))
    if alert.field not in {field.name for field in slicer.data_fields}:
        raise FigureUnavailable(f"{view.slicer} has no data field {alert.field} any more.")
    reading = read(view.params, slicer, view.project, view.slicer)
    if reading.left_out:
        raise FigureUnavailable(f"The view no longer fits: {' '.join(reading.left_out)}")
    days = watched.complete_days(reading.query, slicer)

    def figure(of: Days) -> Figure:
        query = watched.total_query(reading.query, alert.field, of)
        return watched.figure(clients.reporting.audience(query, slicer), alert.field)

    found = figure(days)
    return _changed(found, days, slicer, figure) if alert.rule == "changed" else _bounded(alert, found)


def _bounded(alert: Alert, found: Figure) -> Verdict:
    """Past a bound is an estimate only with its whole 95 % range."""
    if math.isinf(found.side):
        raise FigureUnavailable("The figure is based on too few records.")
    bound = alert.bound or 0.0
    is_past = found.value - found.side > bound if alert.rule == "above" else found.value + found.side < bound
    return Verdict("firing" if is_past else "ok", found.value)


def _changed(found: Figure, days: Days, slicer: Slicer, figure: Callable[[Days], Figure]) -> Verdict:
    """Against the same weekdays of up to eight earlier periods; see `noise.usual`."""
    past = [figure(of) for of in earlier(days, slicer)]
    bounds = usual([one.value for one in past])
    if bounds is None or math.isinf(found.side) or any(math.isinf(one.side) for one in past):
        raise FigureUnavailable(
            f"Too little to compare with: the same weekdays of {FEWEST} earlier periods are needed, "
            "with figures that vary."
        )
    low, high = bounds
    is_past = found.value - found.side > high or found.value + found.side < low
    return Verdict("firing" if is_past else "ok", found.value, low, high)


def earlier(days: Days, slicer: Slicer) -> list[Days]:
    """The same weekdays of earlier weeks, the latest first: as far as the slicer has all of their days."""
    if slicer.first_date is None:
        return []
    length = (days[1] - days[0]).days + 1
    step, first = timedelta(weeks=-(-length // 7)), date.fromisoformat(slicer.first_date)
    shifts = (n * step for n in range(1, MOST + 1))
    return [(days[0] - by, days[1] - by) for by in shifts if days[0] - by >= first]
