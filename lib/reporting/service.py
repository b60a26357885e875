"""The reporting service: info, audience and export, checked in the order token, slicer, request, cost."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import IO

import numpy as np
import pandas as pd

from lib.engines import ConnectedSlicers, Engine, Question, Sums, open_engine
from lib.people.tokens.access import Access
from lib.people.tokens.store import Caller
from lib.reporting import answer_cache, compose, files, requests, visible_rows
from lib.reporting.answer_cache import AnswerCache
from lib.reporting.answers import Audience
from lib.reporting.answers.records import RecordTable
from lib.reporting.compose import Measures
from lib.reporting.files.table import export_table
from lib.reporting.models import (
    MAX_SPLIT_ROWS,
    AudienceQuery,
    ExportQuery,
    InfoQuery,
    RecordsQuery,
    Selection,
)
from lib.reporting.records import RecordsPlan
from lib.reporting.visible_rows import VisibleRows
from lib.settings import Settings
from lib.slicers.dates import Days
from lib.slicers.granularities import time_key_field
from lib.slicers.measures import RECORDS, all_measures, pairs
from lib.slicers.models import Slicer
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, UnknownName
from lib.wire.fair import FairPool
from lib.wire.filters import Filter
from lib.wire.throttle import Throttle

MEGABYTE = 1_000_000
VISIBLE_ROWS_BYTES = 32 * MEGABYTE
OVERHEAD_MILLISECONDS = 3.0
PASSES = 60  # a usual question, with unique users, takes as long as so many weighted counts of its records
TIMED_RECORDS, ROUNDS = 200_000, 7


@dataclass(frozen=True)
class ExportFile:
    """A whole file: its media type, its Content-Disposition, and its content, read from the start."""

    media_type: str
    disposition: str
    content: IO[bytes]


@dataclass(frozen=True)
class AuthorizedRequest:
    """An authorized request: its caller, the slicer, what is asked, and which rows are there for them.

    `query` are the other fields of a body, or the query itself. The rows are those that pass all of
    `row_filters`; without any, all.
    """

    who: str
    slicer: StoredSlicer
    query: requests.Fields | InfoQuery
    row_filters: tuple[Filter, ...]

    @property
    def fields(self) -> requests.Fields:
        """The fields that were asked for."""
        return requests.fields_of(self.query)


class ReportingService:
    """Answers requests (bodies of JSON, token included) from the warehouse. Safe among threads.

    `is_exempt` says of a token's text whether it is never throttled.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        access: Access,
        settings: Settings,
        engine: Engine | None = None,
        connected: ConnectedSlicers | None = None,
        is_exempt: Callable[[str], bool] = lambda token: False,
    ) -> None:
        self.warehouse, self.access, self.settings = warehouse, access, settings
        self.engine = engine or open_engine(settings.engine_threads)
        self.connected = connected or ConnectedSlicers(settings.connection_urls)
        self.answers = AnswerCache(settings.answers_megabytes * MEGABYTE, answer_cache.size_of)
        self._visible_rows = AnswerCache[VisibleRows](VISIBLE_ROWS_BYTES, lambda visible: visible.size)
        self.rows_read, self._counting = 0, threading.Lock()
        self._throttle = Throttle(settings.throttle_questions, share=access.tally("questions"))
        self._is_exempt = is_exempt
        self.queries = FairPool(settings.query_threads, settings.query_share, "query")

    def deadline(self) -> Deadline:
        """A new deadline; create it when the request arrives."""
        return Deadline(self.settings.deadline_seconds)

    def admit(self, body: bytes) -> AuthorizedRequest:
        """Authorize the request in a body. AccessError, or Throttled for too many requests."""
        return self.authorize(*requests.read(body))

    def authorize(self, token: str, query: requests.Fields | InfoQuery) -> AuthorizedRequest:
        """The same for the fields of a body, or for a query of this process."""
        caller = self._caller(token)
        project, slicer = requests.where(query)
        if not caller.may_see(project, slicer):
            raise AccessError
        stored_slicer, row_filters = self.warehouse.open(project, slicer), caller.row_filters(project, slicer)
        if row_filters:
            visible_rows.check(row_filters, stored_slicer)
        return AuthorizedRequest(caller.person.username, stored_slicer, query, row_filters)

    def slicers(self, body: bytes) -> list[tuple[str, str]]:
        """Project and name of each slicer that the token in a body opens (*extension*)."""
        token, fields = requests.read(body)
        caller = self._caller(token)
        if fields:
            raise UnknownName("request field", next(iter(fields)), ("token",))
        self.warehouse.check()
        return sorted(pair for pair in self.warehouse.slicers() if caller.may_see(*pair))

    def _caller(self, token: str) -> Caller:
        caller = self.access.caller(token, self.settings.reporting_service)
        if not self._is_exempt(token):
            self._throttle.admit(caller.token.id)
        return caller

    def info(self, request: AuthorizedRequest, deadline: Deadline) -> Slicer:
        """Describe the slicer (specification, Info)."""
        requests.parse(InfoQuery, request.query)
        visible, slicer = self._visible(request, deadline), request.slicer.info()
        return slicer if visible is None else visible_rows.restrict(slicer, request.row_filters, visible)

    def audience(self, request: AuthorizedRequest, deadline: Deadline) -> Audience:
        """Figures restricted by filters and split by key fields (specification, Audience)."""
        slicer, query = request.slicer, self._query(AudienceQuery, request)
        measures = all_measures(query.own_fields, slicer.measures)
        visible = self._visible(request, deadline)
        records = _records_of(slicer, (query.start_date, query.end_date))
        # Answers with one precision are exact together, or samples of one rate.
        most = max(records, *(_records_of(slicer, days) for days in query.same_precision_as), 0)
        is_quick = reading_milliseconds(most) <= (query.exact_within or -1)
        is_whole = visible is not None or is_quick or most <= query.audience_rows_limit
        limit = None if is_whole else math.ceil(query.audience_rows_limit * records / most)

        def compute() -> tuple[Audience, bool]:
            question = replace(self._engine_query(query, measures), rows_limit=limit)
            sums = self._sums(slicer, question, visible, deadline)
            # not to be cached if the deadline left records unread
            return compose.compose(sums, query, slicer, measures), not sums.unread

        key = partial(answer_cache.key, slicer, request.row_filters, query)
        # Who would take an exact answer at a price gets one that is there, whatever it has cost.
        exact = self.answers.peek(key(None)) if query.exact_within else None
        audience = exact or self.answers.get(key(limit), compute, deadline)
        deadline.check()
        if visible is not None or audience.precision is None:
            return audience
        precision = replace(audience.precision, exact_milliseconds=reading_milliseconds(records))
        return replace(audience, precision=precision)

    def export(self, request: AuthorizedRequest, deadline: Deadline) -> ExportFile:
        """The same as a file, never sampled (specification, Export). The file is complete on return."""
        slicer, query = request.slicer, self._query(ExportQuery, request)
        measures = all_measures(query.own_fields, slicer.measures)
        visible = self._visible(request, deadline)

        def answer(query: ExportQuery, within: pd.DataFrame | None = None) -> Audience:
            question = replace(self._engine_query(query, measures), within=within)
            return compose.compose(self._sums(slicer, question, visible, deadline), query, slicer, measures)

        audience = answer(query)
        if query.include_total and query.data_filters and query.split_by:
            # a record in several rows of the file counts once
            whole = query.model_copy(update={"split_by": (), "order_by": (), "data_filters": ()})
            audience = replace(audience, total=answer(whole, within=audience.names).total)
        table = export_table(query, slicer.info().with_own(query.own_fields), audience)
        return ExportFile(
            media_type=files.media_type(query.export_format),
            disposition=files.content_disposition(slicer.name, *_days(query), query.export_format),
            content=files.make_file(table, query.export_format, deadline),
        )

    def records(self, request: AuthorizedRequest, deadline: Deadline) -> RecordTable:
        """The records behind a figure (*extension*), which no question of the caller leaves out."""
        return self._records(request, deadline)[1]

    def records_file(self, request: AuthorizedRequest, deadline: Deadline) -> ExportFile:
        """The same as a file in the query's `export_format`, csv without one."""
        plan, records = self._records(request, deadline)
        export_format = plan.query.export_format or "csv"
        days = _days(plan.query)
        return ExportFile(
            media_type=files.media_type(export_format),
            disposition=files.content_disposition(f"{request.slicer.name}_records", *days, export_format),
            content=files.make_file(plan.file(records), export_format, deadline),
        )

    def _records(self, request: AuthorizedRequest, deadline: Deadline) -> tuple[RecordsPlan, RecordTable]:
        slicer, query = request.slicer, self._query(RecordsQuery, request)
        plan, question, day = RecordsPlan(query, slicer), self._selection(query), time_key_field("day")
        by_day = replace(question, split_by=(day,), atoms=frozenset({RECORDS}))
        counts = self._engine(slicer).audience(slicer, by_day, deadline)
        request_of_records = plan.engine_query(question)
        if slicer.definition.source is not None:
            frame = self.connected.engine.records(slicer, request_of_records, deadline)
        else:
            days = map(date.fromisoformat, counts.groups[day].astype("str"))
            frame = request_of_records.read(slicer, days, deadline)
        return plan, plan.answer(frame, int(counts.rows.records.sum()))

    def _query(self, model: type[requests.ReportQuery], request: AuthorizedRequest) -> requests.ReportQuery:
        """The question in a request, about the rows that are there for its caller: the one place for that."""
        query: requests.ReportQuery = requests.parse(model, request.query)
        requests.check_values(query, self.settings.filter_values)
        query = requests.resolve(query, request.slicer.info())
        return query.model_copy(update={"filters": (*request.row_filters, *query.filters)})

    def _selection(self, query: Selection) -> Question:
        first, last = _days(query)
        zone, most_bytes = query.timezone or 0, self.settings.question_megabytes * MEGABYTE
        return Question(first, last, zone, filters=query.filters, any_of=query.any_of, max_bytes=most_bytes)

    def _engine_query(self, query: AudienceQuery | ExportQuery, measures: Measures) -> Question:
        required = compose.required_measures(query, measures)
        has_most = len(query.split_by) > 1 and not query.data_filters
        return replace(
            self._selection(query),
            split_by=query.split_by,
            atoms=compose.atoms(required),
            pairs=pairs(required),
            max_groups=MAX_SPLIT_ROWS if has_most else None,
        )

    def _visible(self, request: AuthorizedRequest, deadline: Deadline) -> VisibleRows | None:
        """On which days there are rows for the caller; None for one who may see all rows."""
        slicer, filters = request.slicer, request.row_filters
        if not filters:
            return None

        def count() -> tuple[VisibleRows, bool]:
            engine, most_bytes = self._engine(slicer), self.settings.question_megabytes * MEGABYTE
            return visible_rows.count_visible(slicer, filters, engine, most_bytes, deadline), True

        key = (slicer.project, slicer.name, slicer.version, slicer.read_at, filters)
        return self._visible_rows.get(key, count, deadline)

    def _engine(self, slicer: StoredSlicer) -> Engine:
        return self.engine if slicer.definition.source is None else self.connected.engine

    def _sums(
        self, slicer: StoredSlicer, question: Question, visible: VisibleRows | None, deadline: Deadline
    ) -> Sums:
        """The sums; what is counted of the days themselves is of the visible rows alone."""
        sums = self._engine(slicer).audience(slicer, question, deadline)
        sums.check_finite(f"{slicer.project}/{slicer.name}")
        with self._counting:
            self.rows_read += sums.records_read
        if visible is None:
            return sums
        days, records = visible.within((question.first, question.last), question.timezone)
        return replace(sums, dates=days, records_read=records, records_in_range=records)


def _days(query: Selection) -> Days:
    """The days of a resolved query."""
    return date.fromisoformat(query.start_date), date.fromisoformat(query.end_date)


def _records_of(slicer: StoredSlicer, days: tuple[str, str]) -> int:
    """How many records the slicer has on these days (first, last) of its own zone."""
    first, last = map(date.fromisoformat, days)
    return sum(rows for day, rows in slicer.rows.items() if first <= day <= last)


def reading_milliseconds(records: int) -> int:
    """The expected time to read all of these records, the same for a question whatever the machine does now.

    What a question takes in truth depends on its split and on what else the machine does. Neither may decide
    whether figures are exact: the same question, or the other half of a comparison, would get another answer.
    """
    return round(OVERHEAD_MILLISECONDS + records * _nanoseconds() / 1e6)


@cache
def _nanoseconds() -> float:
    """The time for one record, by the fastest of a few counts; measured once."""
    values = np.random.default_rng(0).integers(0, TIMED_RECORDS, TIMED_RECORDS)
    weights = np.ones(TIMED_RECORDS)
    seconds = []
    for _ in range(ROUNDS):
        # The time of this thread alone: others must not make a machine look slow.
        began = time.thread_time()
        np.bincount(values, weights)
        seconds.append(time.thread_time() - began)
    return PASSES * 1e9 * min(seconds) / TIMED_RECORDS
