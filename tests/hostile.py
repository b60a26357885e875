"""Names that a careless screen would make links, images and formulas of, wherever a name can stand."""

from pathlib import Path

import pytest
from conftest import COUNTRIES, DEFINITION, PASSWORD, small_rows
from dealing import clients, package
from peopled import people_in

from lib.deals.models import SupplyPackage
from lib.people import Person
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

IMAGE, LINK = "![x](http://evil.example/x.png)", "[sign in again](http://evil.example/)"
HOSTILE = (
    f"{LINK} {IMAGE} https://evil.example/a $x^2$ :red[d] :material/lock: <img src=http://evil.example/y>"
)
ANCHOR = "<a href='http://evil.example'>x</a>"


@pytest.fixture
def hostile_home(own_home: Path) -> Path:
    """A data directory whose slicer, values, people and packages have hostile names."""
    key, *others = DEFINITION.key_fields
    figure, *more = DEFINITION.data_fields
    described = DEFINITION.model_copy(
        update={
            "annotation": HOSTILE,
            "key_fields": (key.model_copy(update={"description": HOSTILE, "annotation": HOSTILE}), *others),
            "data_fields": (figure.model_copy(update={"description": HOSTILE, "annotation": HOSTILE}), *more),
        }
    )
    mappings = {"country": {code: f"{ANCHOR} {name} {HOSTILE}" for code, name in COUNTRIES.items()}}
    with Warehouse(own_home / "warehouse").writer("demo", "hostile", described, mappings) as writer:
        writer.write(small_rows(7))
        writer.commit("made for the test", "hostile")
    people = people_in(own_home)
    people.add(Person("eve", HOSTILE, "eve@evil.example", "admin"), PASSWORD)
    clients(Settings(home=own_home, demo=True)).deals.create(SupplyPackage, package(HOSTILE, {}))
    return own_home
