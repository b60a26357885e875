"""One alert, checked: its view's query in its owner's name, compared with its noise."""

import math
from collections.abc import Callable, Sequence
from datetime import date, timedelta

import numpy as np

from lib import connect
from lib.alerts.message import Verdict
from lib.reporting import links, noise, watched
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import InfoQuery, Slicer, time_key_field
from lib.reporting.watched import Figure, FigureUnavailable
from lib.settings import Settings
from lib.views import Alert, SavedView
from lib.wire.errors import AccessError, DeadlineExceeded, ResponseTimeout, TrancheError

BASE, MOST, CONFIDENCE = 4, 16, 0.99
NEGLIGIBLE, WEEK, DAY = 1e-12, timedelta(weeks=1), time_key_field("day")


def usual(past: Sequence[float], season: int = 1) -> tuple[float, float] | None:
    """Between which bounds the next figure is expected, after the figures before it (NaN: none).

    `season` is how many figures a week has: 7 of days, 1 of weeks. A figure is held against the mean of the
    four a week, two, three and four weeks before it, and that difference against the same one of each
    earlier figure (lib/reporting/noise.py); of figures above zero, on a logarithmic scale. Single figures far
    out of line, such as days of an outage, count as what the weeks around them had. Where nothing has
    changed, about one check in a hundred falls outside.

    None where nothing is known: too few earlier figures, or all of them alike.
    """
    figures = noise.without_outages(np.asarray(past, dtype=np.float64), season)
    is_positive = bool(np.all(figures[np.isfinite(figures)] > 0))
    series = np.log(figures) if is_positive else figures
    weights = np.zeros(BASE * season + 1)
    weights[:-1:season], weights[-1] = -1 / BASE, 1.0
    if len(series) < len(weights):
        return None
    base = float(series[-season * BASE :: season].mean())
    spread = noise.spread(
        np.correlate(series, weights, "valid"), weights.tolist(), noise.persistence(series, season)
    )
    if spread is None or not math.isfinite(base) or spread.scale <= NEGLIGIBLE * max(1.0, abs(base)):
        return None
    side = spread.side(CONFIDENCE)
    low, high = base - side, base + side
    return (math.exp(low), math.exp(high)) if is_positive else (low, high)


def check(alert: Alert, settings: Settings) -> Verdict:
    """The alert's verdict now. Failures of a service or a person become verdicts; they are not raised."""
    person = connect.installation(settings).people.still(alert.owner, alert.created)
    if person is None:
        return Verdict("lost", problem="Its owner can't sign in any more.")
    try:
        clients = connect.connect(person, settings)
        view = clients.view_store.views.get(alert.view_id)
        if view is None or (view.project, view.slicer) not in clients.slicers:
            return _loss(alert)
        return _of_view(alert, view, clients)
    except AccessError:
        return _loss(alert)
    except FigureUnavailable as unavailable:
        return Verdict(problem=str(unavailable))
    except ResponseTimeout:
        return Verdict(problem="The service did not answer in time.")
    except DeadlineExceeded:
        return Verdict(problem="The figure took too long to compute; choose fewer days in the view.")
    except TrancheError as error:
        return Verdict(problem=f"{error.reason.rstrip('.')}.")


def _loss(alert: Alert) -> Verdict:
    return Verdict(
        "lost", problem=f"Its owner can't see this view of {alert.project}/{alert.slicer} any more."
    )


def _of_view(alert: Alert, view: SavedView, clients: connect.Clients) -> Verdict:
    about = {"project_name": view.project, "slicer_name": view.slicer}
    slicer = clients.reporting.info(InfoQuery(**about))
    slicer = clients.with_own(slicer, view.project, view.slicer)
    if alert.field not in {field.name for field in slicer.data_fields}:
        raise FigureUnavailable(f"{view.slicer} has no data field {alert.field} any more.")
    reading = links.from_params(view.params, slicer, view.project, view.slicer)
    if reading.left_out:
        raise FigureUnavailable(f"The view no longer fits: {' '.join(reading.left_out)}")
    days = watched.complete_days(reading.query, slicer)

    def figure(of: Days) -> Figure:
        query = watched.total_query(reading.query, alert.field, of)
        return watched.figure(clients.reporting.audience(query, slicer), alert.field)

    def daily(of: Days) -> Audience:
        query = watched.total_query(reading.query, alert.field, of)
        return clients.reporting.audience(query.model_copy(update={"split_by": (DAY,)}), slicer)

    now = figure(days)
    if alert.rule == "changed":
        return _check_change(now, days, slicer, figure, daily)
    return _check_bound(alert, now)


def _check_bound(alert: Alert, figure: Figure) -> Verdict:
    """Past a bound is an estimate only with its whole 95 % range."""
    if math.isinf(figure.side):
        raise FigureUnavailable("The figure is based on too few records.")
    bound = alert.bound or 0.0
    is_past = (
        figure.value - figure.side > bound if alert.rule == "above" else figure.value + figure.side < bound
    )
    return Verdict("firing" if is_past else "ok", figure.value)


def _check_change(
    current: Figure,
    days: Days,
    slicer: Slicer,
    figure: Callable[[Days], Figure],
    daily: Callable[[Days], Audience],
) -> Verdict:
    """Against the same weekdays of the four weeks (or periods) before; see `usual`."""
    if days[0] == days[1] and DAY in {field.name for field in slicer.key_fields}:
        bounds = _by_day(days[0], daily)
    else:
        bounds = usual([figure(of).value for of in reversed(earlier(days, slicer))])
    if bounds is None or math.isinf(current.side):
        raise FigureUnavailable(
            f"Too little to compare with: the same weekdays of more than {BASE} earlier periods are needed, "
            "with figures that vary."
        )
    low, high = bounds
    is_past = current.value - current.side > high or current.value + current.side < low
    return Verdict("firing" if is_past else "ok", current.value, low, high)


def _by_day(day: date, daily: Callable[[Days], Audience]) -> tuple[float, float] | None:
    """The bounds of a day's figure, by all days of the MOST weeks before it that the slicer has."""
    first = day - MOST * WEEK
    answer = daily((first, day - timedelta(days=1)))
    values = answer.values.iloc[:, 0].to_numpy(dtype=np.float64)
    places = [(date.fromisoformat(str(name)[:10]) - first).days for name in answer.names[DAY]]
    past = np.full(7 * MOST, np.nan)
    past[places] = values
    return usual(past[min(places, default=0) :].tolist(), season=7)


def earlier(days: Days, slicer: Slicer) -> list[Days]:
    """The same weekdays of earlier weeks, the latest first: as far as the slicer has all of their days."""
    if slicer.first_date is None:
        return []
    length = (days[1] - days[0]).days + 1
    step, first = -(-length // 7) * WEEK, date.fromisoformat(slicer.first_date)
    shifts = (n * step for n in range(1, MOST + 1))
    return [(days[0] - by, days[1] - by) for by in shifts if days[0] - by >= first]
