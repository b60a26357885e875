# ruff: noqa: E501
"""Valid definitions, and errors that name the line."""

from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import ValidationError

from lib.slicers.definition import Definition
from lib.slicers.definition.file import definition_yaml, parse_definition, read_definition
from lib.slicers.models import DataField
from lib.wire.errors import BadDefinition

WHOLE = """
annotation: Auctions of the supply platform
timezone: 0                      # of the slicer, whole hours
time: {column: date, granularity: day, format: "%Y-%m-%d %H:%M:%S", timezone: UTC}
key_fields:
  - {name: site_id, description: Site, type: int}
  - {name: bid_context_wrapper.user.geo.country, column: geo, description: Country, mapping: country}
  - {name: content_categories, segmented: "|"}
data_fields:
  - {name: imps, column: total_impressions, description: Impressions}
  - {name: revenue, column: total_revenue, display_type: float, display_precision: 2}
  - {name: cpc, column: value, aggregate: mean}
  - {name: ecpm, description: eCPM, formula: "1000 * revenue / imps", display_precision: 2}
audience_sources:
  - {name: users, description: Unique users, column: user_id}
"""


def test_the_documented_definition_is_read() -> None:
    """The example that the documentation shows is a definition, and info describes its fields."""
    info = parse_definition(WHOLE).slicer("2026-01-01", "2026-01-31")
    assert [field.name for field in info.data_fields] == ["imps", "revenue", "cpc", "ecpm", "unique_users"]
    assert info.key_field("content_categories").is_segmented == 1
    assert info.data_field("ecpm").display_type == "float"
    assert "granularity_hour" not in [field.name for field in info.key_fields]
    assert [field.name for field in info.key_fields[-2:]] == ["granularity_day", "granularity_weekday"]


def test_rows_have_a_column_per_field() -> None:
    """The schema has the time, key fields, aggregated columns and audience sources; no formulas."""
    schema = parse_definition(WHOLE).schema()
    assert schema.names == [
        "time", "site_id", "bid_context_wrapper.user.geo.country", "content_categories",
        "imps", "revenue", "cpc", "users",
    ]  # fmt: skip
    assert schema.field("content_categories").type == pa.list_(pa.string())


def test_every_field_of_the_descriptors_has_its_place() -> None:
    """What a definition says of a field comes out in info, name for name."""
    text = """
    time: {column: t}
    key_fields: [{name: site, annotation: a, link: domain}]
    data_fields:
      - {name: d, annotation: b, display_type: float, display_precision: 3, display_pattern: "#", formula_description: f,
         is_optional: true, access: shared, show_percents: 2, polarity: down, currency: EUR}
    """
    info = parse_definition(text).slicer(None, None)
    assert (info.key_fields[0].annotation, info.key_fields[0].link) == ("a", "domain")
    field = info.data_fields[0].model_dump()
    assert field == {
        "name": "d", "description": "d", "annotation": "b", "display_type": "float", "display_precision": 3,
        "display_pattern": "#", "formula": None, "formula_description": "f", "is_optional": 1,
        "access": "shared", "show_percents": 2, "polarity": "down", "role": None,
        "currency": "EUR",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "polarity"),
    [
        ("name: imps", "up"),
        ("name: errors", "down"),
        ("name: payout.actual_pub", "none"),
        ("name: revenue_eur, display_pattern: '€#'", "none"),
        ("name: imps, aggregate: mean", "none"),
        ("name: rate, formula: a / a", "none"),
        ("name: rate, formula: a / a, polarity: up", "up"),
    ],
)
def test_the_usual_polarity(told: str, polarity: str) -> None:
    """More is better for counts and sums, but for errors; of money, means and formulas nobody can tell."""
    text = f"time: {{column: t}}\ndata_fields: [{{name: a}}, {{{told}}}]"
    assert parse_definition(text).slicer(None, None).data_fields[1].polarity == polarity


def test_written_and_read_it_is_the_same() -> None:
    """A definition survives being written as YAML, with texts that YAML could take for something else."""
    whole = parse_definition(WHOLE)
    assert parse_definition(definition_yaml(whole)) == whole
    odd = whole.model_copy(update={"annotation": "no: [1] # 'x'\n007"})
    assert parse_definition(definition_yaml(odd)) == odd
    emoji = whole.model_copy(update={"annotation": "Größe 🎯 €"})
    assert "annotation: Größe 🎯 €\n" in definition_yaml(emoji)
    assert parse_definition(definition_yaml(emoji)) == emoji
    assert len(definition_yaml(whole).splitlines()) == len(WHOLE.strip().splitlines())


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("type: int}", "type: integer}", "line 6, key_fields[0].type: should be 'text' or 'int', not 'integer'"),
        ("segmented:", "segmentd:", "line 8, key_fields[2].segmentd: Unknown field 'segmentd'; did you mean 'segmented'?"),
        ("timezone: 0", "timezone: 5.5", "line 3, timezone: should be a whole number, not 5.5"),
        ("timezone: 0", "timezone: 13", "line 3, timezone: should be at most 12, not 13"),
        ("timezone: UTC", "timezone: Berlin", "line 4, time.timezone: 'Berlin' is not a time zone; "
        "write Europe/Berlin, UTC or +02:00"),
        ('"%Y-%m-%d %H:%M:%S"', '"%H:%M"', "line 4, time.format: '%H:%M' does not hold a date"),
        ('"%Y-%m-%d %H:%M:%S"', '"%Q"', "line 4, time.format: %Q means nothing"),
        ("1000 * revenue / imps", "1000 * revenue / ims", "line 13, data_fields[3].formula: Unknown data field 'ims'; did you mean 'imps'?"),
        ("1000 * revenue / imps", "1000 * / imps", "line 13, data_fields[3].formula: Formula '1000 * / imps', column 8"),
        ("1000 * revenue / imps", "2 * ecpm", "line 9, data_fields: Formulas refer to each other in a circle: 'ecpm' → 'ecpm'"),
        ('formula: "1000', 'column: x, formula: "1000', "line 13, data_fields[3]: a formula has neither column nor aggregate"),
        ("name: site_id", "name: 17", "line 6, key_fields[0].name: should be text; put 17 in quotes"),
        ("name: site_id, ", "", "line 6, key_fields[0].name: is missing"),
        ("name: imps", "name: site_id", "line 10, data_fields[0].name: the name 'site_id' is taken, by key_fields[0]"),
        ("name: imps", "name: granularity_day", "line 10, data_fields[0].name: the name 'granularity_day' is taken, by the time key fields"),
        ("name: imps", "name: unique_users", "line 15, audience_sources[0].name: the name 'unique_users' is taken, by data_fields[0]"),
        ('segmented: "|"', 'segmented: ""', "line 8, key_fields[2].segmented: the separator is empty"),
        ('segmented: "|"', "segmented: [a]", "line 8, key_fields[2].segmented: should be the separator in quotes, or true"),
        ("aggregate: mean", "aggregate: avg", "line 12, data_fields[2].aggregate: should be 'sum', 'mean', 'min', 'max', 'count' or 'distinct', not 'avg'"),
        ('format: "%Y-%m-%d %H:%M:%S"', "format: %Y-%m-%d", "line 4: found character '%' that cannot start any token; put values that begin with % or @ in quotes"),
        ("timezone: 0 ", "annotation: x", "line 3: 'annotation' is given twice"),
        ("time: {column: date,", "time: *x\nother: {column: date,", "line 4: write the value again instead of an *alias"),
        ("timezone: 0 ", "timezone: !!python/name:os.system 0", "line 3: a value can't have the tag"),
        ("key_fields:\n", "key_fields: x\nrest:\n", "line 5, key_fields: should be a list, each item with a dash before it"),
    ],
)  # fmt: skip
def test_errors_name_line_and_field(before: str, after: str, problem: str) -> None:
    """Each kind of mistake is told with file, line, field and what would be right."""
    assert before in WHOLE
    with pytest.raises(BadDefinition) as caught:
        parse_definition(WHOLE.replace(before, after, 1), "s.yaml")
    assert f"s.yaml, {problem}" in caught.value.reason


def test_all_problems_are_reported_at_once() -> None:
    """Two mistakes are two problems, each on a line of its own."""
    with pytest.raises(BadDefinition) as caught:
        parse_definition("time: {column: t}\ntimezone: x\nkey_fields: [{name: 1}]\n")
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "definition, line 2, timezone",
        "definition, line 3, key_fields[0].name",
    ]


@pytest.mark.parametrize("text", ["", "- a", "x", "time: [", "\tx: y", "&a [*a]", "time: \x00"])
def test_what_is_no_definition_is_reported(text: str) -> None:
    """Text of another kind is refused in words, never with a traceback."""
    with pytest.raises(BadDefinition, match="definition"):
        parse_definition(text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "[{a: "])
@pytest.mark.parametrize("levels", [30, 20_000, 300_000])
def test_what_is_nested_too_deeply_is_reported(opening: str, levels: int) -> None:
    """YAML of any depth is refused in a sentence with the line, before it takes the stack."""
    with pytest.raises(BadDefinition, match=r"definition, line 2: nested too deeply"):
        parse_definition(f"key_fields:\n {opening * levels}")


def test_values_are_what_they_look_like() -> None:
    """`no`, dates and offsets stay text: nobody means a boolean, a date or seconds by them."""
    text = "time: {column: 2026-01-01, timezone: +10:00}\nkey_fields: [{name: no, mapping: on}]"
    definition = parse_definition(text)
    assert (definition.time.column, definition.time.timezone) == ("2026-01-01", "+10:00")
    assert (definition.key_fields[0].name, definition.mappings) == ("no", {"on"})


def test_a_file_is_read_and_a_missing_one_reported(tmp_path: Path) -> None:
    """A definition comes from a UTF-8 file, with or without a byte order mark."""
    path = tmp_path / "slicer.yaml"
    with pytest.raises(BadDefinition, match="no definition file"):
        read_definition(path)
    path.write_text(WHOLE, encoding="utf-8-sig")
    assert read_definition(path) == parse_definition(WHOLE)
    path.write_bytes(b"annotation: \xff")
    with pytest.raises(BadDefinition, match="UTF-8"):
        read_definition(path)


def test_differences_are_named() -> None:
    """Two definitions differ in fields that a person can find."""
    definition = parse_definition(WHOLE)
    other = parse_definition(
        WHOLE.replace("aggregate: mean", "aggregate: max")
        .replace("imps, column", "shows, column")
        .replace("/ imps", "/ shows")
    )
    assert definition.differences(definition) == []
    assert definition.differences(other) == [
        "data field 'imps'",
        "data field 'cpc'",
        "data field 'ecpm'",
        "data field 'shows'",
    ]


def test_a_definition_made_in_code_is_checked_too() -> None:
    """A wrong formula is an error wherever the definition comes from."""
    with pytest.raises(ValidationError, match="Unknown data field 'x'"):
        Definition.model_validate({"time": {"column": "t"}, "data_fields": [{"name": "f", "formula": "x"}]})


READING = """
decimal: ","
thousands: "."
missing: [NULL, "-"]
header: false
names: [day, hour, cost]
time: {column: [day, hour], year: 2026, format: "%d.%m. %H"}
data_fields: [{name: cost, unit: "€"}, {name: rate, decimal: "."}]
"""


def test_how_a_file_is_written_is_stated() -> None:
    """Marks, units, words for missing values (NULL among them), names and a time in two columns; and back."""
    definition = parse_definition(READING)
    assert definition.missing == ("NULL", "null", "Null", "-") and definition.time.sources == ("day", "hour")
    assert parse_definition(definition_yaml(definition)) == definition


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('thousands: "."', 'thousands: ","', "line 2: ',' can't be both the decimal and the thousands mark"),
        ('decimal: "."', 'decimal: ".", thousands: "."', "line 8, data_fields[1]: '.' can't be both"),
        ('decimal: ","', "decimal: comma", "line 2, decimal: should be '.', ',' or 'unknown', not 'comma'"),
        ("header: false", "header: true", "line 2: names are for files without a header"),
        ("column: [day, hour]", "column: []", "line 7, time.column: names no column"),
        (
            "column: [day, hour]",
            "column: [1]",
            "line 7, time.column: should be the name of a column, or a list",
        ),
        ('format: "%d.%m. %H"', 'format: "%d.%m.%Y"', "line 7, time.format: '%d.%m.%Y' has a year"),
        (', format: "%d.%m. %H"', "", "line 7, time: with a year, a format says where day and month are"),
        ('unit: "€"', 'unit: "5"', "line 8, data_fields[0].unit: must be the sign next to a number"),
        ("missing: [NULL", "missing: [1", "line 4, missing[0]: should be text; put 1 in quotes"),
    ],
)
def test_what_can_t_be_written_so_is_named(before: str, after: str, problem: str) -> None:
    """Each contradiction is told with its line and field."""
    assert before in READING
    with pytest.raises(BadDefinition) as caught:
        parse_definition(READING.replace(before, after, 1), "s.yaml")
    assert f"s.yaml, {problem}" in caught.value.reason


def test_a_format_with_two_zones_is_refused() -> None:
    """pandas reads %z or %Z, not both: said when the definition is read, not in the middle of an import."""
    with pytest.raises(BadDefinition, match="%z and %Z can't be used together"):
        parse_definition('time: {column: t, format: "%Y-%m-%d %H %z %Z"}')


def test_roles_name_fields_that_there_are() -> None:
    """A role is that of a key field or a data field, as info says; a name that is no such field is refused."""
    text = """
time: {column: time}
key_fields:
  - {name: why}
data_fields:
  - {name: asked}
roles: {requests: asked, lost_reason: why}
"""
    slicer = parse_definition(text).slicer(None, None)
    assert (slicer.key_field("why").role, slicer.data_field("asked").role) == ("lost_reason", "requests")
    for wrong in ("{requests: why}", "{lost_reason: asked}", "{win: asked}"):
        with pytest.raises(BadDefinition, match="roles"):
            parse_definition(text.replace("{requests: asked, lost_reason: why}", wrong))


@pytest.mark.parametrize(
    ("records", "source", "problem"),
    [
        ("[user_id]", "", ""),
        ("[page]", "", "an import does not store 'page': make it a key field"),
        ("[page]", "source: {connection: c, table: t}", ""),
        ("[site_id]", "", "'site_id' is a field: records show it"),
        ("[imps]", "source: {connection: c, table: t}", "'imps' is a field"),
    ],
)
def test_columns_that_records_show(records: str, source: str, problem: str) -> None:
    """`records` lists columns that are no fields: of an import those that are stored, of a table any."""
    text = f"{WHOLE}\nrecords: {records}\n{source}\n"
    if problem:
        with pytest.raises(BadDefinition, match=problem):
            parse_definition(text)
        return
    definition = parse_definition(text)
    assert definition.records == (records.strip("[]"),)
    assert definition.stored_column("user_id") == ("users" if records == "[user_id]" else None)


@pytest.mark.parametrize(
    ("sent", "currency"), [("EUR", "EUR"), (None, None), ({"code": "EUR"}, None), (978, None)]
)
def test_a_currency_that_another_service_sends_otherwise_is_none(sent: object, currency: str | None) -> None:
    """What a foreign service calls by our extension's name, in a form of its own, blocks no slicer."""
    assert DataField.model_validate({"name": "spend", "currency": sent}).currency == currency
