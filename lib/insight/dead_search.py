"""The search for dead targets in the background: packages, then their targets' bids, then their last days."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.deals.targeting.filters import Lists
from lib.insight import dead_targets
from lib.insight.dead_targets import BidValues, DeadTarget, IncludedTarget
from lib.insight.deal_report import DealReport
from lib.reporting.answers import Audience
from lib.reporting.models import ROWS_LIMITS, AudienceQuery
from lib.reporting.query_batch import Ask, QueryBatch
from lib.slicers.models import Slicer
from lib.wire.deadline import CallGroup
from lib.wire.errors import Abandoned

MOST, LOOK_BACK = 5_000, 365


@dataclass(frozen=True)
class DeadScope:
    """What is searched: the questions for the period and for the days before it, None where there are none.

    Packages that have ended by `now` are left out.
    """

    slicer: Slicer
    lists: Lists
    period: AudienceQuery
    before: AudienceQuery | None
    field: str
    now: datetime


@dataclass(frozen=True)
class DeadResult:
    """What was found. `packages` are those looked through, by id, and `is_whole` says whether these are all.

    `unproven` are targets that a sample did not meet; `gaps` are sentences; `first` is the first day on which
    a last bid was looked for.
    """

    packages: Mapping[int, SupplyPackage]
    is_whole: bool
    bids: BidValues
    dead: tuple[DeadTarget, ...]
    unproven: tuple[IncludedTarget, ...]
    gaps: tuple[str, ...]
    first: date | None = None


class DeadSearch:
    """A search on its way, in a thread of its own, that can be given up."""

    def __init__(self, client: Deals, ask: Ask, scope: DeadScope) -> None:
        self._client, self._ask, self._scope = client, ask, scope
        self._calls, self._is_over, self._lock = CallGroup(), threading.Event(), threading.Lock()
        self._batch: QueryBatch | None = None
        self._read = 0
        self._result = Future[DeadResult]()
        threading.Thread(target=self._settle, name="dead targets", daemon=True).start()

    def cancel(self) -> None:
        """Give it up: nobody needs it any more."""
        with self._lock:
            self._is_over.set()
            batch = self._batch
        if batch is not None:
            batch.cancel()
        self._calls.abandon()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is done, or has failed, within so many seconds."""
        wait([self._result], seconds)
        return self.is_done

    @property
    def is_done(self) -> bool:
        """Whether it is done, or has failed or was given up."""
        return self._result.done()

    @property
    def progress(self) -> str:
        """How far it has come, as the end of a sentence."""
        batch = self._batch
        if batch is None:
            return f"{self._read:,} packages read"
        answer_count, question_count = batch.progress
        return f"{answer_count} of {question_count} questions answered"

    def result(self) -> DeadResult:
        """What was found; waits for it. Raises what reading or asking raised."""
        return self._result.result()

    def _settle(self) -> None:
        try:
            with self._calls.tracking():
                self._result.set_result(self._search())
        except BaseException as error:
            self._result.set_exception(error)

    def _search(self) -> DeadResult:
        scope, packages, is_whole = self._scope, dict[int, SupplyPackage](), True
        for package in self._client.everything(SupplyPackage, ordering="id"):
            self._check()
            self._read += 1
            if package.id is not None and (package.end_date is None or package.end_date > scope.now):
                if len(packages) == MOST:
                    is_whole = False
                    break
                packages[package.id] = package
        targets, gaps = dead_targets.checks(packages.values(), scope.slicer, scope.lists)
        queries = dead_targets.questions(scope.period, targets)
        bids = dead_targets.read_bids(queries, self._answers(queries), scope.field)
        missing = dead_targets.without_bids(targets, bids)
        dead, unproven = (missing, []) if bids.is_exact else ([], missing)
        titles = (scope.slicer.key_field(name).description or name for name in sorted(bids.empty))
        empty = [f"{title}: the report has no values for it in these days." for title in titles]
        last_queries = [] if scope.before is None else dead_targets.last_questions(scope.before, dead)
        last_answers = self._answers(last_queries)
        return DeadResult(
            packages,
            is_whole,
            bids,
            tuple(dead_targets.last_days(dead, last_queries, last_answers, scope.field)),
            tuple(unproven),
            (*gaps, *(empty if bids.has_data else ())),
            None if scope.before is None else date.fromisoformat(scope.before.start_date),
        )

    def _answers(self, queries: list[AudienceQuery]) -> list[Audience]:
        if not queries:
            return []
        with self._lock:
            self._check()
            self._batch = QueryBatch(self._ask, queries)
        return self._batch.answers()

    def _check(self) -> None:
        if self._is_over.is_set():
            raise Abandoned("The search was given up")


def search(report: DealReport, client: Deals, lists: Lists, field: str, days: int) -> DeadSearch:
    """The search for targets without a bid, which `field` counts, in the last days; it has begun."""
    period = report.query(days, data_fields=(field,), audience_rows_limit=ROWS_LIMITS[1])
    start = report.period(days)[0]
    first, last = start - timedelta(days=LOOK_BACK), start - timedelta(days=1)
    if report.slicer.first_date:
        first = max(first, date.fromisoformat(report.slicer.first_date))
    before = period.model_copy(update={"start_date": first.isoformat(), "end_date": last.isoformat()})
    scope = DeadScope(
        report.slicer, lists, period, before if first <= last else None, field, datetime.now(UTC)
    )
    return DeadSearch(client, report.ask, scope)
