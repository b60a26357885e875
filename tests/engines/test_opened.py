"""Opening layouts: one that is still being built keeps nobody waiting but those who ask about it."""

import threading
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from lib.engines.resident import engine
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import DeadlineExceeded

DEFINITION = Definition.model_validate({"time": {"column": "time"}, "data_fields": [{"name": "imps"}]})


@dataclass(frozen=True)
class Building:
    """Two signals: a layout's building has begun, and may go on."""

    begun: threading.Event
    released: threading.Event


@pytest.fixture
def slicers(tmp_path: Path) -> tuple[StoredSlicer, StoredSlicer]:
    """Two slicers of one row each."""
    warehouse = Warehouse(tmp_path)
    rows = pa.table({"time": [0], "imps": [1.0]}).cast(DEFINITION.schema())
    for name in ("slow", "quick"):
        with warehouse.writer("test", name, DEFINITION) as writer:
            writer.write(rows)
            writer.commit("made", name)
    return warehouse.open("test", "slow"), warehouse.open("test", "quick")


@pytest.fixture
def slow_building(monkeypatch: pytest.MonkeyPatch) -> Building:
    """Building the slow slicer's layout says when it has begun, and stops until it is let go on."""
    building, build = Building(threading.Event(), threading.Event()), engine.build

    def waiting(stored: StoredSlicer) -> Path:
        if stored.name == "slow":
            building.begun.set()
            building.released.wait(30)
        return build(stored)

    monkeypatch.setattr(engine, "build", waiting)
    return building


def test_building_one_does_not_hold_up_another(
    slicers: tuple[StoredSlicer, StoredSlicer], slow_building: Building
) -> None:
    """While one layout is built another slicer opens, and who waits for the first keeps the deadline."""
    slow, quick = slicers
    layouts = engine.OpenLayouts()
    builder = threading.Thread(target=layouts.layout, args=(slow, Deadline()))
    builder.start()
    try:
        assert slow_building.begun.wait(30)
        assert layouts.layout(quick, Deadline(30)).contents.records == 1
        with pytest.raises(DeadlineExceeded):
            layouts.layout(slow, Deadline(0.05))
    finally:
        slow_building.released.set()
        builder.join()
    assert layouts.layout(slow, Deadline(30)).contents.records == 1
