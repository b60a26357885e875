"""Which values of a key field there are, as pickers and targetings ask for them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, small_rows
from dealing import clients

from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.ui.query import values

ASKED = AudienceQuery(project_name="demo", slicer_name="together", start_date="-7d", end_date="yesterday")


@pytest.fixture
def context(own_home: Path) -> Any:
    """As much of what surrounds a screen as questions need, over a slicer in which two values go together."""
    rows = small_rows(0)
    together = [["usual", "beside"]] * (len(rows) - 1) + [["rare"]]
    place = rows.schema.get_field_index("categories")
    rows = rows.set_column(place, rows.schema.field(place), pa.array(together, rows.schema.field(place).type))
    with Warehouse(own_home / "warehouse").writer(
        "demo", "together", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        writer.write(rows)
        writer.commit("made for the test", "two values together")
    reporting = clients(Settings(home=own_home, demo=True)).reporting
    slicer = reporting.info(InfoQuery(project_name="demo", slicer_name="together"))
    person = SimpleNamespace(username="manager")
    return SimpleNamespace(
        reporting=reporting, slicer=slicer, person=person, project="demo", slicer_name="together"
    )


def test_values_among_those_that_come_along(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rare value is known though others, in the same records as a usual one, are more frequent."""
    monkeypatch.setattr(values, "OFFERED", 2)
    assert values.known(context, ASKED, "categories", ["usual", "rare"]) == {"usual": True, "rare": True}
    assert values.known(context, ASKED, "categories", ["none"]) == {"none": False}
