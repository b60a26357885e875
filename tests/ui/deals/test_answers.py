"""The buyer's answer in the drawer of a deal: what is shown, taken over, answered back, or ended."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import START, Visit, clean, clients, listed
from streamlit.testing.v1 import AppTest

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import Negotiation, OfferTerms, Round
from lib.people import DealsGrant
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.ui.deals.buyers import answer_panel
from lib.ui.deals.buyers.answer_panel import TakeOver
from lib.wire.errors import BadRequest, Conflict

DEAL = 2


@pytest.fixture
def manager(own_deals_home: Path) -> Clients:
    """The manager."""
    return clients(Settings(home=own_deals_home, demo=True))


def negotiation(manager: Clients) -> Negotiation:
    """The negotiation about the deal."""
    deal = manager.deals.get(DemandDeal, DEAL)
    packages = [manager.deals.get(SupplyPackage, package.id or 0) for package in deal.supply_deals]
    return manager.negotiations.of(deal, OfferTerms.of(deal, packages, manager.usual_terms))


def buyer_answers(manager: Clients, act: str, word: str = "", **terms: object) -> None:
    """The buyer answers."""
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    answer = Round("buyer", act, OfferTerms(**terms), "Bea Buyer", word, 7)  # type: ignore[arg-type]
    manager.negotiations.add(deal, now.terms, answer, now.mark)


def drawer(visit: Visit, person: str = "manager") -> AppTest:
    """The facts of the deal."""
    return clean(visit("deals", person, open=f"demand_deals-{DEAL}"))


def press(desk: AppTest, label: str) -> AppTest:
    """Press the button of this label."""
    return clean(next(button for button in desk.button if button.label == label).click().run())


def opened_popovers(desk: AppTest) -> list[str]:
    """The labels of the popovers that are open."""
    blocks = [child.proto.popover for child in desk.get("popover")]
    return [popover.label for popover in blocks if popover.open]


def labels(desk: AppTest) -> list[str]:
    """The labels of all buttons."""
    return [button.label for button in desk.button]


def test_without_an_answer_nothing_is_shown(visit: Visit, manager: Clients) -> None:
    """The section comes with the first round."""
    assert "The buyer's answer" not in " ".join(text.value for text in drawer(visit).markdown)


def test_a_proposal_is_taken_over_with_one_click(visit: Visit, manager: Clients) -> None:
    """What changes is shown before; then the deal has the price, and the buyer reads that it is accepted."""
    buyer_answers(manager, "proposes", "For both quarters", price=Decimal("2.90"))
    desk = drawer(visit)
    assert desk.warning[0].value.startswith("The buyer proposed 2.90 USD CPM")
    assert any("3.00 → 2.90" in text.value for text in desk.markdown)
    press(desk, "Take over")
    now = negotiation(manager)
    assert (now.terms.price, now.is_agreed) == (Decimal("2.90"), True)
    assert now.last is not None
    assert (now.last.side, now.last.act, now.last.who) == ("house", "accepts", "manager")
    assert "Take over" not in labels(drawer(visit))


def test_an_unusual_price_is_asked_about_before(visit: Visit, manager: Clients) -> None:
    """The question of every change of a price is asked here too; until then the button is closed."""
    buyer_answers(manager, "proposes", price=Decimal("2000"))
    desk = drawer(visit)
    take = next(button for button in desk.button if button.label == "Take over")
    assert take.disabled
    box = next(box for box in desk.checkbox if box.label.startswith("Confirm"))
    desk = clean(box.check().run())
    press(desk, "Take over")
    assert negotiation(manager).terms.price == Decimal("2000")


def test_days_are_those_of_the_package(visit: Visit, manager: Clients) -> None:
    """They are taken over where the package has no other deal; else it is said where to change them."""
    first = negotiation(manager).terms.first_day
    assert first is not None
    last = first + timedelta(days=400)
    buyer_answers(manager, "proposes", last_day=last)
    desk = drawer(visit)
    package = manager.deals.get(SupplyPackage, manager.deals.get(DemandDeal, DEAL).supply_deals[0].id or 0)
    is_shared = len(package.demand_deals) > 1
    take = next(button for button in desk.button if button.label == "Take over")
    assert take.disabled is is_shared
    assert any("are those of the package" in text.value for text in desk.caption) is is_shared
    for deal in package.demand_deals:
        if deal.id != DEAL:
            manager.deals.change(DemandDeal, deal.id, {"supply_deals": []})
    press(drawer(visit), "Take over")
    assert negotiation(manager).terms.last_day == last
    end = manager.deals.get(SupplyPackage, package.id or 0).end_date
    assert end is not None
    assert (end - timedelta(seconds=1)).date() == last


def test_days_that_end_before_they_begin_are_not_taken_over(manager: Clients) -> None:
    """As of every other change of a package's dates: nothing is sent, and it is said why."""
    buyer_answers(manager, "proposes", last_day=negotiation(manager).terms.first_day)
    deal = manager.deals.get(DemandDeal, DEAL)
    package = manager.deals.get(SupplyPackage, deal.supply_deals[0].id or 0)
    early = package.model_copy(update={"start_date": (package.start_date or START) + timedelta(days=3)})
    _, [change] = TakeOver.of(negotiation(manager), deal, [early])
    assert not change.is_change
    assert change.refusal == "The end would not be after the start."


def test_the_house_answers_back(visit: Visit, manager: Clients) -> None:
    """A price and a word go to the buyer's page, the deal stays as it is, and the form closes."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    desk = drawer(visit)
    desk.session_state[f"answer_{DEAL}_back"] = True
    clean(desk.run())
    assert opened_popovers(desk) == ["Answer back"]
    desk.text_input(key=f"answer_{DEAL}_price").set_value("2.60")
    desk.text_input(key=f"answer_{DEAL}_word").set_value("Our floor")
    press(desk, "Send to the buyer")
    assert opened_popovers(desk) == []
    now = negotiation(manager)
    assert now.last is not None
    assert (now.last.terms.price, now.last.word, now.terms.price) == (
        Decimal("2.60"), "Our floor", Decimal(3),
    )  # fmt: skip
    assert not now.waits_for_house


def test_an_answer_of_the_house_is_withdrawn(visit: Visit, manager: Clients) -> None:
    """A slip of ours is taken back before the buyer answers it: their proposal waits for us again, and what
    they are offered is the deal as it is."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    desk = drawer(visit)
    desk.text_input(key=f"answer_{DEAL}_price").set_value("8.60")
    press(desk, "Send to the buyer")
    slip = negotiation(manager)
    press(drawer(visit), "Withdraw")
    now = negotiation(manager)
    assert (slip.offer.price, now.offer.price) == (Decimal("8.60"), Decimal(3))
    assert now.waits_for_house
    assert now.changes == {"price": Decimal("2.10")}
    assert DEAL in answer_panel._read_ids(connect.installation(Settings.current()).people.require("manager"))
    with pytest.raises(Conflict):
        manager.negotiations.add(
            manager.deals.get(DemandDeal, DEAL), slip.terms, Round("buyer", "accepts", OfferTerms(), "Bea"),
            slip.mark,
        )  # fmt: skip


def test_an_answer_of_the_house_is_corrected(visit: Visit, manager: Clients) -> None:
    """Before the buyer answers, other terms take the place of those that we proposed."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    for price in ("26", "2.60"):
        desk = drawer(visit)
        desk.text_input(key=f"answer_{DEAL}_price").set_value(price)
        press(desk, "Send to the buyer")
    assert negotiation(manager).offer.price == Decimal("2.60")
    press(drawer(visit), "Withdraw")
    assert negotiation(manager).offer.price == Decimal(3)


def test_a_correction_is_compared_with_the_deal(visit: Visit, manager: Clients) -> None:
    """Beside a slip of ours at 17.50, on a deal at 3, another at 16 is asked about, and 2.60 is not."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    slip = Round("house", "proposes", OfferTerms(price=Decimal("17.50")), "manager")
    manager.negotiations.add(deal, now.terms, slip, now.mark)
    for price, shown in (("16", "a price of 16.00, 5.33 times"), ("2.60", "")):
        desk = drawer(visit)
        desk.text_input(key=f"answer_{DEAL}_price").set_value(price)
        clean(desk.run())
        asked = [box.label for box in desk.checkbox if "price" in box.label]
        assert [shown in label for label in asked] == ([True] if shown else []), asked


def test_nothing_is_withdrawn_that_the_buyer_answered(manager: Clients) -> None:
    """A proposal that was answered, and one of the buyer's, stay."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    with pytest.raises(BadRequest, match="no proposal of ours"):
        manager.negotiations.add(deal, now.terms, Round("house", "withdraws", OfferTerms(), "m"), now.mark)


def test_what_can_not_be_sent_is_said_and_kept(visit: Visit, manager: Clients) -> None:
    """A price that is none stays in its field, with what is wrong beside it."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    desk = drawer(visit)
    desk.text_input(key=f"answer_{DEAL}_price").set_value("cheap")
    desk = press(desk, "Send to the buyer")
    assert desk.text_input(key=f"answer_{DEAL}_price").value == "cheap"
    assert any("Not a number" in text.value for text in (*desk.error, *desk.markdown, *desk.caption))
    assert negotiation(manager).waits_for_house


def test_a_refusal_is_closed(visit: Visit, manager: Clients) -> None:
    """What the buyer declined can be closed; then nobody is asked about it any more."""
    buyer_answers(manager, "declines", "Over budget")
    desk = drawer(visit)
    assert "Take over" not in labels(desk)
    press(desk, "Close without a deal")
    assert not negotiation(manager).waits_for_house


def test_who_may_not_change_deals_only_reads(visit: Visit, own_deals_home: Path, manager: Clients) -> None:
    """They see the rounds and no button."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    settings = Settings(home=own_deals_home, demo=True)
    connect.installation(settings).access.change("manager", "test", deals=DealsGrant("read"))
    desk = drawer(visit)
    assert any("The buyer proposed" in text.value for text in desk.warning)
    assert not {"Take over", "Decline", "Send to the buyer"} & {*labels(desk)}


def test_what_a_buyer_types_stays_text(visit: Visit, manager: Clients) -> None:
    """A word in Markdown or HTML is shown as it was typed."""
    buyer_answers(manager, "declines", "**<b>no</b>** [x](http://bad.example)")
    shown = " ".join(text.value for text in drawer(visit).markdown)
    assert "\\*\\*" in shown
    assert "[x](http" not in shown


def test_the_list_leaves_the_deals_that_wait_for_us(visit: Visit, manager: Clients) -> None:
    """A choice comes with the first answer, and goes once the house has answered."""
    assert "Answered" not in visit("deals", "manager").selectbox(key="show").options
    buyer_answers(manager, "proposes", price=Decimal("2.90"))
    desk = clean(visit("deals", "manager", show="Answered"))
    assert [name.split(" - ")[-1] for name in listed(desk)] == ["Beta Media"]
    now, deal = negotiation(manager), manager.deals.get(DemandDeal, DEAL)
    manager.negotiations.add(
        deal, now.terms, Round("house", "declines", OfferTerms(), "manager", "No"), now.mark
    )
    assert "Answered" not in visit("deals", "manager").selectbox(key="show").options


def test_nothing_is_taken_over_from_other_terms(visit: Visit, manager: Clients) -> None:
    """A price that somebody else changed since the drawer was opened keeps theirs, and the reason is said."""
    buyer_answers(manager, "proposes", price=Decimal("2.90"))
    desk = drawer(visit)
    manager.deals.change(DemandDeal, DEAL, {"price": Decimal("3.30")})
    desk = press(desk, "Take over")
    assert any("Its terms have changed" in text.value for text in desk.error)
    assert negotiation(manager).terms.price == Decimal("3.30")


def test_what_was_taken_over_can_be_undone(visit: Visit, manager: Clients) -> None:
    """It is recorded like any change of several, with the price before."""
    buyer_answers(manager, "proposes", price=Decimal("2.90"))
    press(drawer(visit), "Take over")
    [action] = [
        bulk_action for bulk_action in manager.bulk_actions.recent() if "Taken over" in bulk_action.title
    ]
    [row] = manager.bulk_actions.open_rows(action.number)
    assert (row.before["price"], row.after["price"]) == (3, Decimal("2.90"))


@pytest.mark.parametrize(("price", "word"), [("17.50", "5.83 times"), ("0.175", "17.14 times below")])
def test_a_slip_in_what_we_answer_is_asked(visit: Visit, manager: Clients, price: str, word: str) -> None:
    """Ten times or a tenth of the deal's price is not sent before it is confirmed, and is sent then."""
    buyer_answers(manager, "proposes", price=Decimal("2.10"))
    desk = drawer(visit)
    desk.text_input(key=f"answer_{DEAL}_price").set_value(price)
    desk = press(desk, "Send to the buyer")
    assert negotiation(manager).waits_for_house
    [box] = [box for box in desk.checkbox if "the deal's price" in box.label]
    assert word in box.label
    box.check()
    press(desk, "Send to the buyer")
    last = negotiation(manager).last
    assert last is not None
    assert (last.side, last.terms.price) == ("house", Decimal(price))
