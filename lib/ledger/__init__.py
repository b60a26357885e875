"""Scoring forecasts in the background, once the report has their days.

Of all desks over a database one does it for a reporting service. The others wait, and go on where it ends.
"""

import logging
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime, timedelta
from functools import partial

from lib import connect, database
from lib.deals.forecasts import ForecastScores, StoredForecast
from lib.insight.outcomes import Subject, outcomes
from lib.reporting import dates
from lib.reporting.models import Slicer
from lib.settings import Settings
from lib.wire.errors import TrancheError

__all__ = ["Scorer", "scoring"]
log = logging.getLogger(__name__)
LOOK_EVERY, ONE = timedelta(minutes=5), timedelta(days=1)
NO_SLICER = "The slicer is gone"
Pair = tuple[str, str]
Outcomes = list[tuple[StoredForecast, float | str]]


class Scorer:
    """Scores forecasts that are due; a slicer is looked at again after five minutes."""

    def __init__(self, settings: Settings) -> None:
        installation = connect.installation(settings)
        self._reports = connect.Reports(installation)
        self.store = ForecastScores(installation.access.store.engine, settings.base_url)
        self._retry_at: dict[Pair, datetime] = {}

    def look(self, now: datetime, is_alone: Callable[[], bool] = lambda: True) -> int:
        """Score what is due; returns how many forecasts were settled."""
        by_slicer: dict[Pair, list[StoredForecast]] = defaultdict(list)
        for one in self.store.waiting((now + ONE).date()):
            by_slicer[one.project, one.slicer].append(one)
        pairs, count = set(self._reports.slicers()) if by_slicer else set(), 0
        for pair, rows in by_slicer.items():
            if timedelta(0) < self._retry_at.get(pair, now) - now <= LOOK_EVERY or not is_alone():
                continue
            self._retry_at[pair] = now + LOOK_EVERY
            try:
                scores = self._score(rows, now) if pair in pairs else [(one, NO_SLICER) for one in rows]
                count += self.store.settle(scores, now)
            except TrancheError as error:
                log.warning("Forecasts could not be scored: %s", error.reason)
        return count

    def _score(self, rows: Sequence[StoredForecast], now: datetime) -> Outcomes:
        """What came of those whose days the slicer has; one question for all with the same subject."""
        pair = rows[0].project, rows[0].slicer
        slicer = self._reports.info(*pair)
        if slicer.last_date is None:
            return []
        last = complete_day(slicer, now)
        by_subject: dict[str, list[StoredForecast]] = defaultdict(list)
        for one in rows:
            if date.fromisoformat(one.last_day) <= last:
                by_subject[f"{one.field} {one.subject}"].append(one)
        scores: Outcomes = []
        for group in by_subject.values():
            subject = Subject.read(*pair, group[0].field, group[0].subject)
            days = [(date.fromisoformat(one.first_day), date.fromisoformat(one.last_day)) for one in group]
            ask = partial(self._reports.audience, slicer=slicer)
            scores += zip(group, outcomes(subject, slicer, ask, days), strict=True)
        return scores


def complete_day(slicer: Slicer, now: datetime) -> date:
    """The last day with data that is over."""
    today = dates.today(slicer.timezone, now)
    return dates.date_range(*dates.last_days(slicer, today, 1), today)[1]


def scoring(settings: Settings) -> AbstractContextManager[None]:
    """Score forecasts in the background during the block."""
    service = settings.base_url
    return database.background(
        f"forecasts-{zlib.crc32(service.encode()):x}" if service else "forecasts",
        "Forecasts could not be scored",
        lambda: connect.installation(settings).access.store.engine,
        lambda: nullcontext(Scorer(settings).look),
    )
