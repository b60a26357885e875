"""Run by schemathesis: gives the requests that it makes the credentials of a real person."""

import os
from typing import Any

import schemathesis

MOST_CHANGES = 20
REAL = {
    "token": os.environ.get("TRANCHE_TEST_TOKEN", ""),
    "project_name": "demo",
    "slicer_name": "delivery",
    "username": "manager",
    "password": os.environ.get("TRANCHE_TEST_PASSWORD", ""),
}


BY_DATA = (
    "Unknown", "There is no", "exists already", "There is already", "depends on it", "given twice", "after",
    "deal_sync", "its own timezone",
)  # fmt: skip


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Lists of changes have 20 at most: drawing 500 that differ takes longer than all else together."""
    for path in raw_schema["paths"].values():
        body = path.get("put", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        if "uniqueItems" in body.get("schema", {}):
            body["schema"]["maxItems"] = MOST_CHANGES


@schemathesis.check
def refused_for_the_data_alone(ctx: Any, response: Any, case: Any) -> None:
    """A request that the schema allows is refused only for what a schema can't know: what there is."""
    if case.meta is None or case.meta.generation.mode.is_negative or response.status_code not in (400, 406):
        return
    assert any(reason in response.text for reason in BY_DATA), response.text


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """A list of changes answers 200 with what became of each, also of those that break the schema, and a dry
    run with what is wrong."""
    is_list_of_changes = case.method.upper() == "PUT" and "{id}" not in case.operation.path
    is_dry_run = str((case.query or {}).get("dry_run", "")).lower() == "true"
    is_answered = is_list_of_changes or is_dry_run
    return not (is_answered and case.meta is not None and case.meta.generation.mode.is_negative)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Without these, every request for a report or a token would be refused before it is looked at."""
    if isinstance(case.body, dict):
        case.body |= {name: REAL[name] for name, value in case.body.items() if name in REAL and value}
