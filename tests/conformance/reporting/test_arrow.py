"""The extension `arrow`: the same answer as an Arrow stream, so that many rows do not travel as JSON."""

import json

import httpx
import pyarrow as pa
import pytest

from conformance.reporting.caller import Answer, Caller

pytestmark = pytest.mark.service

ARROW = "application/vnd.apache.arrow.stream"
SAMPLED = {
    "start_date": "2026-03-01",
    "end_date": "2026-03-31",
    "audience_rows_limit": 10_000,
    "precision": 1,
    "split_by": ["site"],
    "filters": [{"name": "site", "match": "not equals", "value": ["site 0"]}],
}
QUESTIONS: list[Answer] = [
    {},
    {"split_by": ["geo.country"]},
    {"split_by": ["domain", "segments"], "include_mappings": 1},
    {"split_by": ["categories"], "include_mappings": 1, "precision": 1},
    {"split_by": ["granularity_day"], "limit": 3, "data_fields": ["ctr", "imps"]},
    {"split_by": ["granularity_hour"], "end_date": "-98d"},
    {"split_by": ["domain"], "start_date": "1999-01-01", "end_date": "1999-01-01"},
    {"split_by": ["domain"], "limit": 0},
]


def flat(answer: Answer, split_by: list[str]) -> list[dict[str, object]]:
    """The rows of a JSON answer with a field per column of the Arrow one."""
    return [
        {
            f"{kind}:{field}": text
            for kind in ("name", "description")
            for field, text in zip(split_by, row.get(kind, [None] * len(split_by)), strict=True)
            if kind in row
        }
        | {f"{kind}:{cell['name']}": cell[kind] for cell in row["data"] for kind in cell if kind != "name"}
        | {name: row[name] for name in row if name == "confidence_range"}
        for row in answer["rows"]
    ]


def opened(response: httpx.Response) -> tuple[list[dict[str, object]], Answer]:
    """The rows of an Arrow answer, and the rest of it."""
    assert response.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(response.content).read_all()
    rest = json.loads(table.schema.metadata[b"tranche"])
    assert rest.pop("rows") == table.num_rows
    return table.to_pylist(), rest


@pytest.mark.parametrize("fields", QUESTIONS, ids=range(len(QUESTIONS)))
def test_arrow_equals_json(hourly: Caller, fields: Answer) -> None:
    """An Arrow answer has exactly the rows of the JSON answer, and all else of it as metadata."""
    rows, rest = opened(hourly.post("audience", headers={"Accept": ARROW}, **fields))
    plain = hourly.audience(**fields)
    assert rows == flat(plain, fields.get("split_by", []))
    assert rest | {"rows": plain["rows"]} == plain


@pytest.mark.sampling
def test_a_sample(many: Caller) -> None:
    """Confidence ranges travel in Arrow as in JSON."""
    rows, rest = opened(many.post("audience", headers={"Accept": ARROW}, **SAMPLED))
    plain = many.audience(**SAMPLED)
    assert rows == flat(plain, ["site"])
    assert rest["total"]["confidence_range"] == plain["total"]["confidence_range"]


def test_failures_are_json(hourly: Caller) -> None:
    """A failed request answers JSON, also to one who accepts Arrow."""
    response = hourly.post("audience", headers={"Accept": ARROW}, split_by=["nothing"])
    assert response.json()["status"] == "bad_request"
