"""Run by schemathesis: gives the requests that it makes the credentials of a real person."""

import os
from typing import Any

import schemathesis

REAL = {
    "token": os.environ.get("TRANCHE_TEST_TOKEN", ""),
    "project_name": "demo",
    "slicer_name": "delivery",
    "username": "manager",
    "password": os.environ.get("TRANCHE_TEST_PASSWORD", ""),
}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Without these, every request for a report or a token would be refused before it is looked at."""
    if isinstance(case.body, dict):
        case.body |= {name: REAL[name] for name, value in case.body.items() if name in REAL and value}
