"""The screen Export: the request for scripts, the file on its way, and what the form keeps."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import boards
import httpx
import pandas as pd
import pytest
from conftest import COUNTRIES
from streamlit.testing.v1 import AppTest

from lib.reporting.client import Reporting
from lib.reporting.models import ExportQuery
from lib.ui.export import tables
from lib.ui.export.result import ExportJob
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
ASKED = {
    "project_name": "demo",
    "slicer_name": "delivery",
    "start_date": "-7d",
    "end_date": "yesterday",
    "export_format": "tsv2",
}


def export(**fields: object) -> ExportQuery:
    """A file of the last week."""
    return ExportQuery.model_validate(ASKED | fields)


NASTY = 'O\'Brien "$HOME" `id` \\ \n <TOKEN> 日本 !'


def test_request_as_json() -> None:
    """The JSON is the request of the specification, with a place for the token and nothing at its default."""
    where = Filter(name=COUNTRY, match="not equals", value=(NASTY,))
    query = export(split_by=(COUNTRY,), filters=(where,), include_total=1)
    body = json.loads(tables.json_body(query))
    assert body.pop("token") == "<TOKEN>"
    assert ExportQuery.model_validate(body) == query
    assert set(body) == {*ASKED, "split_by", "filters", "include_total"}
    assert set(body["filters"][0]) == {"name", "match", "value"}


def test_request_as_curl(socket: httpx.Client, token: Callable[[str], str], tmp_path: Path) -> None:
    """The curl line, pasted into a shell with the token in its variable, writes the file."""
    where = Filter(name=COUNTRY, match="not equals", value=(NASTY,))
    query = export(split_by=(COUNTRY,), filters=(where,), include_total=1)
    line = tables.curl_command(query, str(socket.base_url))
    environment = {**os.environ, "TRANCHE_TOKEN": token("viewer"), "HOME": "/nowhere"}
    subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=environment, check=True)
    expected = Reporting(socket, token("viewer")).export(query).content.read()
    assert (tmp_path / "delivery.tsv2").read_bytes() == expected
    assert len(expected.splitlines()) == len(COUNTRIES) + 3


def test_request_as_curl_fails(socket: httpx.Client, tmp_path: Path) -> None:
    """Where the service refuses, the command fails and leaves no file."""
    line = tables.curl_command(export(), str(socket.base_url))
    environment = {**os.environ, "TRANCHE_TOKEN": "wrong"}
    ran = subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=environment, capture_output=True)
    assert ran.returncode != 0
    assert not list(tmp_path.iterdir())


@pytest.fixture
def reporting(embedded: httpx.Client, token: Callable[[str], str]) -> Reporting:
    """A client of the reporting API."""
    return Reporting(embedded, token("manager"))


def test_making(reporting: Reporting) -> None:
    """The thread that makes a file leaves its size and how long it took."""
    making, query = ExportJob(), export(split_by=(COUNTRY,))
    content = making.make(reporting, query)
    assert content == reporting.export(query).content.read()
    assert (making.state, making.size, making.query) == ("made", len(content), query)
    assert making.seconds > 0


def test_making_fails(reporting: Reporting) -> None:
    """A file that could not be made is not being made any more; the service's error is raised."""
    making = ExportJob()
    with pytest.raises(BadRequest):
        making.make(reporting, export(split_by=("nothing",)))
    assert making.state == "nothing"


@pytest.fixture
def screen(home: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The screen Export on the slicer delivery, with nothing asked yet."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    visit = AppTest.from_file(DESK, default_timeout=60)
    visit.query_params["project"], visit.query_params["slicer"] = "demo", "delivery"
    visit.run().button(key="demo_manager").click().run()
    return visit.switch_page("../pages/export.py").run()


def test_opens_on_a_file(screen: AppTest) -> None:
    """The screen opens with the preview of a file, and says how many rows it will have."""
    assert not screen.exception
    assert len(boards.shown(screen)) == len(COUNTRIES) + 1
    assert any("5 rows" in text.value for text in screen.markdown)
    assert list(boards.shown(screen).iloc[:, 0])[:1] == ["US"]


def test_usual_descriptions(screen: AppTest) -> None:
    """Descriptions come with one key field and not with two, and the switch says which it is."""
    assert screen.toggle(key="export_mappings_one").value
    assert "United States" in set(boards.shown(screen).iloc[:, 1])
    screen.multiselect(key="split_fields").select(CAMPAIGN).run()
    assert not screen.exception
    assert "United States" not in set(boards.shown(screen).iloc[:, 1])
    assert not screen.toggle(key="export_mappings_several").value


def test_order_and_number_of_rows(screen: AppTest) -> None:
    """The file has the first rows of an order, as the API has, and so does its request."""
    [order] = [box for box in screen.selectbox if (box.key or "").startswith("export_order")]
    order.select(("clicks", "asc")).run()
    screen.number_input(key="export_limit").set_value(2).run()
    assert not screen.exception
    shown = boards.shown(screen)
    assert len(shown) == 2
    clicks = boards.numbers(shown["Clicks"])
    assert clicks == sorted(clicks)
    assert any("2 rows" in text.value for text in screen.markdown)
    body = json.loads(screen.code[0].value)
    assert (body["order_by"], body["limit"]) == ([{"name": "clicks", "direction": "asc"}], 2)


def test_nothing_is_lost(screen: AppTest) -> None:
    """What was chosen and typed is there again after a look at another screen."""
    screen.get_by_key("export_format").set_value("xls").run()
    screen.toggle(key="export_total").set_value(True).run()
    screen.query_params["having"] = "imps~ge~500"
    before = boards.shown(screen.run())
    screen.switch_page("../pages/slicers.py").run()
    screen.switch_page("../pages/export.py").run()
    assert not screen.exception
    assert screen.get_by_key("export_format").value == "xls"
    pd.testing.assert_frame_equal(boards.shown(screen), before)


def test_filters_by_figures_come_along(screen: AppTest) -> None:
    """The file has the rows that pass the question's filters by figures, and its request names them."""
    screen.switch_page("../pages/audience.py")
    screen.query_params["having"] = "ctr~gt~0~imps~ge~1"
    screen.run()
    screen.switch_page("../pages/export.py").run()
    assert not screen.exception
    assert json.loads(screen.code[0].value)["data_filters"] == [
        {"name": "ctr", "match": ">", "value": 0.0},
        {"name": "imps", "match": ">=", "value": 1.0},
    ]


def test_request_holds_no_token(screen: AppTest) -> None:
    """Neither form of the request shows a token that works."""
    texts = [code.value for code in screen.code]
    assert len(texts) == 2
    assert all("trn_" not in text for text in texts)
    assert '"token": "<TOKEN>"' in texts[0]
    assert "$TRANCHE_TOKEN" in texts[1]


def test_the_field_of_audience_is_carried_over(screen: AppTest) -> None:
    """The data field chosen on Audience comes first in the file, with the headline's, and orders its rows."""
    screen.switch_page("../pages/audience.py")
    screen.query_params["split"], screen.query_params["field"] = CAMPAIGN, "revenue"
    screen.run()
    screen.switch_page("../pages/export.py").run()
    assert not screen.exception
    asked = json.loads(screen.code[0].value)
    assert asked["data_fields"] == ["revenue", "imps", "clicks", "ctr", "unique_users"]
    assert asked["order_by"] == [{"name": "revenue"}]


def test_another_split(screen: AppTest) -> None:
    """Taking a key field out of the split changes the file, the request and the link at once."""
    screen.query_params["split"], screen.query_params["is.geo.country"] = f"{COUNTRY}~{CAMPAIGN}", "US~DE~"
    screen.run()
    assert any("24 rows" in text.value for text in screen.markdown)
    screen.multiselect(key="split_fields").set_value([COUNTRY]).run()
    assert not screen.exception
    assert any("3 rows" in text.value for text in screen.markdown)
    assert "".join(screen.query_params["split"]) == COUNTRY
    assert json.loads(screen.code[0].value)["split_by"] == [COUNTRY]


def test_a_link_with_impossible_dates(screen: AppTest) -> None:
    """Of a link with impossible dates that part is left out, and the rest is a file."""
    screen.query_params["start"], screen.query_params["end"] = "2026-02-01", "2026-01-01"
    screen.query_params["split"] = COUNTRY
    screen.run()
    assert not screen.exception
    assert len(boards.shown(screen)) == len(COUNTRIES) + 1
