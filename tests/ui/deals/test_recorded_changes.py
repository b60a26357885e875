"""What is on record about a deal, under What moved of a question that keeps this deal."""

from decimal import Decimal

from dealing import SOLD, Visit
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.kit.markdown import EMPTY

WEEK = {"project": "demo", "slicer": SOLD, "start": "-7d", "end": "today"}


def sentences(desk: AppTest) -> str:
    """All sentences of the screen, as they read."""
    texts = (text.value for text in (*desk.markdown, *desk.caption))
    return "\n".join(text.replace("\\", "").replace(EMPTY, "") for text in texts)


def test_changes_of_a_deal_and_its_package_are_beside_what_moved(visit: Visit, deals: Deals) -> None:
    """Who changed the floor, from what to what, of this deal alone; and what changed about its package."""
    deals.change(DemandDeal, 4, {"price": Decimal("9.5")})
    deals.change(DemandDeal, 1, {"price": Decimal("8.25")})
    deals.change(SupplyPackage, 2, {"name": "Late Sports"})
    shown = sentences(visit("audience", **WEEK, lower="moved", **{"is.deal": "4"}))
    assert "7.00 → 9.50" in shown
    assert "Evening Sports → Late Sports" in shown
    assert "manager" in shown
    assert "8.25" not in shown


def test_no_record_without_a_deal(visit: Visit) -> None:
    """Nothing is on record about a question that keeps no deal, or on another tab."""
    for params in (
        {"is.deal": "4", "lower": "split"},
        {"lower": "moved"},
        {"lower": "moved", "not.deal": "4"},
    ):
        assert "On record" not in sentences(visit("audience", **WEEK, **params)), params


def test_a_deal_without_changes_says_so(visit: Visit) -> None:
    """On days on which nothing was changed, that is what is on record."""
    week = {**WEEK, "start": "-14d", "end": "-8d", "is.deal": "4", "lower": "moved"}
    assert "Nothing was changed" in sentences(visit("audience", **week))
