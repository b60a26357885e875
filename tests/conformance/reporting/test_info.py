"""Specification, "Info response fields"."""

from conformance.reporting.caller import Caller
from conformance.reporting.hourly import FIRST, LAST, ZONE
from conformance.reporting.others import DAILY_FIRST, DAILY_LAST, DAILY_ZONE
from lib.slicers.models import EXTENSIONS, DataField, KeyField, Slicer

FIELDS = {
    "status", "timezone", "supports_timezone", "first_date", "last_date", "annotation", "audience_sources",
    "key_fields", "data_fields",
}  # fmt: skip
OF_A_KEY_FIELD = {"name", "description", "annotation", "type", "is_segmented", "mapping", "link"}
OF_A_DATA_FIELD = {
    "name", "description", "annotation", "display_type", "display_precision", "display_pattern", "formula",
    "formula_description", "is_optional", "access", "show_percents",
}  # fmt: skip


def test_each_field_of_ours_is_named() -> None:
    """What info may have beyond the tables of the specification is named in `extensions`."""
    tables = {Slicer: FIELDS, KeyField: OF_A_KEY_FIELD, DataField: OF_A_DATA_FIELD}
    sent = {name for model in tables for name, field in model.model_fields.items() if not field.exclude}
    own = sent - set.union(*tables.values()) - {"extensions"}
    assert own == {"engine", "as_of", "role", "polarity", "currency", "restrictions"}
    assert own <= {*EXTENSIONS}


def test_fields(hourly: Caller) -> None:
    """Info has the fields of the specification, and ours beside them."""
    assert hourly.info().keys() == FIELDS | {"extensions", "engine", "as_of"}


def test_status(hourly: Caller) -> None:
    """status is `success`."""
    assert hourly.info()["status"] == "success"


def test_timezone(hourly: Caller, daily: Caller) -> None:
    """timezone is the slicer's own, an integer."""
    assert [hourly.info()["timezone"], daily.info()["timezone"]] == [ZONE, DAILY_ZONE]


def test_supports_timezone(hourly: Caller, daily: Caller) -> None:
    """supports_timezone is 1 where rows know their hour, else 0."""
    assert [hourly.info()["supports_timezone"], daily.info()["supports_timezone"]] == [1, 0]


def test_first_date(hourly: Caller, daily: Caller) -> None:
    """first_date is the first day with data, in the slicer's zone."""
    assert [hourly.info()["first_date"], daily.info()["first_date"]] == [str(FIRST), str(DAILY_FIRST)]


def test_last_date(hourly: Caller, daily: Caller) -> None:
    """last_date is the last day with data, in the slicer's zone."""
    assert [hourly.info()["last_date"], daily.info()["last_date"]] == [str(LAST), str(DAILY_LAST)]


def test_annotation(hourly: Caller, daily: Caller) -> None:
    """annotation is a string, or null where the slicer has none."""
    assert [hourly.info()["annotation"], daily.info()["annotation"]] == ["Hours of a small shop", None]


def test_audience_sources(hourly: Caller, daily: Caller) -> None:
    """audience_sources lists name, description and annotation of each source of unique users."""
    assert hourly.info()["audience_sources"] == [
        {"name": "users", "description": "Unique users", "annotation": "By cookie"},
        {"name": "devices", "description": "devices", "annotation": ""},
    ]
    assert daily.info()["audience_sources"] == []
