"""Which values of a key field there are, as pickers and targetings ask for them."""

from pathlib import Path

import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, small_rows
from dealing import clients

from lib.figures.context import RequestContext
from lib.figures.query import values
from lib.people import Person
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

ASKED = AudienceQuery(project_name="demo", slicer_name="together", start_date="-7d", end_date="yesterday")


@pytest.fixture
def context(own_home: Path) -> RequestContext:
    """The context of a request, about a slicer in which two values go together."""
    rows = small_rows(0)
    together = [["usual", "beside"]] * (len(rows) - 1) + [["rare"]]
    place = rows.schema.get_field_index("categories")
    rows = rows.set_column(place, rows.schema.field(place), pa.array(together, rows.schema.field(place).type))
    with Warehouse(own_home / "warehouse").writer(
        "demo", "together", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        writer.write(rows)
        writer.commit("made for the test", "two values together")
    apis = clients(Settings(home=own_home, demo=True))
    slicer = apis.reporting.info(InfoQuery(project_name="demo", slicer_name="together"))
    person = Person("manager", "Max Manager", None, "manager")
    return RequestContext(person, "demo", "together", slicer, apis)


def test_values_among_those_that_come_along(context: RequestContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rare value is known though others, in the same records as a usual one, are more frequent."""
    monkeypatch.setattr(values, "MOST_VALUES", 2)
    assert values.check(context, ASKED, "categories", ["usual", "rare"]) == {"usual": True, "rare": True}
    assert values.check(context, ASKED, "categories", ["none"]) == {"none": False}
