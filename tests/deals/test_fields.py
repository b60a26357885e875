"""The table of plain fields: what one row of it brings about."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lib.deals import fields
from lib.deals.models import ENTITIES

ROOT = Path(__file__).parent.parent.parent
ROW = """
import lib.deals.fields as fields

fields.FIELDS += (
    fields.DealField("purpose", fields.SHORT_TEXT, "Purpose", ("demand_deals",), is_searched=True, width=7.0),
)
fields.BY_NAME["purpose"] = fields.FIELDS[-1]
"""
USE = """
import json, sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from sqlalchemy import create_engine, text
from lib.serving import connect
from peopled import people_in
from lib.people import ALL_DEALS, Person
from lib.settings import Settings
from lib.ui.deals.changes import merge
from lib.ui.deals.drawer import details
from lib.ui.deals.forms import inputs
from lib.figures.deals import change_text
from lib.ui.deals import deal_rows
from lib.deals.models import DemandDeal, EntityChange

home = Path(sys.argv[1])
ada = Person("ada", "Ada", None, "manager", deals=ALL_DEALS)
people_in(home).add(ada, "a password")
url = f"sqlite:///{home / 'tranche.db'}"
desk = connect.installation(Settings(home=home, database_url=url))
engine = create_engine(url)
token = desk.access.issue("ada", "deals", "test", timedelta(hours=1))
with engine.begin() as migration:
    migration.execute(text("ALTER TABLE demand_deals ADD COLUMN purpose VARCHAR(200)"))
from fastapi.testclient import TestClient
http = TestClient(desk.api, headers={"Authorization": f"Bearer {token}"})
dsp = http.post("/api/dsps/", json={"name": "Alder"}).json()
seat = http.post("/api/seats/", json={"name": "Bluebird", "dsp": {"id": dsp["id"]}}).json()
body = {"name": "One", "seat": {"id": seat["id"]}, "price": 2, "purpose": "Spring launch"}
made = http.post("/api/demand_deals/", json=body)
path = f"/api/demand_deals/{made.json()['id']}/"
changed = http.put(path, json={"purpose": "Autumn"})
found = http.get(path).json()
listed = lambda **params: http.get("/api/demand_deals/", params=params).json()
past = [EntityChange.model_validate(one) for one in http.get(path + "history/").json()["results"]]
deal = DemandDeal.model_validate(found)
row = deal_rows.of_deal(deal, {})
names = deal_rows.ALL_COLUMNS["demand_deals"]
print(json.dumps({
    "created": made.json()["purpose"],
    "changed": changed.status_code,
    "read": found["purpose"],
    "filtered": [listed(purpose=one)["count"] for one in ("Autumn", "Winter")],
    "ordered": listed(ordering="-purpose")["count"],
    "searched": [listed(search=one)["count"] for one in ("autumn", "winter")],
    "refused": http.put(path, json={"purpose": "x" * 201}).json(),
    "documented": "purpose" in desk.api.openapi()["components"]["schemas"]["DemandDealRequest"]["properties"],
    "history": [change_text.sentences(one) for one in past][0],
    "edited": merge.of_deal(deal)["purpose"],
    "form": inputs.widget_value("purpose", found["purpose"]),
    "fact": details.deal_facts(deal)["Purpose"],
    "column": dict(zip(names, (cell.text for cell in deal_rows.cells(row, names)), strict=True))["purpose"],
}))
"""
READERS = """
import lib.deals.fields as fields

BOTH = ("supply_deals", "demand_deals")
fields.FIELDS += (
    fields.DealField("internal_note", fields.SHORT_TEXT, "Internal note", BOTH, is_extension=True, width=7.0),
    fields.DealField("buyer_hint", fields.SHORT_TEXT, "Hint", BOTH, readers=fields.FOR_BUYER),
    fields.DealField("dsp_hint", fields.SHORT_TEXT, "DSP hint", ("demand_deals",), readers=fields.FOR_DSP),
)
fields.BY_NAME |= {one.name: one for one in fields.FIELDS}
"""
LEAVING = """
import datetime as dt, json, sys
from pathlib import Path
from urllib.parse import unquote
from sqlalchemy import create_engine, text
from lib.serving import connect
from lib.agents.toolbox import Toolbox
from lib.deals.buyer_counts import EnteredCounts
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight import Dossier
from lib.people import ALL_DEALS, DealsGrant, Person
from lib.agents.python_client import Desk
from lib.slicers.models import Slicer
from lib.settings import Settings
from lib.share.documents import dossier
from lib.share.snapshot import page
from lib.ui.deals.buyers import hand_over
from lib.figures.deals import change_text
from lib.figures.deals.field_text import Prices
from peopled import people_in

home = Path(sys.argv[1])
people_in(home).add(Person("ada", "Ada", None, "manager", deals=ALL_DEALS), "a password")
url = f"sqlite:///{home / 'tranche.db'}"
settings = Settings(home=home, database_url=url, deal_sync_origin="a.example")
desk = connect.installation(settings)
with create_engine(url).begin() as migration:
    for table, name in (
        ("supply_packages", "internal_note"), ("supply_packages", "buyer_hint"),
        ("demand_deals", "internal_note"), ("demand_deals", "buyer_hint"), ("demand_deals", "dsp_hint"),
    ):
        migration.execute(text(f"ALTER TABLE {table} ADD COLUMN {name} VARCHAR(200)"))
from fastapi.testclient import TestClient
token = desk.access.issue("ada", "deals", "test", None)
http = TestClient(desk.api, headers={"Authorization": f"Bearer {token}"})
dsp = http.post("/api/dsps/", json={"name": "Alder", "supports_deal_sync": True}).json()
new_seat = {"name": "Bluebird", "dsp": {"id": dsp["id"]}, "external_id": "seat-1"}
seat = http.post("/api/seats/", json=new_seat).json()
deal = http.post("/api/demand_deals/", json={
    "name": "One", "seat": {"id": seat["id"]}, "price": 2, "deal_sync": True, "contact_email": "a@b.example",
    "internal_note": "deal, for the house", "buyer_hint": "deal, for the buyer",
    "dsp_hint": "deal, for the DSP",
}).json()
package = http.post("/api/supply_deals/", json={
    "name": "Spring", "media_type": "banner", "start_date": "2026-01-01 00:00:00+0000",
    "demand_deals": [{"id": deal["id"]}],
    "internal_note": "package, for the house", "buyer_hint": "package, for the buyer",
}).json()
api = Desk.local("ada", settings=settings).deals_api
deal, package = api.get(DemandDeal, deal["id"]), api.get(SupplyPackage, package["id"])
[buyer] = hand_over.buyers([deal])
both = Dossier((dt.date(2026, 1, 1),), {}, {}, {}, EnteredCounts({}), None, 0.1)
terms = dossier.terms(deal, [(package, "")], Prices(), "floor")
shared = dossier.snapshot("Link", terms, both, Slicer(timezone=0), dt.datetime.now(dt.UTC))
token = desk.access.issue("ada", "deals", "dsp", None, deals=DealsGrant.parse(f"sync:{seat['id']}"))
documents = http.get("/api/deal_sync/", headers={"Authorization": f"Bearer {token}"}).json()
agent = Toolbox("ada", Desk.local("ada", settings=settings), lambda _: None)
print(json.dumps({
    "text": hand_over.HandOver(package, Prices()).text(buyer.deals),
    "CSV": hand_over.HandOver(package, Prices()).csv(buyer.deals).decode(),
    "mail": unquote(hand_over.HandOver(package, Prices()).mail(buyer)[0]),
    "page": page.html(shared),
    "deal sync": json.dumps(documents["results"]),
    "agent": agent.call("find_deals", {}).text + agent.call("find_deals", {"kind": "packages"}).text,
}))
"""
FOR_BUYERS = {"text", "CSV", "mail", "page"}


@pytest.mark.parametrize("entity", [fields.SUPPLY, fields.DEALS])
def test_models_declare_the_fields_of_the_table(entity: str) -> None:
    """Every row is an attribute of the model of its entity: the type checker knows it."""
    assert {field.name for field in fields.of(entity)} <= ENTITIES[entity].model_fields.keys()


def test_one_row_is_a_field_everywhere(tmp_path: Path) -> None:
    """With a row and a column of the database, a field is set, read, refused, filtered, ordered, searched,
    documented, recorded, and on the screens."""
    assert run(ROW + USE, tmp_path) == {
        "created": "Spring launch",
        "changed": 204,
        "read": "Autumn",
        "filtered": [1, 0],
        "ordered": 1,
        "searched": [1, 0],
        "refused": {"purpose": ["This may have at most 200 characters."]},
        "documented": True,
        "history": ["Purpose: Spring launch → Autumn"],
        "edited": "Autumn",
        "form": "Autumn",
        "fact": "Autumn",
        "column": "Autumn",
    }


def test_a_field_leaves_the_house_for_whom_it_is_said_to_be(tmp_path: Path) -> None:
    """A new field of deals or packages is in what goes to buyers, or to DSPs, if its row says so.

    One whose row says nothing is in none of it.
    """
    outputs = run(READERS + LEAVING, tmp_path)
    assert {name for name, output in outputs.items() if "deal, for the buyer" in output} == FOR_BUYERS
    assert {name for name, output in outputs.items() if "package, for the buyer" in output} == FOR_BUYERS
    assert {name for name, output in outputs.items() if "for the DSP" in output} == {"deal sync"}
    assert not {name for name, output in outputs.items() if "for the house" in output}
    assert not {name for name, output in outputs.items() if "Internal note" in output}


def run(code: str, home: Path) -> dict[str, Any]:
    """What a script over a new data directory prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(home)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "TRANCHE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed
