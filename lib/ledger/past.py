"""Forecasts as they would have been made on past days, for the demo and for measuring: from the days up to
then, and scaled by what was scored by then."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from lib import connect
from lib.database import transact
from lib.deals import forecasts
from lib.deals.client import Deals
from lib.deals.fields import SUPPLY
from lib.deals.forecasts import NewForecast
from lib.deals.models import AppList, DomainList, SupplyPackage
from lib.insight import calibration, forecast
from lib.insight.calibration import ScoredForecast
from lib.insight.deal_report import DealReport
from lib.insight.estimate import BIDS, IMPRESSIONS, field_of
from lib.insight.filters import entries, report_filters
from lib.insight.forecast import DayFigure
from lib.insight.outcomes import Subject, to_keep
from lib.ledger import Scorer
from lib.reporting import dates
from lib.settings import Settings
from lib.wire.deadline import Deadline

ONE, AHEAD, SECONDS = timedelta(days=1), 7, 30
HISTORY, ORIGINS, EVERY, FIELDS = 126, 45, 2, (BIDS, IMPRESSIONS)
Series = Mapping[Subject, Sequence[DayFigure]]


def past_forecasts(series: Series, origins: Iterable[date], every: int = 1) -> list[NewForecast]:
    """Forecasts of the seven days after each origin, the last day that they know, the earliest first.

    `series` has what each subject had day after day; of each there is a forecast on every so manieth day.
    Ranges are scaled by the earlier ones whose days had passed by then. None where there are too few days for
    a range.
    """
    new, scores = list[NewForecast](), list[tuple[date, ScoredForecast]]()
    for number, origin in enumerate(origins):
        past = [score for last, score in scores if last <= origin]
        days = origin + ONE, origin + AHEAD * ONE
        parts = {(days[0] + day * ONE).weekday(): 1.0 for day in range(AHEAD)}
        for place, (subject, daily) in enumerate(series.items()):
            if (place + number) % every:
                continue
            raw = forecast.forecast([one for one in daily if one.day <= origin], parts).raw
            of = subject.project, subject.slicer, subject.field
            scale = calibration.learn(past, *of).factor
            some = to_keep("targeting", subject, days, origin, raw, scale)
            actual = [one.figure.value for one in daily if days[0] <= one.day <= days[1]]
            if raw is not None and some and len(actual) == AHEAD and None not in actual:
                score = raw.score(sum(one or 0.0 for one in actual))
                scores.append((days[1], ScoredForecast(*of, score)))
            new += some
    return new


def past_series(
    settings: Settings, pair: tuple[str, str], deals: Deals, both: bool = False
) -> tuple[Series, dict[str, int]]:
    """What each package's targeting had each day in the slicer, and the ids of packages by what is asked.

    Of bids for one package and of impressions for the next; with `both` of both.
    """
    reports = connect.Reports(connect.installation(settings))
    slicer = reports.info(*pair)
    ask = partial(reports.audience, slicer=slicer)
    report = DealReport(*pair, slicer, dates.today(slicer.timezone), ask)
    lists = entries([*deals.everything(DomainList), *deals.everything(AppList)])
    series, ids = dict[Subject, Sequence[DayFigure]](), dict[str, int]()
    for place, package in enumerate(deals.everything(SupplyPackage)):
        filters = report_filters(package, slicer, lists, package.media_type).filters
        for names in FIELDS if both else FIELDS[place % 2 :][:1]:
            if (field := field_of(slicer, names)) is not None:
                subject = Subject(*pair, field.name, filters)
                changes = {"filters": filters, "data_fields": (field.name,), "split_by": (forecast.DAY,)}
                answer = ask(report.query(HISTORY).model_copy(update=changes))
                series[subject] = forecast.daily(answer, field.name, report.period(HISTORY))
                ids[_key(field.name, subject.document)] = package.id or 0
    return series, ids


def add_past(settings: Settings, username: str, pair: tuple[str, str], deals: Deals, now: datetime) -> int:
    """Add forecasts of all packages to the ledger as this person would have seen them on past days, by this
    slicer, and score them; returns how many were scored."""
    series, ids = past_series(settings, pair, deals)
    last = max((daily[-1].day for daily in series.values()), default=now.date())
    new = past_forecasts(series, [last - number * ONE for number in range(ORIGINS, 0, -1)], EVERY)
    whose = settings.curate_url, settings.base_url, username

    def within(connection: Connection) -> None:
        for one in new:
            at = datetime.combine(date.fromisoformat(one.first_day), time(9), UTC)
            forecasts.add(connection, whose, one, at, (SUPPLY, ids[_key(one.field, one.subject)]))

    transact(connect.installation(settings).access.store.engine, within, Deadline(SECONDS))
    return Scorer(settings).look(now)


def _key(field: str, document: Mapping[str, Any]) -> str:
    return f"{field} {document}"
