"""The reporting service: info, audience and export, checked in the order token, slicer, request."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from lib.reporting import compose, dates, files, requests
from lib.reporting.answers import Audience
from lib.reporting.compose import Shape
from lib.reporting.engines.resident import ResidentEngine
from lib.reporting.engines.sums import Engine, Question, Sums
from lib.reporting.exports import table
from lib.reporting.measures import Measure, measures, pairs
from lib.reporting.models import MAX_SPLIT_ROWS, AudienceQuery, ExportQuery, InfoQuery, Slicer
from lib.reporting.warehouse import StoredSlicer, Warehouse
from lib.settings import Settings
from lib.tokens.access import Access
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest


@dataclass(frozen=True)
class ExportFile:
    """A file on its way: its media type, its Content-Disposition, and its bytes piece by piece."""

    media_type: str
    disposition: str
    pieces: Iterator[bytes]


class ReportingService:
    """Answers requests (bodies of JSON, token included) from the warehouse. Safe among threads."""

    def __init__(
        self, warehouse: Warehouse, access: Access, settings: Settings, engine: Engine | None = None
    ) -> None:
        self.warehouse, self.access, self.settings = warehouse, access, settings
        self.engine = engine or ResidentEngine(settings.engine_threads)

    def deadline(self) -> Deadline:
        """A new deadline: to be made when the request arrives."""
        return Deadline(self.settings.deadline_seconds)

    def info(self, body: bytes) -> Slicer:
        """What the slicer is (specification, Info)."""
        stored, fields = self._open(body)
        requests.question(InfoQuery, fields)
        return stored.info()

    def audience(self, body: bytes, deadline: Deadline) -> Audience:
        """Figures restricted by filters and split by key fields (specification, Audience)."""
        stored, fields = self._open(body)
        query = requests.question(AudienceQuery, fields)
        shape = _shape(query, stored, bool(query.include_mappings), precision=bool(query.precision))
        sums = self._sums(stored, query, shape, query.audience_rows_limit, deadline)
        audience = _answer(query, sums, shape)
        deadline.check()
        return audience

    def export(self, body: bytes, deadline: Deadline) -> ExportFile:
        """The same as a file, never sampled (specification, Export)."""
        stored, fields = self._open(body)
        query = requests.question(ExportQuery, fields)
        shape = _shape(query, stored, query.with_mappings)
        first, last = _period(query, stored)
        audience = _answer(query, self._sums(stored, query, shape, None, deadline), shape)
        return ExportFile(
            media_type=files.media_type(query.export_format),
            disposition=files.content_disposition(stored.name, first, last, query.export_format),
            pieces=files.write(table(query, stored.info(), audience), query.export_format, deadline),
        )

    def _open(self, body: bytes) -> tuple[StoredSlicer, requests.Fields]:
        token, fields = requests.read(body)
        caller = self.access.caller(token, self.settings.reporting_service)
        project, slicer = requests.where(fields)
        if not caller.may_see(project, slicer):
            raise AccessError
        return self.warehouse.open(project, slicer), fields

    def _sums(
        self,
        stored: StoredSlicer,
        query: AudienceQuery | ExportQuery,
        shape: Shape,
        rows_limit: int | None,
        deadline: Deadline,
    ) -> Sums:
        first, last = _period(query, stored)
        needed = _needed(shape)
        counted = len(query.split_by) > 1 and not shape.data_filters
        asked = Question(
            first=first,
            last=last,
            timezone=_timezone(query, stored),
            split_by=query.split_by,
            filters=query.filters,
            atoms=frozenset().union(*(measure.atoms for measure in needed)),
            pairs=pairs(needed) if rows_limit is not None else frozenset(),
            rows_limit=rows_limit,
            max_groups=MAX_SPLIT_ROWS if counted else None,
        )
        return self.engine.audience(stored, asked, deadline)


def _timezone(query: AudienceQuery | ExportQuery, stored: StoredSlicer) -> int:
    return stored.definition.timezone if query.timezone is None else query.timezone


def _period(query: AudienceQuery | ExportQuery, stored: StoredSlicer) -> tuple[date, date]:
    return dates.date_range(query.start_date, query.end_date, dates.today(_timezone(query, stored)))


def _shape(
    query: AudienceQuery | ExportQuery, stored: StoredSlicer, described: bool, precision: bool = False
) -> Shape:
    slicer = stored.info()
    requests.check(query, slicer)
    known = measures(stored.definition)
    mapped = {name: slicer.key_field(name).mapping for name in query.split_by}
    return Shape(
        returned=tuple(known[name] for name in query.data_fields or _usual_fields(query, slicer)),
        known=known,
        numeric=frozenset(name for name in query.split_by if slicer.key_field(name).type == "int"),
        mappings={name: stored.mapping(found) for name, found in mapped.items() if found}
        if described
        else None,
        order_by=query.order_by,
        data_filters=query.data_filters if isinstance(query, ExportQuery) else (),
        limit=query.limit,
        offset=query.offset,
        precision=precision,
    )


def _usual_fields(query: AudienceQuery | ExportQuery, slicer: Slicer) -> list[str]:
    """Every data field that is not optional; of several audience sources the one asked for, if one is."""
    others = {
        f"unique_{source.name}" for source in slicer.audience_sources if source.name != query.audience_key
    }
    left_out = others if query.audience_key else set()
    return [
        field.name for field in slicer.data_fields if not field.is_optional and field.name not in left_out
    ]


def _needed(shape: Shape) -> list[Measure]:
    """The data fields to compute: those returned, and those that order or filter the rows."""
    named = [order.name for order in shape.order_by] + [wanted.name for wanted in shape.data_filters]
    return [*shape.returned, *(shape.known[name] for name in named if name in shape.known)]


def _answer(query: AudienceQuery | ExportQuery, sums: Sums, shape: Shape) -> Audience:
    audience = compose.compose(sums, shape)
    if len(query.split_by) > 1 and audience.total.records_found > MAX_SPLIT_ROWS:
        raise BadRequest(
            f"This split gives {audience.total.records_found:,} rows, more than {MAX_SPLIT_ROWS:,}"
        )
    return audience
