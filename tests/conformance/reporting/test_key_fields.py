"""Specification, "Key field descriptor" and "Key field names in the sample slicer"."""

from pathlib import Path

import pytest

from conformance.reporting.caller import Answer, Caller
from lib import demo
from lib.slicers.definition import Definition
from lib.slicers.definition.file import read_definition

TIMES = [f"granularity_{grain}" for grain in ("year", "quarter", "month", "week", "day", "hour")]
DESCRIPTOR = {"name", "description", "annotation", "type", "is_segmented", "mapping"}
SAMPLE = [
    *(f"bid_context_wrapper.demand.{name}" for name in
      ("advertiser_id", "campaign_id", "line_item_id", "creative_id", "tag_type")),
    "bid_context_wrapper.bid.ssp",
    *(f"bid_context_wrapper.supply.{name}" for name in
      ("publisher_id", "site_id", "visibility", "site_domain", "page_domain")),
    *(f"bid_context_wrapper.user.geo.{name}" for name in ("country", "country_region", "city", "dma", "zip")),
    *(f"bid_context_wrapper.user.agent.{name}" for name in
      ("browser.name", "browser.version", "os.name", "os.version", "device.type", "device.model",
       "device.maker")),
    "is_secure_request", "is_app", "languages_list", "conversion_id", "blocked_adv_categories",
    "content_categories", "anomaly_segment", "requested_sizes", "segments_list", "hour_str",
]  # fmt: skip
SEGMENTED = {
    "languages_list", "conversion_id", "blocked_adv_categories", "content_categories", "requested_sizes",
    "segments_list",
}  # fmt: skip
INT = {"bid_context_wrapper.user.geo.dma", "hour_str"}


def described(caller: Caller) -> dict[str, Answer]:
    """The key fields of info, by name."""
    return {field["name"]: field for field in caller.info()["key_fields"]}


def test_descriptor(hourly: Caller) -> None:
    """Each key field has the descriptor's fields; link is present only where there is one."""
    assert {name: field.keys() - DESCRIPTOR for name, field in described(hourly).items()} == {
        name: {"link"} if name == "domain" else set() for name in described(hourly)
    }
    assert all(field.keys() >= DESCRIPTOR for field in described(hourly).values())


def test_name(hourly: Caller) -> None:
    """name identifies the field in `filters` and in `split_by`."""
    for name in described(hourly):
        wanted = [{"name": name, "match": "not equals", "value": ["?"]}]
        assert hourly.audience(split_by=[name], filters=wanted)["rows"]


@pytest.mark.lists
def test_description(hourly: Caller) -> None:
    """description is a label for people; without one of its own a field is called by its name."""
    fields = described(hourly)
    assert [fields["geo.country"]["description"], fields["segments"]["description"]] == [
        "Country",
        "segments",
    ]


def test_annotation(hourly: Caller) -> None:
    """annotation is a string, and may be empty."""
    fields = described(hourly)
    assert [fields["geo.country"]["annotation"], fields["site_id"]["annotation"]] == ["By address", ""]


def test_type(hourly: Caller) -> None:
    """type is `text` or `int`."""
    types = {name: field["type"] for name, field in described(hourly).items()}
    assert types == {name: "int" if name == "site_id" else "text" for name in types}


def test_is_segmented(hourly: Caller) -> None:
    """is_segmented is 1 for fields with several values a record, else 0."""
    flags = {name: field["is_segmented"] for name, field in described(hourly).items()}
    assert flags == {name: int(name in ("categories", "segments")) for name in flags}


@pytest.mark.lists
def test_mapping(hourly: Caller) -> None:
    """mapping names the mapping that turns values into descriptions; null where there is none."""
    mappings = {name: field["mapping"] for name, field in described(hourly).items() if field["mapping"]}
    assert mappings == {"geo.country": "country", "categories": "category"}


def test_link(hourly: Caller) -> None:
    """link says what the values are, on the fields that have it."""
    assert described(hourly)["domain"]["link"] == "domain"


def test_time_key_fields(hourly: Caller, daily: Caller) -> None:
    """The six time granularities are key fields, and weekdays and hours of the day are (an extension); a
    slicer of days has no hours."""
    cycles = ["granularity_weekday", "granularity_hour_of_day"]
    assert [name for name in described(hourly) if name.startswith("granularity_")] == [*TIMES, *cycles]
    assert [name for name in described(daily) if name.startswith("granularity_")] == [*TIMES[:-1], cycles[0]]


@pytest.fixture(scope="module")
def sample() -> Definition:
    """The definition of the demo's slicer `delivery`, which follows the sample slicer."""
    return read_definition(Path(demo.__file__).parent / "delivery.yaml")


@pytest.mark.parametrize("name", SAMPLE)
def test_sample_slicer(sample: Definition, name: str) -> None:
    """The demo has each key field of the sample slicer, of its type, and segmented where it is."""
    fields = {field.name: field.descriptor() for field in sample.key_fields}
    assert fields[name].type == ("int" if name in INT else "text")
    assert fields[name].is_segmented == int(name in SEGMENTED)
    has_link = name.endswith(("site_domain", "page_domain"))
    assert fields[name].link == ("domain" if has_link else None)


@pytest.mark.parametrize("name", TIMES)
def test_time_key_fields_of_the_sample_slicer(sample: Definition, name: str) -> None:
    """The demo has each time granularity of the sample slicer."""
    assert name in [field.name for field in sample.slicer(None, None).key_fields]
