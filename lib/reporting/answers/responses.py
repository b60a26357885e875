"""Parses responses of a service, JSON or YAML by their Content-Type: `status` in the body decides.

Large JSON answers are parsed by columns: a service may send half a million rows where twenty were requested.
Arrow's reader takes a fifth of the time and memory, and holds up no other thread meanwhile; it reads answers
all of whose rows are alike. Any other is left to as_json, which reads the same.
"""

import re
from collections.abc import Sequence
from math import ceil
from typing import Any, ClassVar

import httpx
import numpy as np
import numpy.typing as npt
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pyarrow import json as arrow_json
from pydantic import ValidationError

from lib.reporting.answers import Audience, as_arrow, as_json
from lib.reporting.answers.as_json import decode_total
from lib.reporting.answers.records import RecordTable
from lib.reporting.answers.records import decode as decode_records
from lib.slicers.models import Slicer
from lib.wire.breaker import DEAD, retry_after
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    MalformedResponse,
    Refused,
    ResponseTimeout,
    Throttled,
    TrancheError,
    Unreachable,
    Unreadable,
)
from lib.wire.shallow_yaml import FastLoader

LEAST_BYTES = 2 * 1024 * 1024
HEAD = 64 * 1024
NAME_IN_LIST = re.compile(rb'"name"\s*:\s*\[')
TEXT = pa.string()
UNAUTHORIZED, TOO_MANY, GATEWAY_TIMEOUT = 401, 429, 504
UNKNOWN_WAIT_SECONDS = 60
ERRORS: dict[str, type[TrancheError]] = {
    error.status: error for error in (BadRequest, AccessError, DeadlineExceeded, InternalError)
}


def decode(body: bytes, split_by: Sequence[str], least_bytes: int = LEAST_BYTES) -> Audience | None:
    """The Audience of a successful answer to that split; None if it has to be parsed row by row."""
    if not split_by or len(body) < least_bytes:
        return None
    try:
        # A table of one row, with explicit text types, as Arrow could infer times.
        has_lists = len(split_by) > 1 or NAME_IN_LIST.search(body, 0, HEAD) is not None
        cell = pa.struct([("name", TEXT)])
        row = pa.struct([("name", pa.list_(TEXT) if has_lists else TEXT), ("data", pa.list_(cell))])
        total = pa.struct([("data", pa.list_(cell)), ("dates", pa.list_(TEXT))])
        schema = pa.schema([("status", TEXT), ("total", total), ("rows", pa.list_(row))])
        table = arrow_json.read_json(
            pa.BufferReader(body),
            read_options=arrow_json.ReadOptions(block_size=len(body) + 1),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema),
        )
        if table["status"][0].as_py() != "success" or "precision" in table.column_names:
            return None
        return _audience(table, list(split_by))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, KeyError, _Unlike):
        return None


class _Unlike(Exception):
    """The rows have different fields."""


def _audience(table: pa.Table, split: list[str]) -> Audience:
    rows = table["rows"].chunk(0).flatten()
    cells, count = rows.field("data").flatten(), len(rows)
    total = decode_total(table["total"][0].as_py(), count)
    # The data fields of each row, which all have the same in the same order.
    if not count or len(cells) % count:
        raise _Unlike
    if not {field.name for field in cells.type}.isdisjoint(as_json.CURRENCY):
        raise _Unlike
    names = cells.field("name").dictionary_encode()
    places = names.indices.to_numpy().reshape(count, -1)
    fields: list[str] = names.dictionary.to_pylist()
    if not (places == np.arange(len(fields))).all() or places.shape[1] != len(fields):
        raise _Unlike
    values = _numbers(cells, "value", fields)
    percents = _numbers(cells, "percent", fields)
    texts = rows.field("name")
    if pa.types.is_list(texts.type):
        has_missing, texts = texts.null_count, texts.flatten()
        if len(texts) != count * len(split) or has_missing:
            raise _Unlike
    keys = {
        name: texts.take(pa.array(np.arange(at, len(texts), len(split)))).to_pandas().astype("str").fillna("")
        for at, name in enumerate(split)
    }
    confidence = None
    if "confidence_range" in {field.name for field in rows.type}:
        ranges = rows.field("confidence_range")
        _floats(ranges)  # each is a number
        if ranges.null_count < count:
            confidence = pd.Series(ranges.cast(TEXT).to_pandas(), dtype="str")
    return Audience(
        keys=pd.DataFrame(keys),
        values=values,
        percents=percents.loc[:, percents.notna().any()],
        total=total,
        confidence_range=confidence,
    )


def _numbers(cells: pa.StructArray, key: str, fields: list[str]) -> pd.DataFrame:
    """A column per field; numbers written as text are parsed, missing ones are NaN."""
    rows = len(cells) // len(fields)
    if key in {field.name for field in cells.type} and not pa.types.is_null(cells.field(key).type):
        numbers = _floats(cells.field(key)).reshape(rows, len(fields))
    else:
        numbers = np.full((rows, len(fields)), np.nan)
    return pd.DataFrame(numbers, columns=pd.Index(fields, dtype="str"))


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    if pa.types.is_string(values.type):
        values = pc.if_else(pc.equal(values, ""), pa.scalar(None, TEXT), values)
    numbers: npt.NDArray[np.float64] = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def slicer(answer: httpx.Response) -> Slicer:
    """The slicer of an info answer. Raises its error, or Unreadable."""
    try:
        return Slicer.model_validate(fields(answer))
    except ValidationError as error:
        raise Unreadable("The service's description of the slicer does not follow the API") from error


def slicers(answer: httpx.Response) -> list[tuple[str, str]]:
    """The slicers of such an answer (*extension*). Raises its error, or Unreadable."""
    try:
        return [(pair["project_name"], pair["slicer_name"]) for pair in fields(answer)["slicers"]]
    except (KeyError, TypeError) as error:
        raise Unreadable("The service's answer does not follow the API") from error


def audience(answer: httpx.Response, split_by: Sequence[str]) -> Audience:
    """The Audience of an audience answer to that split. Raises its error, or Unreadable.

    An Arrow stream that is torn is an OSError of its reader.
    """
    try:
        if as_arrow.MEDIA_TYPE in answer.headers.get("content-type", ""):
            return as_arrow.decode(answer.content)
        audience = decode(answer.content, split_by)
        return as_json.decode(fields(answer), split_by) if audience is None else audience
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise Unreadable("The service's answer does not follow the API") from error


def records(answer: httpx.Response) -> RecordTable:
    """The records of such an answer (*extension*). Raises its error, or Unreadable."""
    try:
        return decode_records(fields(answer))
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable("The service's answer does not follow the API") from error


def fields(answer: httpx.Response) -> dict[str, Any]:
    """The fields of a successful answer. Raises its error, or Unreadable."""
    try:
        answer_fields = parse(answer.content, answer.headers.get("content-type", ""))
    except ValueError:
        raise _foreign(answer) from None
    status = answer_fields["status"]
    if status == "success":
        return answer_fields
    reason = answer_fields.get("reason") or f"The service answered {status}"
    if answer.status_code == TOO_MANY:
        raise Throttled(_wait(answer), str(reason))
    raise ERRORS[status](str(reason)) if status in ERRORS else Unreadable(str(reason))


def error_of(error: TrancheError) -> TrancheError:
    """The error that `fields` raises for the answer of our own service to this one."""
    return error if isinstance(error, Throttled) else ERRORS[error.status](error.reason)


def _foreign(answer: httpx.Response) -> TrancheError:
    """The error for a response that is not of this API, by its HTTP code: usually that of a proxy."""
    code = answer.status_code
    if code == UNAUTHORIZED:
        return Refused("The service rejected our token")
    if code == TOO_MANY:
        return Throttled(_wait(answer))
    if code == GATEWAY_TIMEOUT:
        return ResponseTimeout("A gateway timed out waiting for the service")
    if code in DEAD:
        return Unreachable(f"A gateway answered {code} instead of the service")
    return MalformedResponse(f"The service answered {code}, with something that this API does not define")


def _wait(answer: httpx.Response) -> int:
    """Seconds before the next attempt."""
    return ceil(retry_after(answer)) or UNKNOWN_WAIT_SECONDS


class _Texts(FastLoader):
    """A YAML loader that reads plain scalars as text, except null: `NO` and `2026-11-14` stay text."""

    yaml_implicit_resolvers: ClassVar = {  # type: ignore[misc]
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in FastLoader.yaml_implicit_resolvers.items()
    }


def parse(content: bytes, media_type: str) -> dict[str, Any]:
    """The object in the body; ValueError if there is none, or it has no `status`."""
    try:
        value = _Texts(content).get_single_data() if is_yaml(media_type) else orjson.loads(content)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    if not isinstance(value, dict) or not isinstance(value.get("status"), str):
        raise ValueError("no object with a status")
    return value


def is_yaml(media_type: str) -> bool:
    """Whether a Content-Type is YAML (RFC 9512, and older names)."""
    return media_type.partition(";")[0].strip().lower().endswith("yaml")


def is_message(media_type: str) -> bool:
    """Whether a Content-Type is JSON or YAML, and not a file."""
    return is_yaml(media_type) or media_type.partition(";")[0].strip().lower().endswith("json")
