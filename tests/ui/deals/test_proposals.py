"""Proposals on screen: made in the forms, decided in the dialog, with edits, and stale ones."""

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, clients, package
from hostile import HOSTILE, IMAGE, LINK
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals, to_json
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.proposals.models import Proposal
from lib.deals.proposals.writers import ClientWriter
from lib.people import DealsGrant
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.wire.errors import ResponseTimeout

REASON = "Win rate has fallen since the floor was raised"


@pytest.fixture
def manager(own_deals_home: Path) -> Clients:
    """The manager's clients; the viewer may propose."""
    settings = Settings(home=own_deals_home, demo=True)
    connect.installation(settings).people.change("viewer", deals=DealsGrant("propose"))
    return clients(settings)


@pytest.fixture
def viewer(manager: Clients, own_deals_home: Path) -> Clients:
    """The clients of somebody who may propose."""
    return clients(Settings(home=own_deals_home, demo=True), "viewer")


def of_price(of: Clients, price: str = "2.75", reason: str = REASON, **more: object) -> Proposal:
    """A proposal of another price of deal 1."""
    body = {"entity": "demand_deals", "entity_id": 1, "fields": {"price": Decimal(price)}, "reason": reason}
    return of.proposals.propose({**body, **more}, ClientWriter(of.deals))


def of_package(of: Clients) -> Proposal:
    """A proposal of a package with a deal for seat 1."""
    fields = to_json(package("Quiet Mornings", {1: "4.5"}))
    return of.proposals.propose({"fields": fields, "reason": REASON}, ClientWriter(of.deals))


def markdown(desk: AppTest) -> str:
    """All sentences on screen, as Streamlit gets them."""
    return "\n".join(element.value for element in (*desk.markdown, *desk.caption, *desk.warning, *desk.error))


def words(desk: AppTest) -> str:
    """The same as people read them."""
    return re.sub(r"\\(.)|\u2060", r"\1", markdown(desk))


def test_the_dialog_shows_the_change_in_words(visit: Visit, viewer: Clients) -> None:
    """What, why and by whom, and that there is no estimate."""
    desk = visit("deals", proposal=str(of_price(viewer).id))
    assert "Price, USD CPM: 2.50 → 2.75" in words(desk)
    for text in (REASON, "No estimate of what it will do exists"):
        assert text in words(desk)


def test_an_approval_is_applied_once(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """The price is the proposed one, in the manager's name; the navigation has no number any more."""
    price = of_price(viewer)
    desk = visit("deals", proposal=str(price.id))
    clean(desk.button(key="proposal_approve").click().run())
    assert manager.deals.get(DemandDeal, 1).price == Decimal("2.75")
    assert manager.proposals.get(price.id).state == "approved"
    assert "Approved by manager" in words(desk)


def test_a_proposal_is_approved_where_nothing_can_be_asked(
    visit: Visit, viewer: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that can't be asked what is unwise in a proposal keeps nobody from approving it."""

    def fail(self: Deals, writes: object) -> None:
        raise ResponseTimeout("no answer")

    monkeypatch.setattr(Deals, "warnings_of", fail)
    desk = visit("deals", proposal=str(of_price(viewer).id))
    clean(desk.button(key="proposal_approve").click().run())
    assert viewer.deals.get(DemandDeal, 1).price == Decimal("2.75")


def test_a_decline_has_a_word(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """It is stored and shown; nothing was changed."""
    price = of_price(viewer)
    desk = visit("deals", proposal=str(price.id))
    desk.text_input(key="proposals_word").set_value("Too dear").run()
    clean(desk.button(key="proposal_decline_sure").click().run())
    assert "Declined by manager" in words(desk)
    assert "Too dear" in words(desk)
    assert manager.deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_who_may_only_propose_decides_nothing(visit: Visit, viewer: Clients) -> None:
    """They see it, and may take it back."""
    desk = visit("deals", "viewer", proposal=str(of_price(viewer).id))
    assert REASON in words(desk)
    assert not [button for button in desk.button if button.key in ("proposal_approve", "proposal_edit")]
    assert desk.button(key="proposal_decline_sure")


def test_who_may_only_read_sees_none(visit: Visit, viewer: Clients, own_deals_home: Path) -> None:
    """Neither button nor dialog."""
    price = of_price(viewer)
    settings = Settings(home=own_deals_home, demo=True)
    connect.installation(settings).people.change("viewer", deals=DealsGrant("read"))
    desk = visit("deals", "viewer", proposal=str(price.id))
    assert REASON not in words(desk)
    assert not [button for button in desk.button if button.key == "deals_proposals"]


def test_a_stale_proposal_says_so(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """Both values where they meet, and what stays; it is overwritten on purpose."""
    price = of_price(viewer)
    manager.deals.change(DemandDeal, 1, {"price": Decimal(4), "buyer_note": "Call first"})
    desk = visit("deals", proposal=str(price.id))
    assert "Price, USD CPM went from 2.50 to 4.00; the proposal has 2.75" in words(desk)
    assert "Note to the buyer went from – to Call first, and stays so" in words(desk)
    assert desk.button(key="proposal_approve").label == "Overwrite and approve"
    clean(desk.button(key="proposal_approve").click().run())
    deal = manager.deals.get(DemandDeal, 1)
    assert (deal.price, deal.buyer_note) == (Decimal("2.75"), "Call first")


def test_a_change_is_approved_with_edits(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """The drawer's form has the proposed price; what is saved there is what was approved."""
    price = of_price(viewer)
    desk = visit("deals", proposal=str(price.id))
    clean(desk.button(key="proposal_edit").click().run())
    assert desk.text_input(key="change-demand_deals-1-price").value == "2.75"
    clean(desk.text_input(key="change-demand_deals-1-price").set_value("2.6").run())
    clean(desk.button(key="change-demand_deals-1-_save").click().run())
    assert manager.deals.get(DemandDeal, 1).price == Decimal("2.6")
    done = manager.proposals.get(price.id)
    assert (done.state, done.is_edited, done.decided_by) == ("approved", True, "manager")


def test_a_package_is_approved_with_its_deals(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """The diff says what is created; the package has the proposed deal."""
    proposal = of_package(viewer)
    desk = visit("deals", proposal=str(proposal.id))
    assert "Alpha Buying" in words(desk)
    clean(desk.button(key="proposal_approve").click().run())
    created = manager.deals.get(SupplyPackage, manager.proposals.get(proposal.id).applied_id or 0)
    assert (created.name, len(created.demand_deals)) == ("Quiet Mornings", 1)


def test_a_package_is_approved_with_edits(
    visit: Visit, viewer: Clients, manager: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New package has the proposal's values, also after a reload; created there, it is approved."""
    proposal = of_package(viewer)
    clean(visit("deals", proposal=str(proposal.id)).button(key="proposal_edit").click().run())
    desk = visit("new_package", slicer=SOLD)
    assert desk.text_input(key="np_name").value == "Quiet Mornings"
    desk.text_input(key="np_name").set_value("Quiet Evenings").run()
    clean(desk.button(key="np_create_button").click().run())
    done = manager.proposals.get(proposal.id)
    assert (done.state, done.is_edited) == ("approved", True)
    assert manager.deals.get(SupplyPackage, done.applied_id or 0).name == "Quiet Evenings"
    assert manager.deals.list(SupplyPackage, search="quiet").count == 1


def test_a_change_is_proposed_in_the_drawer(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """Who may only propose has the same form; without a reason it is not sent, and nothing is lost."""
    desk = visit("deals", "viewer", open="demand_deals-1")
    desk.session_state["drawer_shown"] = "Change"
    clean(desk.run())
    clean(desk.text_input(key="change-demand_deals-1-price").set_value("2.9").run())
    clean(desk.button(key="change-demand_deals-1-propose").click().run())
    assert manager.proposals.page(("open",))[0] == 0
    desk.text_area(key="change-demand_deals-1-proposal_reason").set_value(REASON).run()
    clean(desk.button(key="change-demand_deals-1-propose").click().run())
    (proposal,) = manager.proposals.page(("open",))[1]
    assert (proposal.by, proposal.fields, proposal.reason) == ("viewer", {"price": Decimal("2.9")}, REASON)
    assert manager.deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_a_package_is_proposed_in_the_form(visit: Visit, viewer: Clients, manager: Clients) -> None:
    """The form's package; forty days are too few for a range, so it has none."""
    desk = visit("new_package", "viewer", slicer=SOLD)
    desk.text_input(key="np_name").set_value("Quiet Mornings").run()
    desk.segmented_control(key="np_deals").set_value("none").run()
    desk.text_area(key="np_proposal_reason").set_value(REASON).run()
    clean(desk.button(key="np_propose").click().run())
    (proposal,) = manager.proposals.page(("open",))[1]
    assert (proposal.fields["name"], proposal.is_new, proposal.expected) == ("Quiet Mornings", True, None)
    assert manager.deals.list(SupplyPackage, search="quiet").count == 0


@pytest.mark.parametrize(
    ("last", "record"),
    [(6, "held in 27 of 30 past weeks ("), (13, "past fortnights ("), (9, "past periods of 10 days (")],
)
def test_a_range_says_how_often_such_held(visit: Visit, viewer: Clients, last: int, record: str) -> None:
    """The dialog names how often such a range held, in periods as long; nothing where that was not given."""
    first = LAST_DAY + dt.timedelta(days=1)
    days = {"first_day": first.isoformat(), "last_day": (first + dt.timedelta(days=last)).isoformat()}
    expected = {"project": "demo", "slicer": SOLD, "field": "bids", "low": 1, "high": 9, **days}
    counts = {"range_held": 27, "past_periods_tested": 30}
    for price, more, is_there in (("2.75", counts, True), ("2.8", {}, False)):
        proposal = of_price(viewer, price, expected=expected | more)
        sentences = words(visit("deals", slicer=SOLD, proposal=str(proposal.id)))
        assert "1 to 9 bids" in sentences
        assert (record in sentences) == is_there


def test_hostile_text_is_only_text(visit: Visit, viewer: Clients) -> None:
    """A reason with links, images and markup shows as it was typed."""
    desk = visit("deals", proposal=str(of_price(viewer, reason=HOSTILE).id))
    assert LINK not in markdown(desk)
    assert IMAGE not in markdown(desk)
    assert "sign in again" in words(desk)


def test_ones_own_waits_for_somebody_else(visit: Visit, manager: Clients) -> None:
    """Who may write has no button to approve what they proposed themselves, and reads why."""
    desk = visit("deals", proposal=str(of_price(manager).id))
    assert not [button for button in desk.button if button.key in ("proposal_approve", "proposal_edit")]
    assert "Somebody else approves it" in words(desk)
