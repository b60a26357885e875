"""Specification, "Data field descriptor" and "Data field names in the sample slicer"."""

from pathlib import Path

import pytest

from conformance.reporting.caller import Answer, Caller
from conformance.reporting.hourly import USUAL
from lib import demo
from lib.slicers.definition.file import read_definition

DESCRIPTOR = {
    "name", "description", "annotation", "display_type", "display_precision", "display_pattern", "formula",
    "formula_description", "is_optional", "access", "show_percents",
}  # fmt: skip
FLOAT = {"revenue", "adjustment", "price", "ctr", "value", "reach"}
FORMULAS = {
    "ctr": "100 * clicks / imps",
    "value": "(revenue + adjustment) / records",
    "reach": "imps / unique_users",
}
SAMPLE = [
    "bids", "nobids", "imps", "clicks", "bid_amount", "win_bid_amount", "anomaly_clicks_filtered", "pv_convs",
    "pc_convs", "payout.adv_payout", "payout.actual_pub", "pv_conversions", "pc_conversions",
    "attributed_pv_convs", "attributed_pc_convs", "vast_imp", "vast_start", "vast_25", "vast_50", "vast_75",
    "vast_complete", "vast_error", "vast_progress_30", "viewable_imps", "unique_users",
]  # fmt: skip


def described(caller: Caller) -> dict[str, Answer]:
    """The data fields of info, by name."""
    return {field["name"]: field for field in caller.info()["data_fields"]}


def column(caller: Caller, field: str) -> dict[str, object]:
    """One field of every descriptor, by the data field's name."""
    return {name: field_info[field] for name, field_info in described(caller).items()}


def test_descriptor(hourly: Caller) -> None:
    """Each data field has the descriptor's fields, and of ours its polarity; a role where it has one."""
    assert all(field.keys() - {"role"} == DESCRIPTOR | {"polarity"} for field in described(hourly).values())


def test_name(hourly: Caller) -> None:
    """name identifies a data field: those of the definition, then one for each audience source."""
    assert set(described(hourly)) == {*USUAL, "bonus"}
    assert list(described(hourly))[-2:] == ["unique_users", "unique_devices"]


def test_description(hourly: Caller) -> None:
    """description is a label for people; without one of its own a field is called by its name."""
    by_name = column(hourly, "description")
    assert [by_name["imps"], by_name["revenue"], by_name["unique_users"]] == [
        "Impressions",
        "revenue",
        "Unique users",
    ]


def test_annotation(hourly: Caller) -> None:
    """annotation is a string, and may be empty."""
    by_name = column(hourly, "annotation")
    assert [by_name["imps"], by_name["clicks"], by_name["unique_users"]] == ["As served", "", "By cookie"]


def test_display_type(hourly: Caller) -> None:
    """display_type is `int` or `float`."""
    by_name = column(hourly, "display_type")
    assert by_name == {name: "float" if name in FLOAT else "int" for name in by_name}


def test_display_precision(hourly: Caller) -> None:
    """display_precision is 0 for int, and 2 for float where the definition says nothing else."""
    by_name = column(hourly, "display_precision")
    told = {"revenue": 3, "value": 4}
    assert by_name == {name: told.get(name, 2 if name in FLOAT else 0) for name in by_name}


def test_display_pattern(hourly: Caller) -> None:
    """display_pattern is a string, or null."""
    by_name = column(hourly, "display_pattern")
    assert by_name == {name: "$ %s" if name == "adjustment" else None for name in by_name}


def test_formula(hourly: Caller) -> None:
    """formula is the text of the formula, or null."""
    by_name = column(hourly, "formula")
    assert by_name == {name: FORMULAS.get(name) for name in by_name}


def test_formula_description(hourly: Caller) -> None:
    """formula_description is a string, or null."""
    by_name = column(hourly, "formula_description")
    assert by_name == {name: "Clicks per hundred impressions" if name == "ctr" else None for name in by_name}


def test_is_optional(hourly: Caller) -> None:
    """is_optional is 0 or 1."""
    by_name = column(hourly, "is_optional")
    assert by_name == {name: int(name == "bonus") for name in by_name}


def test_access(hourly: Caller) -> None:
    """access is null, or what the definition says."""
    by_name = column(hourly, "access")
    told = {"revenue": "private", "bonus": "shared"}
    assert by_name == {name: told.get(name) for name in by_name}


def test_show_percents(hourly: Caller) -> None:
    """show_percents is a number: 2 and 1 for what adds up, 0 for what does not."""
    by_name = column(hourly, "show_percents")
    once = {"clicks", "revenue", "adjustment", "records", "priced", "bonus"}
    assert by_name == {name: 2 if name == "imps" else int(name in once) for name in by_name}


@pytest.mark.parametrize("name", SAMPLE)
def test_sample_slicer(name: str) -> None:
    """The demo has each data field of the sample slicer."""
    definition = read_definition(Path(demo.__file__).parent / "delivery.yaml")
    assert name in [field.name for field in definition.slicer(None, None).data_fields]
