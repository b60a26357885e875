"""The client of the reporting API: three verbs over any transport, extensions replaced if missing.

What a service does not do itself (extensions that its info does not list) is done here: order, page and
choice of data fields are made from the whole answer, whose totals stay; own fields are computed from their
parts. A file is the service's alone: what it can't do for one is refused.
"""

import math
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.message import Message
from typing import IO, Any, TypeVar

import httpx
import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.reporting import named_days
from lib.reporting.answers import Audience, Values, as_arrow, responses
from lib.reporting.answers.records import RecordTable
from lib.reporting.files.formats import FORMATS
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, RecordsQuery, Selection
from lib.slicers import formulas
from lib.slicers.models import EXTENSIONS, DataField, OwnField, Slicer
from lib.wire import call
from lib.wire.call import Credential, in_the_name_of
from lib.wire.errors import BadRequest, MalformedResponse, Unreadable
from lib.wire.filters import COMPARE

Query = TypeVar("Query", AudienceQuery, ExportQuery)
Places = npt.NDArray[np.intp]
Keys = npt.NDArray[np.float64]
FileQuery = ExportQuery | RecordsQuery
PAGE = frozenset({"order_by", "limit", "offset"})
NO_ZONES = "This service knows no names of time zones: write whole hours ahead of UTC"
NO_ANY_OF = "This service can't combine filters by OR: ask for each of them alone"
*SOME, LAST = sorted(name for name, format_ in FORMATS.items() if format_.plain_words)
OF_A_FILE = {
    "data_fields": "This service can't choose a file's data fields: it writes all of them",
    "own_fields": "This service can't compute own metrics for a file: take their parts",
    "order_by": "This service can't order a file's rows: it uses its own order",
    "limit": "This service can't write a part of a file's rows: it writes all of them",
    "offset": "This service can't write a part of a file's rows: it writes all of them",
    "audience_key": "This service can't choose a file's audience source: it writes all of them",
    "any_of": NO_ANY_OF,
    "full_digits": "This service can't write all digits to csv or tsv; its tsv2 may have them",
    "escape_formulas": "This service can't leave formulas in a file unescaped: it has its own way",
}
PATH = "/API/v2"
JSON = "application/json"
ONCE = call.Patience(retries=0)
KEPT_IN_MEMORY = 32 * 1024 * 1024
MOST_OF_AN_ERROR = 16 * 1024
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Download:
    """An exported file. `content` is at its start, in memory or, if large, on disk."""

    filename: str
    media_type: str
    content: IO[bytes]


class Reporting:
    """A client with a token. Raises the service's own errors, or ServiceProblem without a response.

    All three verbs are reads, so that each may be repeated.
    """

    def __init__(self, http: httpx.Client, token: str | Credential, patience: call.Patience = ONCE) -> None:
        self._http, self._credential, self._patience = http, token, patience

    def info(self, query: InfoQuery) -> Slicer:
        return describe(self._request("info", query.model_dump(), JSON, responses.slicer))

    def slicers(self) -> list[tuple[str, str]]:
        """Project and name of each slicer that the token opens, as our own service lists them."""
        return self._request("slicers", {}, JSON, responses.slicers)

    def audience(self, query: AudienceQuery, slicer: Slicer | None = None) -> Audience:
        """The figures. `slicer` (its info) saves asking which extensions the service knows."""
        slicer = slicer or self.info(where(query))
        query = for_service(query, slicer)
        fields, split_by = request_fields(query, slicer.extensions), query.split_by
        accept = as_arrow.MEDIA_TYPE if slicer.knows("arrow") else JSON
        audience = self._request(
            "audience", fields, accept, lambda answer: responses.audience(answer, split_by)
        )
        return complete(audience, query, slicer)

    def export(self, query: ExportQuery, slicer: Slicer | None = None) -> Download:
        """The file, whole. `slicer` (its info) saves asking which extensions the service knows.

        BadRequest where the file is to have what its service does not know: nobody else can make it.
        """
        query = for_service(query, slicer) if slicer else query
        if extensions_of(query) or isinstance(query.timezone, str):
            slicer = slicer or self.info(where(query))
            check_file(query, slicer.extensions)
        return self._file("export", query)

    def records(self, query: RecordsQuery, slicer: Slicer) -> RecordTable:
        """The records behind a figure (*extension*); BadRequest of a service that shows none."""
        fields = for_records(query, slicer).model_dump(
            mode="json", exclude_defaults=True, exclude={"export_format"}
        )
        return self._request("records", fields, JSON, responses.records)

    def records_file(self, query: RecordsQuery, slicer: Slicer) -> Download:
        """The same as a file, in the query's `export_format`."""
        return self._file("records", for_records(query, slicer))

    def _file(self, verb: str, query: FileQuery) -> Download:
        return in_the_name_of(self._credential, lambda token: self._download(verb, query, token))

    def _download(self, verb: str, query: FileQuery, token: str) -> Download:
        body = query.model_dump(mode="json", exclude_defaults=True)
        content = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
        call_ = replace(self._call(verb, body, "application/json, */*;q=0.9", token), is_download=True)
        with call.stream(self._http, call_) as (response, pieces):
            media_type = response.headers.get("content-type", "")
            if responses.is_message(media_type) or not response.is_success:
                retry_after = response.headers.get("retry-after", "")
                message = {"content-type": media_type, "retry-after": retry_after}
                responses.fields(
                    httpx.Response(response.status_code, headers=message, content=b"".join(pieces))
                )
                raise Unreadable("The service sent no file")
            for piece in pieces:
                content.write(piece)
        # An error may come with a file's type, and a web page in its place.
        content.seek(0)
        head = content.read(MOST_OF_AN_ERROR)
        content.seek(0)
        if media_type.startswith("text/html") and head.lstrip().startswith(b"<"):
            raise MalformedResponse("The service returned a web page, not a file")
        if head.lstrip().startswith(b"{") and len(head) < MOST_OF_AN_ERROR:
            status = ""
            with suppress(ValueError):
                status = responses.parse(head, JSON)["status"]
            if status in responses.ERRORS:
                responses.fields(httpx.Response(response.status_code, content=head))
        disposition = Message()
        disposition["Content-Disposition"] = response.headers.get("content-disposition", "")
        filename = disposition.get_filename() or f"{query.slicer_name}.{query.export_format}"
        return Download(filename, media_type.partition(";")[0], content)

    def _request(
        self, verb: str, fields: Mapping[str, Any], accept: str, read: Callable[[httpx.Response], Answer]
    ) -> Answer:
        """The response parsed by `read`; repeated once if the token was refused and can be renewed."""
        return in_the_name_of(
            self._credential,
            lambda token: read(call.call(self._http, self._call(verb, fields, accept, token))),
        )

    def _call(self, verb: str, fields: Mapping[str, Any], accept: str, token: str) -> call.Call:
        body = {**fields, "token": token}
        return self._patience.call("POST", f"{PATH}/{verb}", True, json=body, headers={"Accept": accept})


def where(query: InfoQuery) -> InfoQuery:
    """The query for what the slicer of another query is."""
    return InfoQuery(project_name=query.project_name, slicer_name=query.slicer_name)


def describe(slicer: Slicer) -> Slicer:
    """The slicer with the data fields of its audience sources, which info need not list."""
    names = {*slicer.data_names}
    missing = [source for source in slicer.audience_sources if f"unique_{source.name}" not in names]
    more = [
        DataField(name=f"unique_{source.name}", description=source.description, annotation=source.annotation)
        for source in missing
    ]
    return slicer.model_copy(update={"data_fields": (*slicer.data_fields, *more)}) if more else slicer


def for_service(query: Query, slicer: Slicer) -> Query:
    """The query as a service is asked: days without names, and with the slicer's own fields that it names."""
    query = named_days.for_api(query, slicer)
    names = _ranked_by(query).union(query.data_fields or ())
    own_fields = tuple(field for field in slicer.own_fields if field.name in names)
    return query.model_copy(update={"own_fields": own_fields}) if own_fields else query


def for_records(query: RecordsQuery, slicer: Slicer) -> RecordsQuery:
    """The query as its service is asked: days without names, and own fields as the fields of their formulas.

    BadRequest where the service does not show records.
    """
    if not slicer.knows("records"):
        raise BadRequest("This service shows no records: ask for figures, split further")
    if query.any_of and not slicer.knows("any_of"):
        raise BadRequest(NO_ANY_OF)
    _check_zone(query, slicer.extensions)
    query = named_days.for_api(query, slicer)
    own = {field.name: sorted(formulas.parse(field.formula).fields()) for field in slicer.own_fields}
    if query.columns is None or own.keys().isdisjoint(query.columns):
        return query
    columns = (part for name in query.columns for part in own.get(name, [name]))
    return query.model_copy(update={"columns": tuple(dict.fromkeys(columns))})


def _ranked_by(query: AudienceQuery | ExportQuery) -> set[str]:
    """The fields by which rows are ordered or left out."""
    return {order.name for order in query.order_by} | {data_filter.name for data_filter in query.data_filters}


def request_fields(query: AudienceQuery, extensions: Collection[str]) -> dict[str, Any]:
    """The request's fields for a service with these extensions; what is ordered here is cut here too.

    BadRequest for filters joined by OR, which nobody can join from answers without records.
    """
    left_out = _left_out(query, extensions)
    if "any_of" in left_out and query.any_of:
        raise BadRequest(NO_ANY_OF)
    _check_zone(query, extensions)
    if "own_fields" in left_out and query.data_fields:
        # The data fields to ask for: those of the service, and in place of own ones those of their
        # formulas.
        own = {field.name: sorted(formulas.parse(field.formula).fields()) for field in query.own_fields}
        fields = sorted(_ranked_by(query).difference(query.split_by))
        parts = [part for name in (*(query.data_fields or ()), *fields) for part in own.get(name, [name])]
        query = query.model_copy(update={"data_fields": tuple(dict.fromkeys(parts))})
    return query.model_dump(mode="json", exclude_defaults=True, exclude=left_out)


def complete(audience: Audience, query: AudienceQuery, slicer: Slicer) -> Audience:
    """The answer with everything that was asked for and not sent; `slicer` is the service's info.

    A data field that was asked for and did not come has no values; ranges are those that the service's
    `confidence_range` leaves.
    """
    left_out = _left_out(query, slicer.extensions)
    if "own_fields" in left_out and query.own_fields:
        audience = _with_own(audience, query.own_fields)
        left_out |= {"data_fields"}
    if "data_filters" in left_out and query.data_filters:
        # The rows that pass, and their number; a missing value passes no filter.
        passes = np.ones(len(audience), dtype=bool)
        for data_filter in query.data_filters:
            if data_filter.name not in audience.values:
                raise BadRequest(f"This service sent no {data_filter.name} to filter by")
            values = audience.values[data_filter.name].to_numpy()
            passes &= COMPARE[data_filter.match](values, data_filter.value) & ~np.isnan(values)
        places = np.flatnonzero(passes)
        audience = replace(_rows(audience, places), total=replace(audience.total, records_found=len(places)))
    if "order_by" in left_out:
        audience = _rows(audience, _order(audience, query, slicer)[query.offset :][: query.limit])
    elif left_out & PAGE:
        audience = _rows(audience, np.arange(len(audience))[query.offset :][: query.limit])
    if "data_fields" in left_out and query.data_fields:
        audience = _fields(audience, query.data_fields)
    elif "audience_key" in left_out and query.audience_key:
        others = {f"unique_{source.name}" for source in slicer.audience_sources} - {
            f"unique_{query.audience_key}"
        }
        audience = _fields(audience, [name for name in audience.total.values if name not in others])
    if "precision" in left_out and query.precision:
        audience = _with_ranges(audience)
    own = [field.name for field in query.own_fields if "own_fields" in left_out]
    return _without_ranges(audience, own) if own else audience


def _left_out(query: AudienceQuery, extensions: Collection[str]) -> set[str]:
    """What the service isn't asked for: what it doesn't know, and what rows filtered here need whole."""
    left_out = set(EXTENSIONS) - set(extensions)
    own = {field.name for field in query.own_fields} if "own_fields" in left_out else set()
    if own & {data_filter.name for data_filter in query.data_filters}:
        left_out |= {"data_filters"}
    if own & _ranked_by(query):
        left_out |= PAGE
    if "data_filters" in left_out and query.data_filters:
        left_out |= PAGE | {"data_fields"}
    return left_out | PAGE if "order_by" in left_out else left_out


def _with_own(audience: Audience, own_fields: Iterable[OwnField]) -> Audience:
    """The answer with these fields, computed from the fields that came."""
    values, totals = audience.values.copy(), dict(audience.total.values)
    for field in own_fields:
        expression = formulas.parse(field.formula)
        parts = expression.fields()
        if missing := parts - set(values):
            raise BadRequest(f"This service sent no {min(missing)}, of which {field.name} is computed")
        sums = {name: math.nan if (value := totals.get(name)) is None else value for name in parts}
        total = float(expression.evaluate(sums))
        columns = {name: values[name].to_numpy(np.float64) for name in parts}
        values[field.name] = np.broadcast_to(expression.evaluate(columns), len(values))
        totals[field.name] = total if math.isfinite(total) else None
    return replace(audience, values=values, total=replace(audience.total, values=totals))


def _without_ranges(audience: Audience, names: Collection[str]) -> Audience:
    """The answer with ranges that are not known for these fields, if it has any."""
    if audience.low is None or audience.high is None:
        return audience
    unknown = dict.fromkeys(names, np.nan)
    low, high = ({**side, **dict.fromkeys(names)} for side in (audience.total.low, audience.total.high))
    total = replace(audience.total, low=low, high=high)
    return replace(
        audience, total=total, low=audience.low.assign(**unknown), high=audience.high.assign(**unknown)
    )


def extensions_of(query: ExportQuery) -> list[str]:
    """The extensions that the file's request makes use of."""
    extensions = query.model_dump(exclude_defaults=True, include=set(OF_A_FILE))
    return [*extensions, *({query.export_format} & set(EXTENSIONS))]


def check_file(query: ExportQuery, extensions: Collection[str]) -> None:
    """BadRequest where a service with these extensions can't make the file; says what it can't do."""
    _check_zone(query, extensions)
    for name in extensions_of(query):
        if name not in extensions:
            raise BadRequest(
                OF_A_FILE.get(
                    name, f"This service can't write {name}; it can write {', '.join(SOME)} and {LAST}"
                )
            )


def _check_zone(query: Selection, extensions: Collection[str]) -> None:
    if isinstance(query.timezone, str) and "time_zones" not in extensions:
        raise BadRequest(NO_ZONES)


def _order(audience: Audience, query: AudienceQuery, slicer: Slicer) -> Places:
    """The rows in the asked order; what ties is ordered by name, and missing numbers come last."""
    names, keys = audience.names, []
    for order in query.order_by:
        if order.name in audience.values:
            key = audience.values[order.name].to_numpy()
        elif order.name not in names:
            continue
        elif order.name in {field.name for field in slicer.key_fields if field.type == "int"}:
            key = pd.to_numeric(names[order.name], errors="coerce").to_numpy(np.float64)
        else:
            key = _rank(names[order.name])
        keys.append(key if order.direction == "asc" else -key)
    if not keys or not len(names.columns):
        return np.arange(len(audience))
    return np.lexsort([*reversed([_rank(names[name]) for name in names]), *reversed(keys)])


def _rank(texts: pd.Series) -> Keys:
    return pd.factorize(texts, sort=True)[0].astype(np.float64)


def _rows(audience: Audience, places: Places) -> Audience:
    columns: dict[str, Any] = {
        name: part.iloc[places].reset_index(drop=True)
        for name, part in vars(audience).items()
        if isinstance(part, pd.DataFrame | pd.Series)
    }
    return replace(audience, **columns)


def _fields(audience: Audience, names: Iterable[str]) -> Audience:
    fields = list(names)
    values: Values = {name: audience.total.values.get(name) for name in fields}
    return replace(
        audience,
        values=audience.values.reindex(columns=fields).astype("float64"),
        percents=audience.percents[[name for name in fields if name in audience.percents]],
        total=replace(audience.total, values=values),
    )


def _with_ranges(audience: Audience) -> Audience:
    """The answer with the ranges that its confidence ranges leave: so many percent of each value.

    What a confidence range is of, the specification does not say: it is taken to hold for every data field.
    """
    if audience.confidence_range is None:
        return audience
    sides = audience.values.abs().mul(pd.to_numeric(audience.confidence_range) / 100, axis="index")
    share = float(audience.total.confidence_range or 0) / 100
    present = {name: value for name, value in audience.total.values.items() if value is not None}
    return replace(
        audience,
        low=audience.values - sides,
        high=audience.values + sides,
        total=replace(
            audience.total,
            low={name: value - abs(value) * share for name, value in present.items()},
            high={name: value + abs(value) * share for name, value in present.items()},
        ),
    )
