"""Deal sync on the desk: what the DSP says in drawer and history, and its token on the Access page."""

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import httpx
import pytest
from dealing import Visit, clean, clients, table_rows
from streamlit.testing.v1 import AppTest

from lib.deals.abilities import PLAIN
from lib.deals.client import Deals
from lib.deals.models import BuyerSeat, DemandDeal
from lib.people import DealsGrant
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.drawer import details
from lib.wire.errors import Unsupported


def synced(home: Path) -> DemandDeal:
    """The deal 1, with deal sync."""
    deals = clients(Settings(home=home, demo=True)).deals
    deals.change(DemandDeal, 1, {"deal_sync": True, "contact_email": "ada@agency.example"})
    return deals.get(DemandDeal, 1)


def poll(home: Path, deal: DemandDeal, status: int | None = None) -> None:
    """Fetch the deal as its DSP, and report this status."""
    desk = connect.installation(Settings(home=home, demo=True))
    token = desk.access.issue("admin", "deals", "dsp", None, deals=DealsGrant.parse("sync:1"))
    headers, path = {"Authorization": f"Bearer {token}"}, f"/api/deal_sync/{deal.deal_id}/"
    assert desk.http.get(path, headers=headers).status_code == 200
    if status is not None:
        body = {"version": "1.0", "id": deal.deal_id, "buyerstatus": [{"status": status}]}
        assert desk.http.put(f"{path}status/", headers=headers, json=body).status_code == 204


def said(desk: AppTest) -> str:
    """What the drawer says of the DSP."""
    return next(
        (markdown.value for markdown in desk.markdown if ":material/sync:" in markdown.value), ""
    ).replace("\\", "")


def test_status_in_the_drawer(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """The drawer says what the DSP reported and when it fetched the deal last, or that it did not."""
    deal = synced(own_deals_home)
    desk = clean(visit("deals", open="demand_deals-1"))
    assert "The DSP has not reported a status yet." in said(desk)
    assert "It has not fetched the deal yet." in said(desk)
    poll(own_deals_home, deal, 2)
    desk = clean(visit("deals", open="demand_deals-1"))
    today = f"{datetime.now(UTC):%b %Y}"
    assert "The DSP says: rejected on" in said(desk)
    assert "It fetched the deal last on" in said(desk)
    assert said(desk).count(today) == 2
    assert len(set(re.findall(r", by dsp \(token \d+\)\.", said(desk)))) == 1
    assert "by admin" not in said(desk)
    desk.segmented_control(key="drawer_shown").set_value("History").run()
    assert "Buyer's status: – → rejected" in [
        row["What"] for row in table_rows(desk, "Changes, latest first")
    ]


def test_nothing_is_made_up(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """Without deal sync nothing is said; over a service that does not tell, it is not even asked."""
    assert not said(clean(visit("deals", open="demand_deals-2")))
    with pytest.raises(Unsupported), httpx.Client(base_url="https://deals.example") as http:
        Deals(http, "token", abilities=PLAIN).buyer_seat("D-1")


def test_a_seat_without_id(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """A deal that can't be named to its DSP says why it is not fetched."""
    synced(own_deals_home)
    clients(Settings(home=own_deals_home, demo=True)).deals.change("seats", 1, {"external_id": None})
    assert "the seat has no id at the DSP" in said(clean(visit("deals", open="demand_deals-1")))


def test_sentences() -> None:
    """Times are those of the browser; a status that the specification does not know is told as it came."""
    body = {"id": "D", "buyerstatus": [{"status": 3}, {"status": 501}]}
    body["ext"] = {"fetched_at": "2026-11-21T09:00:00Z", "fetched_by": "alder"}
    east = timezone(timedelta(hours=1))
    assert details.sentences(BuyerSeat.model_validate(body), east) == [
        "The DSP says: ready to serve.",
        "The DSP says: status 501.",
        "It fetched the deal last on 21 Nov 2026, 10:00 UTC+1, by alder.",
    ]


def test_the_token_of_a_dsp(visit: Visit, own_deals_home: Path) -> None:
    """The Access page makes a token for deal sync of chosen seats, and none without seats."""
    desk = clean(visit("access"))
    desk.selectbox(key="token_service").set_value("deals").run()
    desk.text_input(key="token_name").set_value("Syncing DSP")
    desk.segmented_control(key="token_deals_level_write").set_value("sync").run()
    desk.button(key="token_make").click().run()
    assert any("needs sync, read, propose or write" in error.value for error in desk.error)
    desk.multiselect(key="token_deals_seats").set_value([1]).run()
    clean(desk.button(key="token_make").click().run())
    token = desk.session_state["token_made"]
    opened = connect.installation(Settings(home=own_deals_home, demo=True))
    headers = {"Authorization": f"Bearer {token['text']}"}
    answer = opened.http.get("/api/deal_sync/", headers=headers)
    assert answer.json()["results"] == []
    assert opened.http.get("/api/demand_deals/", headers=headers).status_code == 403
