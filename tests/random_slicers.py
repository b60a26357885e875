"""Small random slicers, and random questions about them.

A row is a handful of bytes, each of which picks a cell from a pool: quick to draw, and a failing example
shrinks to few rows of plain cells.
"""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lib.ingest.cells import elements
from lib.slicers.definition import Definition
from lib.slicers.granularities import GRANULARITIES, time_key_field
from lib.wire.filters import MATCHES

LETTERS = "abAB%_\\'\"*.?é ßİıσςΣ😀\t\n,|;\u00a0\u2003"
DAYS = ["1969-12-30", "2020-12-30", "2024-02-28", "2026-06-29", "2026-03-27", "2026-04-03", "2026-10-23"]
# Clocks change on 29 March and 25 October, on 5 April, or by half an hour; or differ by half an hour.
NAMED_ZONES = ["Europe/Berlin", "Australia/Sydney", "Australia/Lord_Howe", "Asia/Kolkata"]
ZONES = st.integers(-12, 12) | st.sampled_from(NAMED_ZONES)
HOURS = 100
NUMBERS = (None, 0.0, 1.0, -1.0, 0.125, -2.5, 3.0, 1e6, -1024.75, 7.0)
INTEGERS = (None, "0", "-3", "1", "2", "10", "77")
SINGLE, SEGMENTED = ("text", "code", "number"), ("tags", "marks", "labels")
SEPARATOR = ";"
MAPPED = ("code", "marks")
DATA = (
    "spend", "gain", "mean", "least", "most", "records", "present", "kinds", "ratio", "rate", "per_user",
    "unique_users",
)  # fmt: skip
FORMULAS = {
    "ratio": "spend / gain",
    "rate": "-1000 * (spend - gain) / records",
    "per_user": "gain / unique_users",
}
CELLS = 14


@dataclass(frozen=True)
class RandomSlicer:
    """A definition, its rows as their source has them, and the mappings of its key fields."""

    definition: Definition = field(repr=False)
    rows: list[dict[str, Any]]
    mappings: dict[str, dict[str, str]]

    @property
    def table(self) -> pa.Table:
        """The rows as an import hands them to the warehouse."""
        rows = self.source
        for name in SEGMENTED:
            lists = elements(rows[name].combine_chunks(), SEPARATOR)
            rows = rows.set_column(rows.schema.get_field_index(name), name, lists)
        return rows.cast(self.definition.schema())

    @property
    def source(self) -> pa.Table:
        """The rows as a table of somebody's database has them: `labels` is text with separators."""
        schema = self.definition.schema()
        at = schema.get_field_index("labels")
        return pa.Table.from_pylist(self.rows, schema=schema.set(at, pa.field("labels", pa.string())))

    def texts(self, name: str) -> set[str]:
        """What a filter of a key field might look for."""
        cells = [row[name] for row in self.rows]
        if name == "labels":
            cells = [cell and cell.split(SEPARATOR) for cell in cells]
        flat = [text for cell in cells for text in (cell if isinstance(cell, list) else [cell])]
        return {text for text in flat if text} | set(self.mappings.get(name, {}).values())


def definition(granularity: str, zone: int) -> Definition:
    """Key fields of all kinds and data fields of all aggregates."""
    keys = [
        {"name": "text"},
        {"name": "code", "mapping": "code"},
        {"name": "number", "type": "int"},
        {"name": "tags", "segmented": True},
        {"name": "marks", "segmented": True, "mapping": "marks"},
        {"name": "labels", "segmented": SEPARATOR},
    ]
    data: list[dict[str, str]] = [
        {"name": "spend"}, {"name": "gain"}, {"name": "mean", "aggregate": "mean"},
        {"name": "least", "aggregate": "min"}, {"name": "most", "aggregate": "max"},
        {"name": "records", "aggregate": "count"},
        {"name": "present", "column": "mean", "aggregate": "count"},
        {"name": "kinds", "aggregate": "distinct"},
        *({"name": name, "formula": formula} for name, formula in FORMULAS.items()),
    ]  # fmt: skip
    time = {"column": "time", "granularity": granularity}
    sources = [{"name": "users"}]
    return Definition.model_validate(
        {
            "timezone": zone,
            "time": time,
            "key_fields": keys,
            "data_fields": data,
            "audience_sources": sources,
            "records": ["kinds"],
        }
    )


words = st.text(LETTERS, max_size=3)


@st.composite
def slicers(draw: st.DrawFn) -> RandomSlicer:
    """A slicer of up to forty rows, around a date where time is interesting."""
    granularity = draw(st.sampled_from(["hour", "day"]))
    base = dt.datetime.fromisoformat(draw(st.sampled_from(DAYS))).replace(tzinfo=dt.UTC)
    pool = [None, *draw(st.lists(words, min_size=1, max_size=6))]
    count = draw(st.integers(1, 40))
    picks = draw(st.binary(min_size=count * CELLS, max_size=count * CELLS))
    rows = [_row(picks[at : at + CELLS], granularity, base, pool) for at in range(0, len(picks), CELLS)]
    described = st.dictionaries(st.sampled_from([word for word in pool if word] or ["a"]), words)
    mappings = {name: draw(described) for name in MAPPED}
    return RandomSlicer(definition(granularity, draw(st.integers(-12, 12))), rows, mappings)


def _row(bits: bytes, granularity: str, base: dt.datetime, pool: list[str | None]) -> dict[str, Any]:
    step = dt.timedelta(hours=bits[0] % HOURS) if granularity == "hour" else dt.timedelta(days=bits[0] % 5)
    mean = NUMBERS[bits[8] % len(NUMBERS)]
    return {
        "time": base + step,
        "text": pool[bits[1] % len(pool)],
        "code": pool[bits[2] % len(pool)],
        "number": INTEGERS[bits[3] % len(INTEGERS)],
        "tags": _elements(bits[4], pool),
        "marks": _elements(bits[5], pool),
        "labels": _label(bits[13], pool),
        "spend": NUMBERS[bits[6] % len(NUMBERS)],
        "gain": NUMBERS[bits[7] % len(NUMBERS)],
        "mean": mean,
        "least": NUMBERS[bits[9] % len(NUMBERS)],
        "most": NUMBERS[bits[10] % len(NUMBERS)],
        "present": None if mean is None else 1.0,
        "kinds": pool[bits[11] % len(pool)],
        "users": pool[bits[12] % len(pool)],
    }


def _elements(bits: int, pool: list[str | None]) -> list[str | None] | None:
    """Null, or up to three elements, some of them twice, missing or empty."""
    count = bits % 5 - 1
    return None if count < 0 else [pool[(bits // 5 + 3 * place) % len(pool)] for place in range(count)]


def _label(bits: int, pool: list[str | None]) -> str | None:
    """Null, or such elements with separators between them, and in some cells before and after them."""
    elements = _elements(bits, pool)
    if elements is None:
        return None
    around = SEPARATOR if bits % 3 == 0 else ""
    return around + SEPARATOR.join(element or "" for element in elements) + around


@st.composite
def questions(draw: st.DrawFn, slicer: RandomSlicer) -> dict[str, Any]:
    """The fields of an audience request, beside slicer, project and token."""
    zone = slicer.definition.timezone
    grains = GRANULARITIES if slicer.definition.time.granularity == "hour" else [*GRANULARITIES][1:]
    keys = [*SINGLE, *SEGMENTED, *map(time_key_field, grains)]
    day = min(row["time"] for row in slicer.rows).date()
    first, last = draw(st.integers(-2, 2)), draw(st.integers(2, 6))
    split_by = draw(st.lists(st.sampled_from(keys), max_size=3, unique=True))
    asked = {
        "start_date": str(day + dt.timedelta(days=first)),
        "end_date": str(day + dt.timedelta(days=last)),
        "split_by": split_by,
        "filters": draw(st.lists(_filters(slicer, keys), max_size=2)),
        "any_of": draw(st.lists(st.lists(_filters(slicer, keys), min_size=1, max_size=3), max_size=2)),
    }
    if draw(st.booleans()):
        by = st.fixed_dictionaries(
            {"name": st.sampled_from([*DATA, *split_by]), "direction": st.sampled_from(["asc", "desc"])}
        )
        asked["order_by"] = draw(st.lists(by, min_size=1, max_size=2, unique_by=_name))
    if draw(st.booleans()):
        asked["timezone"] = draw(ZONES) if "granularity_hour" in keys else zone
    return asked


@st.composite
def _filters(draw: st.DrawFn, slicer: RandomSlicer, keys: list[str]) -> dict[str, Any]:
    name = draw(st.sampled_from([*keys, *MAPPED]))
    described = sorted(slicer.mappings.get(name, {}).values())
    if described and draw(st.booleans()):
        value = st.sampled_from(described)
    elif name in SINGLE or name in SEGMENTED:
        known = sorted(slicer.texts(name)) or ["a"]
        value = st.one_of(st.sampled_from(known), st.sampled_from(known).flatmap(_part), words)
    else:
        value = st.sampled_from(["2020", "2026", "-0", "12", "Q1", "2020-W53", "2024-02-29", " 0", "1970 Q1"])
    flag = st.integers(0, 1)
    return {
        "name": name,
        "match": draw(st.sampled_from(MATCHES)),
        "value": draw(st.lists(value, min_size=1, max_size=2)),
        "case_insensitive": draw(flag),
        "search_mappings": draw(flag),
    }


def _name(part: dict[str, str]) -> str:
    return part["name"]


def _part(text: str) -> st.SearchStrategy[str]:
    return st.integers(0, len(text)).map(
        lambda at: text[at : at + 2].swapcase() if at % 2 else text[at : at + 1]
    )
