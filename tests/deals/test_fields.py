"""The table of plain fields: what one row of it brings about."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
from lib import connect
from peopled import people_in
from lib.people import ALL_DEALS, Person
from lib.settings import Settings
from lib.ui.deals import deal_list, details, edits, history, inputs
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
row = deal_list.of_deal(deal, {})
names = deal_list.COLUMNS["demand_deals"]
print(json.dumps({
    "created": made.json()["purpose"],
    "changed": changed.status_code,
    "read": found["purpose"],
    "filtered": [listed(purpose=one)["count"] for one in ("Autumn", "Winter")],
    "ordered": listed(ordering="-purpose")["count"],
    "searched": [listed(search=one)["count"] for one in ("autumn", "winter")],
    "refused": http.put(path, json={"purpose": "x" * 201}).json(),
    "documented": "purpose" in json.dumps(desk.api.openapi()["paths"]["/api/demand_deals/"]["post"]),
    "history": [history.sentences(one) for one in past][0],
    "edited": edits.of_deal(deal)["purpose"],
    "form": inputs.widget_value("purpose", found["purpose"]),
    "fact": details.deal_facts(deal)["Purpose"],
    "column": dict(zip(names, (cell.text for cell in deal_list.cells(row, names)), strict=True))["purpose"],
}))
"""


@pytest.mark.parametrize("entity", [fields.SUPPLY, fields.DEALS])
def test_models_declare_the_fields_of_the_table(entity: str) -> None:
    """Every row is an attribute of the model of its entity: the type checker knows it."""
    assert {field.name for field in fields.of(entity)} <= ENTITIES[entity].model_fields.keys()


def test_one_row_is_a_field_everywhere(tmp_path: Path) -> None:
    """With a row and a column of the database, a field is set, read, refused, filtered, ordered, searched,
    documented, recorded, and on the screens."""
    done = subprocess.run(
        [sys.executable, "-c", ROW + USE, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "TRANCHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
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
