"""Flipped bytes in any file of a slicer, at random: the right answer or a fault, never another figure."""

import datetime as dt
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, small_rows
from serving import reporting_app

from lib.engines.resident import checksums, prepare
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition
from lib.slicers.warehouse import Warehouse
from lib.wire.transport import InProcess


def two_days(rows: pa.Table) -> pa.Table:
    """These rows, all of them in two days, with a column more."""
    hours = [dt.datetime(2026, 3, 1, tzinfo=dt.UTC) + dt.timedelta(hours=n % 48) for n in range(len(rows))]
    place = rows.schema.get_field_index("time")
    timed = rows.set_column(place, "time", pa.array(hours, rows.schema.field("time").type))
    return timed.append_column("largest", timed["imps"])


STARTS, COUNTS = 70, (1, 3, 10, 30, 100, 300, 1000)
FIELDS = (*DEFINITION.data_fields, DataFieldDefinition(name="largest", aggregate="max"))
WHOLE: Definition = DEFINITION.model_copy(update={"data_fields": FIELDS})
ROWS = two_days(pa.concat_tables([small_rows(seed) for seed in (5, 6, 7)]))
COUNTRY = "geo.country"
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"split_by": [COUNTRY], "include_mappings": 1},
    {"split_by": ["granularity_hour"], "data_fields": ["imps", "clicks"]},
    {"split_by": ["campaign_id"], "filters": [{"name": "categories", "value": ["sport"], "match": "equals"}]},
    {"split_by": [COUNTRY], "audience_rows_limit": 10_000, "data_fields": ["imps", "clicks", "revenue"]},
)

Ask = Callable[[Path], list[dict[str, Any]]]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that the files have hundreds of them, as those of large slicers do."""
    monkeypatch.setattr(checksums, "BLOCK", 1024)


@pytest.fixture
def whole(tmp_path: Path, small_blocks: None) -> Path:
    """A warehouse with the slicer demo/small and its layout."""
    warehouse = Warehouse(tmp_path / "whole")
    with warehouse.writer("demo", "small", WHOLE, {"country": COUNTRIES}) as writer:
        writer.write(ROWS)
        writer.commit("made for the tests", "5")
    prepare(warehouse.open("demo", "small"))
    return warehouse.root


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """The answers of a service that starts over a warehouse, to all questions."""
    settings = Settings(home=tmp_path / "home", throttle_questions=10**6)
    access = Access.of(settings)
    access.people.add(Person("ada", "Ada", None, "admin"), "a password")
    token = access.issue("ada", settings.reporting_service, "test", dt.timedelta(hours=1))
    days = ROWS["time"].to_pandas().dt.date
    common = {"token": token, "project_name": "demo", "slicer_name": "small"}
    common |= {"start_date": f"{days.min()}", "end_date": f"{days.max()}"}

    def asked(warehouse: Path) -> list[dict[str, Any]]:
        service = ReportingService(Warehouse(warehouse), access, settings)
        transport = InProcess(reporting_app(service))
        with httpx.Client(transport=transport, base_url="http://in-process", timeout=60) as http:
            return [http.post("/API/v2/audience", json=common | question).json() for question in QUESTIONS]

    yield asked
    access.store.engine.dispose()


def flip(path: Path, count: int, draw: np.random.Generator) -> None:
    """Another value in so many bytes of a file; in all of them if it has fewer."""
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    places = draw.choice(len(content), min(count, len(content)), replace=False)
    content[places] ^= draw.integers(1, 256, len(places), np.uint8)
    path.unlink()  # it has the bytes of the other warehouse
    path.write_bytes(content.tobytes())


def test_flipped_bytes(whole: Path, ask: Ask, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of 70 cold starts over 1 to 1,000 flipped bytes in any file, none gives another figure."""
    right = ask(whole)
    check_by_pandas(right[0])
    files = sorted(
        path.relative_to(whole) for path in whole.rglob("*") if path.stat().st_size and path.is_file()
    )
    kinds = sorted({kind_of(path) for path in files})
    draw = np.random.default_rng(22)
    outcomes: dict[tuple[str, str], int] = {}
    for start in range(STARTS):
        kind, count = kinds[start % len(kinds)], COUNTS[start % len(COUNTS)]
        file = draw.choice([str(path) for path in files if kind_of(path) == kind])
        damaged = tmp_path / "damaged" / str(start)
        shutil.copytree(whole, damaged, copy_function=os.link)
        flip(damaged / file, count, draw)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            answers = ask(damaged)
        for answer, expected in zip(answers, right, strict=True):
            if answer["status"] != "success":
                assert answer["status"] == "internal_error", (file, count, answer)
                assert Path(file).name in caplog.text, (file, count, caplog.text)
                outcome = "fault"
            else:
                assert answer == expected, (file, count)
                outcome = "right"
            outcomes[kind, outcome] = outcomes.get((kind, outcome), 0) + 1
        shutil.rmtree(damaged)
    assert {kind for kind, outcome in outcomes if outcome == "fault"} == {"manifest.json", "mappings"}
    assert {kind for kind, outcome in outcomes if outcome == "right"} >= set(kinds) - {"manifest.json"}


def kind_of(path: Path) -> str:
    """Its kind: files of the layout by their names, the others by folder."""
    return path.name if path.parent.parent.name == "layout" else path.parts[2]


def check_by_pandas(answer: dict[str, Any]) -> None:
    """The figures by country are those of plain pandas."""
    frame = ROWS.to_pandas()
    by_country = frame.groupby(frame[COUNTRY].fillna(""))
    sums = by_country[["imps", "clicks"]].sum()
    expected = {
        str(name): (row.imps, row.clicks, 100 * row.clicks / row.imps, by_country["largest"].max()[name])
        for name, row in sums.iterrows()
    }
    by_name = {}
    for row in answer["rows"]:
        values = {field["name"]: field["value"] for field in row["data"]}
        by_name[row["name"][0]] = tuple(values[name] for name in ("imps", "clicks", "ctr", "largest"))
    assert by_name == {name: pytest.approx(values) for name, values in expected.items()}


def test_a_sum_that_is_too_large_is_a_fault(
    tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """Numbers that can't be added up give an error that names the field, not an infinite or empty figure."""
    warehouse = Warehouse(tmp_path / "large")
    column = ROWS.schema.get_field_index("revenue")
    large = ROWS.set_column(column, "revenue", pa.array(np.full(len(ROWS), 1e306)))
    with warehouse.writer("demo", "small", WHOLE, {"country": COUNTRIES}) as writer:
        writer.write(large)
        writer.commit("large", "6")
    with np.errstate(over="ignore", invalid="ignore"):
        answers = ask(warehouse.root)
    assert [answer["status"] for answer in answers] == [
        "internal_error",
        "success",
        "internal_error",
        "internal_error",
    ]
    assert "The sum of revenue in demo/small is not a finite number" in caplog.text
