"""POST /API/v2/info, audience and export of a service that knows the specification and nothing more.

What real services of this family do to their clients, it does too: YAML unless `Accept` has "json" in it,
numbers as texts, one text for the name of a row, null for what is not there, fields that nobody knows, rows
in no order, and errors under whatever HTTP code.
"""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
import yaml
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standin import files
from standin.figures import Found, Refused, answer
from standin.known import CachedSlicer
from standin.matching import TESTS
from standin.state import State, WriteRequest

ALWAYS = {"slicer_name", "project_name", "token"}
ASKED = ALWAYS | {"filters", "split_by", "start_date", "end_date", "timezone"}
FIELDS = {
    "info": ALWAYS,
    "audience": ASKED | {"audience_rows_limit"},
    "export": ASKED | {"export_format", "include_mappings", "include_total", "data_filters"},
}
OF_A_FILTER = {"name", "value", "match", "case_insensitive", "search_mappings"}
MOST_ROWS, USUAL_LIMIT, LEAST_LIMIT = 1_000_000, 1_000_000, 10_000
Object = dict[str, Any]


def reporting(state: State) -> Starlette:
    """The three endpoints."""

    async def endpoint(request: Request) -> Response:
        raw = await request.body()
        return await run_in_threadpool(_answered, state, request, raw)

    return Starlette(routes=[Route("/API/v2/{verb}", endpoint, methods=["POST"])])


def _answered(state: State, request: Request, raw: bytes) -> Response:
    verb, accept = request.path_params["verb"], request.headers.get("accept", "")
    as_json = "json" in accept and not state.is_always_yaml
    try:
        asked = _object(raw)
        state.asked.append(WriteRequest(request.url.path, dict(request.headers), asked))
        known = _admitted(state, verb, asked)
        if verb == "export":
            return Response(files.file(known, asked), media_type="application/octet-stream")
        return _response(_told(state, known) if verb == "info" else _figures(state, known, asked), as_json)
    except Refused as refused:
        return _response({"status": refused.status, "reason": refused.reason}, as_json, state.error_code)


def _response(body: Object, as_json: bool, code: int = 200) -> Response:
    if as_json:
        return Response(json.dumps(body), code, media_type="application/json")
    text = yaml.dump(body, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)
    return Response(text, code, media_type="application/x-yaml")


def _object(raw: bytes) -> Object:
    try:
        document = json.loads(raw)
    except ValueError:
        raise Refused("bad_request", "Malformed request") from None
    if not isinstance(document, dict):
        raise Refused("bad_request", "Malformed request")
    return document


def _admitted(state: State, verb: str, asked: Object) -> CachedSlicer:
    """The slicer that may be asked so. A field that the specification does not have is refused."""
    where = (asked.get("project_name"), asked.get("slicer_name"))
    if not state.accepts(asked.get("token"), "reporting") or where not in state.slicers:
        raise Refused("access_error", "Access denied")
    unknown = sorted(asked.keys() - FIELDS[verb])
    unknown += sorted(
        {name for condition in asked.get("filters") or () for name in condition.keys() - OF_A_FILTER}
    )
    if unknown:
        raise Refused("bad_request", f"Unknown parameter: {', '.join(unknown)}")
    if any(
        condition.get("match") not in {*TESTS, *(f"not {test}" for test in TESTS)}
        for condition in asked.get("filters") or ()
    ):
        raise Refused("bad_request", "Bad match")
    return state.slicers[where]  # type: ignore[index]


def _told(state: State, known: CachedSlicer) -> Object:
    return known.info() | state.told


def _figures(state: State, known: CachedSlicer, asked: Object) -> Object:
    limit = asked.get("audience_rows_limit", USUAL_LIMIT)
    if limit < LEAST_LIMIT:
        raise Refused("bad_request", f"audience_rows_limit is at least {LEAST_LIMIT}")
    figures = answer(known, asked, limit, state.weight)
    if len(asked.get("split_by") or ()) > 1 and len(figures.table) > MOST_ROWS:
        raise Refused("bad_request", "Too many rows")
    shared = [name for name, told in known.data_field.items() if not told.get("formula")]
    shared = [name for name in shared if name not in state.without_percent]
    shuffled = figures.table.sample(frac=1, random_state=len(figures.table))
    ranges = _ranges(figures.counts).reindex(shuffled.index) if figures.share < 1 else None
    return {
        "status": "success",
        "total": _total(figures),
        "rows": list(_rows(shuffled, figures.total, shared, ranges, bool(asked.get("split_by")))),
        "elapsed": "0.31",
    }


def _total(figures: Found) -> Object:
    body: Object = {
        "data": [{"name": name, "value": text(value)} for name, value in figures.total.items()],
        "records_found": str(len(figures.table)),
        "dates": figures.dates,
    }
    return body | ({"confidence_range": confidence(figures.total_count)} if figures.share < 1 else {})


def _rows(
    table: pd.DataFrame, total: pd.Series, shared: list[str], ranges: pd.Series | None, is_split: bool
) -> Iterator[Object]:
    """Row by row. A split by one key field has one text for its name, no split has none."""
    columns = {name: table[name].tolist() for name in table}
    of_total = {name: float(total[name]) for name in shared if total[name]}
    confidences = ranges.tolist() if ranges is not None else None
    for place, key in enumerate(table.index.tolist()):
        cells = []
        for name, values in columns.items():
            cell = {"name": name, "value": text(values[place])}
            if name in of_total:
                cell["percent"] = text(100 * values[place] / of_total[name])
            cells.append(cell)
        name = _name(key) if is_split else None
        row = {"data": cells, "name": name, "style": None}
        yield row if confidences is None else row | {"confidence_range": confidences[place]}


def _name(key: Any) -> Any:
    """The values of several key fields in a list, that of one alone; null for a missing one."""
    values = [value or None for value in (key if isinstance(key, tuple) else (key,))]
    return values if len(values) > 1 else values[0]


def text(value: float) -> str | None:
    """A number as a text: whole, or with two decimals or more; null where there is none."""
    if pd.isna(value):
        return None
    if float(value).is_integer():
        return str(int(value))
    written = repr(float(value))
    return f"{value:.2f}" if "e" not in written and len(written.partition(".")[2]) < 2 else written


def _ranges(counts: pd.Series) -> pd.Series:
    return counts.map(confidence)


def confidence(count: int) -> float:
    """How far off a figure of so many records may be, in percent: a bare number."""
    return round(196 / max(1, count) ** 0.5, 2)
