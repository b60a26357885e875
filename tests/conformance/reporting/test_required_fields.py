"""Specification, "Always required request fields (every request to every endpoint)"."""

import pytest

from conformance.reporting.caller import ABSENT, VERBS, Caller

pytestmark = pytest.mark.service


@pytest.mark.parametrize("verb", VERBS)
def test_three_fields_are_enough(hourly: Caller, verb: str) -> None:
    """With slicer_name, project_name and token (and what the endpoint itself needs) a request succeeds."""
    assert hourly.post(verb).status_code == 200


@pytest.mark.parametrize("wrong", [ABSENT, None, 5, ["hourly"]])
@pytest.mark.parametrize("field", ["slicer_name", "project_name"])
@pytest.mark.parametrize("verb", VERBS)
def test_slicer_and_project_are_required(hourly: Caller, verb: str, field: str, wrong: object) -> None:
    """slicer_name and project_name are required, as strings, by every endpoint."""
    assert hourly.reason(verb, **{field: wrong}) == f"{field} is required, as text"


@pytest.mark.parametrize("wrong", [ABSENT, None, 5, ["token"], ""])
@pytest.mark.parametrize("verb", VERBS)
def test_token_is_required(hourly: Caller, verb: str, wrong: object) -> None:
    """A token is required, as a string, by every endpoint; without one there is no access."""
    hourly.reason(verb, "access_error", token=wrong)
