"""The reporting service: info, audience and export, checked in the order token, slicer, request, cost."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import IO, TypeVar, cast

import numpy as np
import pandas as pd

from lib.engines import ConnectedSlicers, Engine, Question, RecordsQuestion, Sums, open_engine
from lib.people.tokens.access import Access
from lib.people.tokens.store import Caller
from lib.reporting import answer_cache, compose, files, named_days, requests, visible_rows
from lib.reporting.answer_cache import AnswerCache, Key
from lib.reporting.answers import Audience, Total
from lib.reporting.answers.records import RecordTable
from lib.reporting.compose import Shape
from lib.reporting.files.table import export_table
from lib.reporting.models import MAX_SPLIT_ROWS, AudienceQuery, ExportQuery, InfoQuery, RecordsQuery
from lib.reporting.records import RecordsPlan
from lib.reporting.visible_rows import VisibleRows
from lib.settings import Settings
from lib.slicers import dates
from lib.slicers.granularities import time_key_field
from lib.slicers.measures import RECORDS, own_measures, pairs
from lib.slicers.models import Slicer
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.slicers.zones import Zone
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest, UnknownName
from lib.wire.fair import FairPool
from lib.wire.filters import Filter
from lib.wire.throttle import Throttle

MEGABYTE = 1_000_000
VISIBLE_ROWS_BYTES = 32 * MEGABYTE
ReportQuery = TypeVar("ReportQuery", AudienceQuery, ExportQuery, RecordsQuery)
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
        requests.question(InfoQuery, request.query)
        visible, slicer = self._visible(request, deadline), request.slicer.info()
        return slicer if visible is None else visible_rows.restrict(slicer, request.row_filters, visible)

    def audience(self, request: AuthorizedRequest, deadline: Deadline) -> Audience:
        """Figures restricted by filters and split by key fields (specification, Audience)."""
        query = self._question(AudienceQuery, request)
        visible = self._visible(request, deadline)
        parts = bool(query.include_mappings), bool(query.precision)
        inquiry = _inquire(request.slicer, query, visible, *parts)
        limit, key = inquiry.rows_limit(), self._key(request, inquiry)
        # Who would take an exact answer at a price gets one that is there, whatever it has cost.
        exact = self.answers.peek(key(None)) if query.exact_within else None
        audience = exact or self.answers.get(
            key(limit), lambda: self._compute(inquiry, limit, deadline), deadline
        )
        deadline.check()
        return audience if visible is not None else _with_cost(audience, inquiry.records)

    def _key(self, request: AuthorizedRequest, inquiry: "_Inquiry") -> Callable[[int | None], Key]:
        """The key of an inquiry's answer by its rows limit."""
        first, last = (day.isoformat() for day in inquiry.period)
        query = cast(AudienceQuery, inquiry.query)
        return partial(
            answer_cache.key, request.slicer, request.row_filters, query, (first, last), inquiry.timezone
        )

    def _compute(self, inquiry: "_Inquiry", limit: int | None, deadline: Deadline) -> tuple[Audience, bool]:
        """The answer, and whether it may be cached: not if the deadline left records unread."""
        sums = self._sums(inquiry, limit, deadline)
        return inquiry.answer(sums), not sums.unread

    def export(self, request: AuthorizedRequest, deadline: Deadline) -> ExportFile:
        """The same as a file, never sampled (specification, Export). The file is complete on return."""
        slicer, query = request.slicer, self._question(ExportQuery, request)
        inquiry = _inquire(slicer, query, self._visible(request, deadline), query.with_mappings)
        audience = inquiry.answer(self._sums(inquiry, None, deadline))
        if query.include_total and query.data_filters and query.split_by:
            audience = replace(audience, total=self._total_of(audience.names, inquiry, deadline))
        table = export_table(query, slicer.info().with_own(query.own_fields), audience)
        return ExportFile(
            media_type=files.media_type(query.export_format),
            disposition=files.content_disposition(slicer.name, *inquiry.period, query.export_format),
            content=files.make_file(table, query.export_format, deadline),
        )

    def records(self, request: AuthorizedRequest, deadline: Deadline) -> RecordTable:
        """The records behind a figure (*extension*), which no question of the caller leaves out."""
        return self._records(request, deadline)[1]

    def records_file(self, request: AuthorizedRequest, deadline: Deadline) -> ExportFile:
        """The same as a file in the query's `export_format`, csv without one."""
        plan, records, period = self._records(request, deadline)
        query = requests.question(RecordsQuery, request.query)
        export_format = query.export_format or "csv"
        return ExportFile(
            media_type=files.media_type(export_format),
            disposition=files.content_disposition(f"{request.slicer.name}_records", *period, export_format),
            content=files.make_file(plan.file(records), export_format, deadline),
        )

    def _records(
        self, request: AuthorizedRequest, deadline: Deadline
    ) -> tuple[RecordsPlan, RecordTable, tuple[date, date]]:
        slicer, query = request.slicer, self._question(RecordsQuery, request)
        requests.check_selection(query, slicer.info())
        plan = RecordsPlan(query, slicer)
        timezone = named_days.zone(query, slicer.info())
        period = dates.date_range(query.start_date, query.end_date, dates.today(timezone))
        question = Question(
            *period,
            timezone=timezone,
            filters=query.filters,
            any_of=query.any_of,
            max_bytes=self.settings.question_megabytes * MEGABYTE,
        )
        day = time_key_field("day")
        by_day = replace(question, split_by=(day,), atoms=frozenset({RECORDS}))
        counts = self._engine(slicer).audience(slicer, by_day, deadline)
        frame = self._frame(slicer, plan.question(question), counts.groups[day], deadline)
        return plan, plan.answer(frame, int(counts.rows.records.sum())), period

    def _frame(
        self,
        slicer: StoredSlicer,
        request: RecordsQuestion,
        days: "pd.Series[str]",
        deadline: Deadline,
    ) -> pd.DataFrame:
        if slicer.definition.source is not None:
            return self.connected.engine.records(slicer, request, deadline)
        return request.read(slicer, map(date.fromisoformat, days.astype("str")), deadline)

    def _total_of(self, rows: pd.DataFrame, inquiry: "_Inquiry", deadline: Deadline) -> Total:
        """The total of the records in these rows; a record in several rows counts once."""
        whole = replace(
            inquiry,
            query=inquiry.query.model_copy(update={"split_by": ()}),
            shape=Shape(measures=inquiry.shape.measures, all_measures=inquiry.shape.all_measures),
        )
        return compose.compose(self._sums(whole, None, deadline, rows), whole.shape).total

    def _question(self, model: type[ReportQuery], request: AuthorizedRequest) -> ReportQuery:
        """The question in a request, about the rows that are there for its caller: the one place for that."""
        query: ReportQuery = requests.question(model, request.query)
        requests.check_values(query, self.settings.filter_values)
        return query.model_copy(update={"filters": (*request.row_filters, *query.filters)})

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
        self,
        inquiry: "_Inquiry",
        rows_limit: int | None,
        deadline: Deadline,
        within: pd.DataFrame | None = None,
    ) -> Sums:
        query, shape = inquiry.query, inquiry.shape
        has_most = len(query.split_by) > 1 and not shape.data_filters
        question = Question(
            *inquiry.period,
            timezone=inquiry.timezone,
            split_by=query.split_by,
            filters=query.filters,
            any_of=query.any_of,
            atoms=shape.atoms,
            pairs=pairs(shape.required_measures) if rows_limit is not None else frozenset(),
            rows_limit=rows_limit,
            max_groups=MAX_SPLIT_ROWS if has_most else None,
            max_bytes=self.settings.question_megabytes * MEGABYTE,
            within=within,
        )
        sums = self._engine(inquiry.slicer).audience(inquiry.slicer, question, deadline)
        sums.check_finite(f"{inquiry.slicer.project}/{inquiry.slicer.name}")
        with self._counting:
            self.rows_read += sums.records_read
        if inquiry.visible is None:
            return sums
        days, records = inquiry.visible.within(inquiry.period, inquiry.timezone)
        return replace(sums, dates=days, records_read=records, records_in_range=records)


@dataclass(frozen=True)
class _Inquiry:
    """A checked query about a slicer: the shape of its answer, its days in its zone, and how many records.

    `most_records` are those of its days, or of other days that are to have one precision with them.

    `visible` are the rows that its filters of a grant leave; None without such filters.
    """

    slicer: StoredSlicer
    query: AudienceQuery | ExportQuery
    visible: VisibleRows | None
    shape: Shape
    timezone: Zone
    period: tuple[date, date]
    records: int
    most_records: int

    def rows_limit(self) -> int | None:
        """How many records to read; None for all.

        Answers with one precision are exact together, or samples of one rate.
        """
        query = cast(AudienceQuery, self.query)
        is_quick = reading_milliseconds(self.most_records) <= (query.exact_within or -1)
        if self.visible is not None or is_quick or self.most_records <= query.audience_rows_limit:
            return None
        return math.ceil(query.audience_rows_limit * self.records / self.most_records)

    def answer(self, sums: Sums) -> Audience:
        """The answer of these sums; BadRequest for one with too many rows (specification, Errors)."""
        audience = compose.compose(sums, self.shape)
        if len(self.query.split_by) > 1 and audience.total.records_found > MAX_SPLIT_ROWS:
            raise BadRequest(
                f"This split gives {audience.total.records_found:,} rows, more than {MAX_SPLIT_ROWS:,}"
            )
        return audience


def _inquire(
    slicer: StoredSlicer,
    query: AudienceQuery | ExportQuery,
    visible: VisibleRows | None,
    with_descriptions: bool,
    with_precision: bool = False,
) -> _Inquiry:
    """BadRequest names what the slicer doesn't have. Records are counted by days in its own zone."""
    shape = _shape(query, slicer, with_descriptions, with_precision)
    timezone = named_days.zone(query, slicer.info())
    today = dates.today(timezone)
    period = dates.date_range(query.start_date, query.end_date, today)
    others: tuple[tuple[str, str], ...] = getattr(query, "same_precision_as", ())
    records, *more = (
        sum(rows for day, rows in slicer.rows.items() if first <= day <= last)
        for first, last in (period, *(dates.date_range(start, end, today) for start, end in others))
    )
    return _Inquiry(slicer, query, visible, shape, timezone, period, records, max(records, *more, 0))


def _shape(
    query: AudienceQuery | ExportQuery, slicer: StoredSlicer, with_descriptions: bool, with_precision: bool
) -> Shape:
    info, measures = slicer.info(), slicer.measures
    if query.own_fields:
        measures = measures | own_measures(query.own_fields, measures)
        info = info.with_own(query.own_fields)
    requests.check(query, info)
    return Shape(
        measures=tuple(measures[name] for name in query.data_fields or _usual_fields(query, info)),
        all_measures=measures,
        numeric=frozenset(name for name in query.split_by if info.key_field(name).type == "int"),
        mappings={name: slicer.descriptions(name) for name in query.split_by} if with_descriptions else None,
        order_by=query.order_by,
        data_filters=query.data_filters,
        limit=query.limit,
        offset=query.offset,
        precision=with_precision,
    )


def _usual_fields(query: AudienceQuery | ExportQuery, slicer: Slicer) -> list[str]:
    """The default data fields: all that are not optional; of several audience sources the requested one."""
    others = {
        f"unique_{source.name}" for source in slicer.audience_sources if source.name != query.audience_key
    }
    left_out = others if query.audience_key else set()
    return [
        field.name for field in slicer.data_fields if not field.is_optional and field.name not in left_out
    ]


def _with_cost(audience: Audience, records: int) -> Audience:
    """The answer with the expected time of an exact one, if it includes its precision."""
    if audience.precision is None:
        return audience
    precision = replace(audience.precision, exact_milliseconds=reading_milliseconds(records))
    return replace(audience, precision=precision)


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
