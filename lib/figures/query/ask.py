"""Queries to the service, with a short-lived cache per session."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from datetime import date
from functools import partial

from lib.figures import waits
from lib.figures.caches import SessionCache
from lib.figures.context import RequestContext
from lib.reporting import named_days
from lib.reporting.answers import Audience
from lib.reporting.client import for_service
from lib.reporting.models import API_ROWS_LIMIT, DESK_ROWS_LIMIT, AudienceQuery
from lib.wire.errors import TrancheError
from lib.wire.filters import Filter

ANSWERS = "answers"
FIRST = {"audience_rows_limit": DESK_ROWS_LIMIT, "exact_within": 200}
REFINED = {"exact_within": 10_000}
SECONDS, MOMENT_SECONDS, MOST = 120, 2.0, 100
Key = tuple[str, tuple[Filter, ...], date, AudienceQuery]


def audience(context: RequestContext, query: AudienceQuery) -> Audience:
    """The answer, from the cache or from the service. Raises the service's errors."""
    fetch = partial(context.reporting.audience, query, context.slicer)
    return waits.cached(_answers(context), _key(context, query), fetch)


def estimate(context: RequestContext, query: AudienceQuery) -> Audience:
    """An estimate, whose exact answer is fetched in the background; exact at once where that is quick.

    What takes longer than REFINED allows stays an estimate, from more records. A screen then calls
    `current_focus.refine`. A service without the extension `exact_within` gives the estimate first, whatever
    it reads.
    """
    if query.audience_rows_limit != API_ROWS_LIMIT:
        return audience(context, query)
    answers, key = _answers(context), _key(context, query)
    if (answer := answers.peek(key)) is not None:
        return answer
    quick = audience(context, query.model_copy(update=FIRST))
    if quick.is_sampled:
        reporting = context.reporting

        def fetch() -> Audience:
            try:
                return reporting.audience(query.model_copy(update=REFINED), context.slicer)
            except TrancheError:
                return quick

        answers.start(key, fetch)
    return quick


def wait_for_exact(context: RequestContext, query: AudienceQuery) -> Audience:
    """What `estimate` gives in the end; waited for."""
    if query.audience_rows_limit != API_ROWS_LIMIT:
        return audience(context, query)
    fetch = partial(context.reporting.audience, query.model_copy(update=REFINED), context.slicer)
    return waits.cached(_answers(context), _key(context, query), fetch)


def prefetch(context: RequestContext, queries: Iterable[AudienceQuery]) -> None:
    """Start several queries in parallel, so that `audience` finds their answers under way."""
    answers, reporting = _answers(context), context.reporting
    if not answers.is_parallel:
        return
    for query in queries:
        # As `estimate` sends it first.
        is_cached = answers.peek(_key(context, query)) is not None
        is_exact = is_cached or query.audience_rows_limit != API_ROWS_LIMIT
        first = query if is_exact else query.model_copy(update=FIRST)
        fetch = partial(reporting.audience, first, context.slicer)
        answers.begin(_key(context, first), waits.track(fetch))


def _key(context: RequestContext, query: AudienceQuery) -> "Key":
    return *context.viewer, today(context, query), for_service(query, context.slicer)


def try_fetch(context: RequestContext, query: AudienceQuery) -> Audience | None:
    """The answer if it arrives within a moment, for optional parts of a screen; None if it is late or fails.

    The query goes on, so that its answer may be cached next time.
    """
    answers, reporting = _answers(context), context.reporting
    return answers.try_fetch(_key(context, query), lambda: reporting.audience(query, context.slicer))


def today(context: RequestContext, query: AudienceQuery) -> date:
    """Today, in the time zone of the question."""
    return named_days.today(query, context.slicer)


def _answers(context: RequestContext) -> "Answers":
    return context.cache(ANSWERS, Answers)


class Answers(SessionCache[Audience]):
    """A cache of the latest hundred answers, for two minutes. A query under way is joined, not sent again.

    Unless it `is_parallel`, queries are not started ahead: each runs on the thread that needs its answer,
    which is less work where answers are a few milliseconds away.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, is_parallel: bool = True) -> None:
        super().__init__(SECONDS, MOST, now)
        self.is_parallel, self.start_count = is_parallel, 0
        self._started: list[Future[Audience]] = []

    def try_fetch(self, key: Key, fetch: Callable[[], Audience]) -> Audience | None:
        """The answer if it arrives within a moment; a query that is already under way is not waited for."""
        future, is_new = self.begin(key, fetch)
        try:
            return future.result(MOMENT_SECONDS if is_new else 0)
        except (TimeoutError, TrancheError):
            return None

    def peek(self, key: Key) -> Audience | None:
        """The cached answer, or None."""
        future = self.find(key)
        return future.result() if future is not None and future.done() else None

    def start(self, key: Key, fetch: Callable[[], Audience]) -> None:
        future, is_new = self.begin(key, fetch)
        if is_new:
            self.start_count += 1
            self._started = [future, *self.pending()]

    def pending(self) -> "list[Future[Audience]]":
        """The background queries that are still under way."""
        return [future for future in self._started if not future.done()]
