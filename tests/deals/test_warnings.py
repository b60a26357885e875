"""What is valid in a write and probably a slip: each rule by itself, as the API says it, and to whom."""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from deals.caller import Caller, World, option, package, read, unique
from lib.deals import moments
from lib.deals.client import Deals, Write
from lib.deals.comparisons import Case, PriceScale, Promise, Supply
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.deals.targeting import public_lists
from lib.deals.warnings import RULES, DealWarning, factor, judge
from lib.demo import curation
from lib.demo.population import PLATFORMS

NOW = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
WINS = PriceScale(Decimal("1.99"), Decimal("2.13"), "the lower quartile", "the upper quartile")
IN_PACKAGE = [(Decimal(2), "USD"), (Decimal(5), "USD")]
FEE, FEE_TYPE = "agency_curation_fee", "agency_curation_fee_type"


def values(**terms: Any) -> dict[str, Any]:
    """Terms whose texts that are numbers are decimals."""
    return {
        name: Decimal(value) if isinstance(value, str) and value[:1].isdigit() else value
        for name, value in terms.items()
    }


def deal(before: dict[str, Any] | None = None, after: dict[str, Any] | None = None, **facts: Any) -> Case:
    """A change of a deal, or without `before` a new one."""
    old, new = values(**(before or {})), values(**(after or {}))
    return Case("deal", old | new, frozenset(new), NOW, old, "USD", **facts)


def supply(before: dict[str, Any] | None = None, after: dict[str, Any] | None = None, **facts: Any) -> Case:
    """The same of a package."""
    return replace(deal(before, after, **facts), of="package")


def sentences(case: Case, *kinds: str) -> list[str]:
    """What is said of a case, by rules of these kinds."""
    return [warning.sentence for warning in judge(case) if not kinds or warning.kind in kinds]


@pytest.mark.parametrize("price", ["15", "19", "30", "0.19", "0.015", "24", "0.02", "6.40", "0.66"])
def test_prices_beside_wins_that_are_asked(price: str) -> None:
    """Beyond three times the upper quartile, and below a third of the lower one, with both figures named."""
    [sentence] = sentences(deal(after={"price": price}, wins=WINS, prices=IN_PACKAGE))
    assert price in sentence
    assert ("2.13" if Decimal(price) > 2 else "1.99") in sentence


@pytest.mark.parametrize("price", ["6.39", "0.67", "0.6634", "2", "1.99", "2.13", "1", "5"])
def test_prices_beside_wins_that_pass(price: str) -> None:
    """Up to three times the upper quartile, and down to a third of the lower one."""
    assert sentences(deal(after={"price": price}, wins=WINS, prices=IN_PACKAGE)) == []


@pytest.mark.parametrize(
    ("before", "price", "sentence"),
    [
        ("1.61", "16.1", "A price of 16.10, 10 times the price before (1.61)."),
        ("2.16", "19.00", "A price of 19.00, 8.8 times the price before (2.16)."),
        ("2.00", "0.2", "A price of 0.20, 10 times below the price before (2.00)."),
        ("2", "6", ""),
        ("2", "6.000001", "A price of 6.000001, 3 times the price before (2.00)."),
        ("3", "1", ""),
        ("3", "0.999999", "A price of 0.999999, 3 times below the price before (3.00)."),
        ("2", "0", "A price of 0."),
        ("900", "1000", "A price of 1,000.00."),
        ("900", "999.99", ""),
    ],
)
def test_the_price_before_counts_first(before: str, price: str, sentence: str) -> None:
    """A change is compared with the price that it replaces, whatever was won; three times is no slip."""
    assert sentences(deal({"price": before}, {"price": price}, wins=WINS)) == [*filter(None, [sentence])]


def test_list_prices_of_the_package_count_last_and_in_their_currency() -> None:
    """Without a price before and without wins it is compared with the lowest and highest of the package; in a
    currency that no other price has, that is said and asks nothing."""
    [dear] = sentences(deal(after={"price": "15.01"}, prices=IN_PACKAGE))
    assert dear.endswith("the highest other price in the package (5.00).")
    [cheap] = sentences(deal(after={"price": "0.66"}, prices=IN_PACKAGE))
    assert cheap.endswith("the lowest other price in the package (2.00).")
    assert sentences(deal(after={"price": "15"}, prices=IN_PACKAGE)) == []
    [alone] = judge(deal(after={"price": "2.05", "currency": "JPY"}, prices=IN_PACKAGE))
    assert (alone.asks, alone.sentence) == (
        False, "A price of 2.05 JPY, with no other in JPY to compare with."
    )  # fmt: skip
    in_yen = [*IN_PACKAGE, (Decimal(300), "JPY")]
    [low] = judge(deal(after={"price": "2.05", "currency": "JPY"}, prices=in_yen))
    assert (low.asks, low.before) == (True, 300)


def test_nothing_to_compare_with() -> None:
    """A price before of 0, or none, is no scale; a price alone is asked from 1,000 up, and for 0."""
    assert PriceScale.at(Decimal(0), "") is None
    assert PriceScale.of_package([None, Decimal(0)]) is None
    texts = [sentences(deal(after={"price": price})) for price in (None, "999", "1000", "0")]
    assert texts == [[], [], ["A price of 1,000.00."], ["A price of 0."]]


def test_another_currency_at_the_same_price() -> None:
    """It is asked; with another price it is a price that no price before can be compared with."""
    assert sentences(deal({"price": "2"}, {"currency": "EUR"})) == ["The same price in EUR as before in USD."]
    assert not judge(deal({"price": "2"}, {"currency": "EUR", "price": "2.1"}))[0].asks


@pytest.mark.parametrize(("larger", "smaller", "text"), [("19", "2.16", "8.8"), ("10000", "1", "10,000")])
def test_factors(larger: str, smaller: str, text: str) -> None:
    """With at most two decimals, and none that say nothing."""
    assert factor(Decimal(larger), Decimal(smaller)) == text


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ({FEE: "0.25", FEE_TYPE: 3, "price": "1.5"}, {FEE: "25"}, "not less than the price (1.50)"),
        ({"price": "0"}, {FEE: "25", FEE_TYPE: 3}, "not less than the price (0.00)"),
        ({FEE: "1", FEE_TYPE: 3, "price": "2"}, {"price": "0.9"}, "not less than the price (0.90)"),
        ({FEE: "10", FEE_TYPE: 1}, {FEE: "99"}, "99 % of spend"),
        ({}, {FEE: "95", FEE_TYPE: 1}, "above 30 %"),
        ({FEE: "0.1", FEE_TYPE: 3, "price": "2"}, {FEE: "0.31"}, "3.1 times the fee before (0.10)"),
        ({FEE: "100", FEE_TYPE: 2}, {FEE: "33"}, "3.03 times below the fee before (100.00)"),
        ({FEE: "10", FEE_TYPE: 1}, {FEE: "30"}, ""),
        ({"budget": "100"}, {FEE: "50", FEE_TYPE: 2}, "50 % of the budget (100.00)"),
        ({"budget": "100"}, {FEE: "30", FEE_TYPE: 2}, ""),
        ({"price": "2", "units": 1_000_000}, {FEE: "900", FEE_TYPE: 2}, "45 % of what the guaranteed"),
        ({"price": "2"}, {FEE: "100000", FEE_TYPE: 2}, "A fee of 100,000.00"),
        ({"price": "2"}, {FEE: "99999", FEE_TYPE: 2}, ""),
        ({FEE: "90000", FEE_TYPE: 2}, {FEE: "100000"}, ""),
        ({FEE: "95", FEE_TYPE: 1, "price": "2"}, {"price": "2.1"}, ""),
        ({FEE: "100", FEE_TYPE: 2, "price": "2"}, {FEE: "1", FEE_TYPE: 3}, ""),
        ({}, {FEE: None, FEE_TYPE: 4}, ""),
    ],
)
def test_fees(before: dict[str, Any], after: dict[str, Any], word: str) -> None:
    """A fee at or above the price, above 30 % of spend or of the deal's whole value, or beyond three times
    the one before is asked; a flat one without any of these from 100,000 up."""
    texts = sentences(deal(before, after), "fee_slip")
    assert [word in sentence for sentence in texts] == ([True] if word else []), texts


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ({"price": "2"}, {"budget": "0.01"}, "less than 1,000 impressions cost (2.00)"),
        ({"price": "2", "budget": "1000"}, {"budget": "10000"}, "10 times the budget before"),
        ({"price": "2", "budget": "1000"}, {"budget": "100"}, "10 times below the budget before"),
        ({}, {"budget": "0"}, "a budget of 0"),
        ({"price": "2", "budget": "1000"}, {"budget": "3000"}, ""),
        ({"price": "2", "budget": "1000"}, {"budget": None}, "the budget of 1,000.00 is removed"),
        ({"price": "2"}, {"budget": "5000000"}, "a first budget of 5,000,000.00"),
        ({}, {"budget": "1000000"}, "a first budget of 1,000,000.00"),
        ({"price": "2"}, {"budget": "999999"}, ""),
        ({"price": "300", "currency": "JPY"}, {"budget": "2000000"}, ""),
        ({"price": "300", "currency": "JPY"}, {"budget": "3000000"}, "a first budget of 3,000,000.00"),
        ({"price": "2", "units": 10**9}, {"budget": "3000000"}, ""),
        (
            {"price": "2", "units": 10**6},
            {"budget": "20000"},
            "10 times what the guaranteed impressions cost",
        ),
        ({"price": "2", "budget": "1000000"}, {"budget": "1100000"}, ""),
        ({"price": "2", "budget": "1"}, {"name": "Other"}, ""),
    ],
)
def test_budgets(before: dict[str, Any], after: dict[str, Any], word: str) -> None:
    """A budget that buys nothing, is removed, or is beyond three times the one before or the guarantee is
    asked; a first one from a million up, unless that buys fewer than ten million impressions."""
    texts = sentences(deal(before, after), "budget_slip")
    assert [word.lower() in sentence.lower() for sentence in texts] == ([True] if word else []), texts


@pytest.mark.parametrize(
    ("price", "units", "budget", "is_odd"),
    [
        ("5", 1_000_000, "5000", False),
        ("5", 1_000_001, "5000", True),
        ("0.01", 500_000_000, "4999.99", True),
        ("5", None, "1", False),
        (None, 5, "1", False),
        ("5", 1_000_000, None, False),
    ],
)
def test_a_guarantee_that_costs_more_than_the_budget(
    price: str | None, units: int | None, budget: str | None, is_odd: bool
) -> None:
    """Guaranteed impressions at a price per thousand may come to the budget, and not to more."""
    texts = sentences(deal(after={"price": price, "units": units, "budget": budget}), "budget_exceeded")
    assert bool(texts) is is_odd
    assert all("budget" in sentence for sentence in texts)


@pytest.mark.parametrize(
    ("start", "end", "running", "word"),
    [
        (None, -1, 0, "an end in the past, on 29 Nov 2026."),
        (None, -1, 3, "3 deals that run now stop at once"),
        (300, None, 1, "1 deal that runs now stops until then"),
        (300, None, 0, "the start moves by 330 days, from 1 Nov 2026 to 27 Sep 2027"),
        (-211, None, 3, "the start moves by 181 days"),
        (150, None, 0, ""),
        (None, 1826, 0, ""),
        (None, 1827, 3, "more than five years ahead"),
        (None, 30, 3, ""),
    ],
)
def test_dates(start: int | None, end: int | None, running: int, word: str) -> None:
    """A start that stops what runs or moves by half a year, an end that has passed, and one that is far ahead
    are asked; what a past end does is said by whether something runs."""
    before = {"start_date": NOW - 30 * DAY, "end_date": NOW + 10 * DAY}
    after = {
        name: NOW + days * DAY
        for name, days in (("start_date", start), ("end_date", end))
        if days is not None
    }
    texts = sentences(supply(before, after, running=running))
    assert [word.lower() in sentence.lower() for sentence in texts] == ([True] if word else []), texts


@pytest.mark.parametrize(
    ("end", "count"),
    [("2026-12-01 00:00:00+0000", 1), ("2026-12-01 00:00:01+0000", 0), ("2026-11-30 23:00:00-0200", 0)],
)
def test_dates_that_are_over(end: str, count: int) -> None:
    """A package is over from its end on, in its own time zone."""
    assert len(sentences(supply(after={"end_date": moments.parse(end)}))) == count


@pytest.mark.parametrize(
    ("before", "units", "is_odd"),
    [(1_000_000, 100, True), (1_000_000, 3_000_001, True), (1_000_000, 3_000_000, False), (None, 100, False)],
)
def test_units_beside_those_before(before: int | None, units: int, is_odd: bool) -> None:
    """Units more than three times those before, or less than a third, are asked about; first ones are not."""
    texts = sentences(deal(before={"units": before}, after={"units": units}), "units_slip")
    assert texts == ([f"{units:,} impressions, where the deal had {before:,}."] if is_odd else [])


def promise(units: int, end: dt.datetime | None, start: dt.datetime | None = None) -> Promise:
    """A package that ends then, and promises so many."""
    return Promise(Decimal(units), SupplyPackage(start_date=start, end_date=end))


@pytest.mark.parametrize(
    ("units", "days", "available", "word"),
    [
        (100, 10, 100.0, ""),
        (101, 10, 100.0, "about 100"),
        (10**9, 10, None, "not compared with a report"),
        (100, None, None, "without an end"),
        (100, -1, 1.0, ""),
    ],
    ids=["just enough", "one too many", "report not known", "no end", "over already"],
)
def test_a_guarantee_against_what_there_is(
    units: int, days: int | None, available: float | None, word: str
) -> None:
    """Guaranteed impressions are compared with the forecast of the days that are left; without a report that
    is said, and asks nothing."""
    end = None if days is None else NOW + days * DAY
    facts = Supply(available) if available is not None else None
    case = deal(
        after={"units": units}, promise=promise(units, end), supply=facts, packages=[{"end_date": end}]
    )
    warnings = judge(case)
    assert [word in warning.sentence for warning in warnings] == ([True] if word else []), warnings
    assert all(warning.asks is ("not compared" not in warning.sentence) for warning in warnings)


def test_days_before_the_start_do_not_count() -> None:
    """A package that starts later has the days from its start to its end."""
    assert promise(1, NOW + 10 * DAY, NOW + 5 * DAY).days(NOW) == 5
    assert promise(1, NOW + 10 * DAY, NOW - 5 * DAY).days(NOW) == 10


SECRETS: dict[str, Any] = {
    "wins": PriceScale(Decimal("7.77"), Decimal("7.77"), "what seat Otto won", "what seat Otto won"),
    "prices": [(Decimal("7.77"), "USD")], "packages": [{"end_date": None, "name": "Otto"}],
    "twins": (777, "Otto"), "running": 777, "same_price": "Otto", "supply": Supply(777.0, "Otto"),
    "promise": Promise(Decimal(777_777), SupplyPackage(end_date=NOW + DAY), ((Seat(name="Otto"), None),)),
    "lacks": {"country": {"Otto": True}},
}  # fmt: skip
OFFER = {
    "price": "1.80", "units": 1_000_000, "start_date": NOW - 30 * DAY, "end_date": NOW + 30 * DAY,
    "budget": "7.77", FEE: "7.77",
}  # fmt: skip


@pytest.mark.parametrize(
    "after",
    [
        {"price": "17.50"}, {"price": "0.175"}, {"price": "0"}, {"price": "5400"}, {"units": 10},
        {"end_date": NOW - DAY}, {"end_date": NOW + 3000 * DAY}, {"start_date": NOW + 9 * DAY},
        {"price": "1.9", "units": 1_100_000},
        {"budget": "0.01", FEE: "99", FEE_TYPE: 3, "currency": "JPY", "supply_deals": (), "seat": {"id": 1}},
    ],
)  # fmt: skip
def test_a_buyer_reads_nothing_that_their_page_does_not_show(after: dict[str, Any]) -> None:
    """Whatever the case knows (won prices, other deals and seats, bookings, budget, fee), a buyer's sentence
    has the figures of the offer and of what they typed, and rules for the house say nothing."""
    for of in ("offer", "deal", "package"):
        case = replace(deal(OFFER, after, **SECRETS), of=of)  # type: ignore[arg-type]
        warnings = judge(case, "buyer")
        text = json.dumps([str(warning.body) for warning in warnings])
        assert not any(secret in text for secret in ("7.77", "777", "Otto", "won", "package")), text
        assert {warning.kind for warning in warnings} <= {
            rule.kind for rule in RULES if "buyer" in rule.readers
        }


@pytest.mark.parametrize("reader", ["house", "buyer"])
@pytest.mark.parametrize(
    ("after", "word"),
    [
        ({"price": "17.50"}, "9.72 times {price} (1.80)"),
        ({"price": "0.175"}, "10.29 times below {price} (1.80)"),
        ({"units": 10_000_000}, "where {deal} has 1,000,000"),
        ({"end_date": NOW - DAY}, "an end in the past"),
        (
            {"start_date": NOW + 9 * DAY},
            "to 10 Dec 2026 from 1 Nov 2026, which has passed: nothing runs until",
        ),
        ({"start_date": NOW - 9 * DAY}, ""),
        ({"start_date": NOW - 300 * DAY}, "the start moves by 270 days, from 1 Nov 2026 to 4 Feb 2026"),
        ({"price": "2.10"}, ""),
    ],
)
def test_counter_offers(after: dict[str, Any], word: str, reader: Any) -> None:
    """A counter-offer of the buyer is compared with the offer, one of the house with the deal, whose own
    offer of before may be the slip."""
    titles = {"buyer": ("the offer", "the offer"), "house": ("the deal", "the deal's price")}
    deal_title, price_title = titles[reader]
    word = word.format(deal=deal_title, price=price_title)
    texts = [warning.sentence for warning in judge(replace(deal(OFFER, after), of="offer"), reader)]
    assert [word.lower() in sentence.lower() for sentence in texts] == ([True] if word else []), texts


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"budget": "1000"}, {"budget": "160000"}),
        ({FEE_TYPE: 2, FEE: "100"}, {FEE_TYPE: 2, FEE: "16000"}),
        ({FEE_TYPE: 3, FEE: "0.5"}, {FEE: "80"}),
    ],
)
def test_budgets_and_fees_of_two_currencies_are_not_compared(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    """A budget or fee that changes with the currency is compared with none in the one before; in the same
    currency it is."""
    old, new = {"price": "2", "currency": "EUR", **before}, {"price": "320", **after}
    assert sentences(deal(old, {**new, "currency": "JPY"}), "budget_slip", "fee_slip") == []
    [asked] = sentences(deal(old, {**new, "currency": "EUR"}), "budget_slip", "fee_slip")
    assert "160 times" in asked


def test_a_percentage_has_no_currency() -> None:
    """A fee in percent of spend that grows from 1 to 25 is asked about, whatever becomes of the currency."""
    before = {"price": "2", "currency": "EUR", FEE_TYPE: 1, FEE: "1"}
    after = {"price": "320", "currency": "JPY", FEE: "25"}
    assert sentences(deal(before, after), "fee_slip") == ["A fee of 25.00, 25 times the fee before (1.00)."]


def test_a_deal_without_a_seat_has_no_new_one() -> None:
    """A seat that is removed is no new seat with the contact of the one before."""
    before = {"seat": {"id": 1}, "contact_email": "buyer@beta.example"}
    assert sentences(deal(before, {"seat": None}), "old_contact") == []


def test_many_warnings_are_counted() -> None:
    """A request with a thousand unknown values is answered with twenty sentences and a count of the rest."""
    places = [{"type": "country", "value": f"Narnia {number} " + "x" * 150} for number in range(1_000)]
    texts = sentences(supply(after={"geo_targetings": places}))
    assert len(texts) == 21
    assert texts[-1] == "980 more warnings"
    assert max(map(len, texts)) < 150


def test_the_demo_has_usual_values() -> None:
    """Each device and size that the demo's report has is in the lists, so that nobody is asked about it."""
    sizes = [size for several in curation.SIZES.values() for size in several if size]
    assert [platform for platform in PLATFORMS if not public_lists.is_known("device", platform)] == []
    assert [size for size in sizes if not public_lists.is_known("size", size)] == []


def test_a_service_without_dry_runs_gets_the_rules_that_need_no_history() -> None:
    """What the write says by itself, and what is known of the entity before, is judged all the same."""
    change = Write("demand_deals", {"price": Decimal(19)}, 1, {"price": Decimal("2.16"), "currency": None})
    [case] = change.cases
    assert [warning.kind for warning in judge(case)] == ["price_slip"]
    options = [{"seat": {"id": 1}, "price": Decimal(2), "budget": Decimal("0.01")}]
    new = Write("supply_deals", {"name": "New", "create_demand_deals": {"demand_deals_options": options}})
    kinds = [[warning.kind for warning in judge(case)] for case in new.cases]
    assert kinds == [[], ["budget_slip"]]
    terms = {"seat": {"id": 1}, "contact_email": "buyer@beta.example"}
    [moved] = Write("demand_deals", {"seat": Seat(id=2)}, 1, terms).cases
    assert sentences(moved) == ["A new seat with the contact of the one before, buyer@beta.example."]


def test_what_is_missing_silences_its_own_rule_alone() -> None:
    """A seat without a price, an amount and a time that can't be read, and a kind that the service lacks keep
    nobody from being asked about the rest; JSON of a stored proposal is compared as what a form has."""
    options = [
        {"seat": {"id": 1}, "budget": "0.01", "price": "2"},
        {"seat": {"id": 2}, "price": "two", "agency_curation_fee": 95, "agency_curation_fee_type": 1},
    ]
    package = {"end_date": "2024-01-01 00:00:00+0000", "start_date": "soon", "media_type": "hologram"}
    new = Write("supply_deals", {**package, "create_demand_deals": {"demand_deals_options": options}})
    kinds = [[warning.kind for warning in judge(case)] for case in new.cases]
    assert kinds == [["end_slip"], ["budget_slip"], ["fee_slip"]]
    before = {"price": 2.16, "start_date": "2026-03-01 09:00:00+0100", "seat": Seat(id=1)}
    stored = Write("demand_deals", {"price": 19, "supply_deals": []}, 1, before)
    assert [sentence for case in stored.cases for sentence in sentences(case)] == [
        "A price of 19.00, 8.8 times the price before (2.16)."
    ]
    moved = Write("supply_deals", {"start_date": "2099-03-01 09:00:00+0100"}, 1, before)
    assert [warning.kind for case in moved.cases for warning in judge(case)] == ["start_moved"]
    for text in ("NaN", "Infinity", float("nan")):
        odd = Write("demand_deals", {"price": text, "budget": "0"}, 1, {"price": Decimal(2)})
        assert [warning.kind for case in odd.cases for warning in judge(case)] == ["budget_slip"]


# By the API.

ODD: dict[str, Any] = {
    "geo_targetings": [{"type": "country", "value": country} for country in ("US", "deu", "Narnia")]
    + [{"type": "city", "value": "Minas Tirith"}],
    "device_targetings": [{"value": device} for device in ("smartphone", "Connected TV", "palantir")],
    "size_targetings": [{"width": 300, "height": 250}, {"width": 3000, "height": 25}],
    "start_date": "2024-01-01 00:00:00+0000",
    "end_date": "2024-02-01 00:00:00+0000",
}
SAID = [
    "Dates wholly in the past: it ends on 31 Jan 2024 and never delivers.",
    "'Narnia' is no country code of ISO 3166-1.",
    "'palantir' is no usual type of device.",
    "3000x25 is no usual size of an ad.",
]


def test_a_creation_is_done_and_warned_about(manager: Caller) -> None:
    """The answer to a creation names unknown targets and dates that are over; a repeat answers the same, and
    a package without any has no such field."""
    key = {"Idempotency-Key": unique("key")}
    body = package(**ODD)
    for _ in range(2):
        assert read(manager.ask("POST", "supply_deals/", body, key), 201)["warnings"] == SAID
    assert "warnings" not in read(manager.ask("POST", "supply_deals/", package()), 201)


def test_a_change_is_warned_about_in_a_header(manager: Caller) -> None:
    """A change has no body: its warnings are a header, and stand with the results of a list of changes. They
    are about the fields of the request alone, and not about targets that were there."""
    package_id = manager.make("supply_deals", package())["id"]
    odd = {"geo_targetings": [{"type": "country", "value": "Nárnia"}]}
    answer = manager.ask("PUT", f"supply_deals/{package_id}/", odd)
    assert answer.status_code == 204
    assert json.loads(answer.headers["tranche-warnings"]) == ["'Nárnia' is no country code of ISO 3166-1."]
    for same in ({"name": unique("Renamed")}, odd):
        assert "tranche-warnings" not in manager.ask("PUT", f"supply_deals/{package_id}/", same).headers
    odd = {"geo_targetings": [{"type": "country", "value": "Gondor"}]}
    body = [{"id": package_id, **odd}, {"id": 10**9, **odd}]
    [first, second] = manager.ask("PUT", "supply_deals/", body).json()["results"]
    assert first["warnings"] == ["'Gondor' is no country code of ISO 3166-1."]
    assert (second["status"], "warnings" in second) == (404, False)


def test_the_api_warns_of_terms_at_odds(manager: Caller, there: World) -> None:
    """A deal alone, and deals with a package, are created, and the answer warns of too low a budget."""
    terms: dict[str, Any] = {"deal_type": "guaranteed", "units": 1_000_000, "budget": 10}
    answer = manager.ask("POST", "demand_deals/", {"name": unique("Deal"), **option(there.ada), **terms})
    assert [warning for warning in answer.json()["warnings"] if "budget of 10.00" in warning]
    end = f"{dt.datetime.now(dt.UTC).date() + 100 * DAY} 00:00:00+0000"
    new_deals = {"demand_deals_options": [option(there.ada) | terms]}
    body = package(end_date=end, create_demand_deals=new_deals)
    warning, silent = manager.ask("POST", "supply_deals/", body).json()["warnings"]
    assert "budget of 10.00" in warning
    assert "not compared with a report" in silent


def warnings_of(manager: Caller, method: str, path: str, body: Any) -> list[DealWarning]:
    """The warnings of a dry run."""
    results = read(manager.ask(method, path, body, dry_run="true"), 200)["results"]
    return [DealWarning(**warning) for result in results for warning in result["warnings"]]


def test_a_second_deal_of_a_seat_in_a_package_is_asked(manager: Caller, there: World) -> None:
    """Alone, in a batch, within one request and with a package: not where a deal stays what it is."""
    new_deals = {"demand_deals_options": [option(there.ada)]}
    new_package = manager.make("supply_deals", package(create_demand_deals=new_deals))
    second = {"name": unique("Second"), **option(there.ada), "supply_deals": [{"id": new_package["id"]}]}
    other = {**second, **option(there.bob)}
    kinds: list[Sequence[str]] = [
        [warning.kind for warning in warnings_of(manager, *request)]
        for request in (
            ("POST", "demand_deals/", second),
            ("POST", "demand_deals/", other),
            ("POST", "demand_deals/batch/", [other, {**other, "name": unique("Twin")}]),
            ("PUT", f"supply_deals/{new_package['id']}/", {"create_demand_deals": new_deals}),
            ("PUT", f"demand_deals/{new_package['demand_deals'][0]['id']}/", {"seat": {"id": there.ada}}),
        )
    ]
    assert kinds == [["second_deal"], [], ["second_deal", "second_deal"], ["second_deal"], []]
    [named] = warnings_of(manager, "POST", "demand_deals/", second)
    assert new_package["demand_deals"][0]["name"] in named.sentence


def test_a_deal_left_without_a_package_is_asked(manager: Caller, client: Deals, there: World) -> None:
    """By its package or by itself; not while it has another, not where it never had one. The client of a
    change has the sentence too."""
    new_deals = {"demand_deals_options": [option(there.ada), option(there.bob)]}
    new_package, other = (manager.make("supply_deals", package(create_demand_deals=new_deals)) for _ in "ab")
    first, second = new_package["demand_deals"]
    packages = [{"id": new_package["id"]}, {"id": other["id"]}]
    kinds = {"no_package"}

    def asked(path: str, body: Any) -> list[str]:
        warnings = warnings_of(manager, "PUT", path, body)
        return [warning.sentence for warning in warnings if warning.kind in kinds and warning.asks]

    own, both = f"supply_deals/{new_package['id']}/", f"{first['name']} and 1 more are left without a package"
    assert asked(own, {"demand_deals": []}) == [f"{both}, and can't be bought."]
    assert asked(own, {"demand_deals": [{"id": first["id"]}]}) == [
        f"{second['name']} is left without a package, and can't be bought."
    ]
    assert asked(own, {"demand_deals": [{"id": first["id"]}, {"id": second["id"]}]}) == []
    alone = "The deal is left without a package, and can't be bought."
    assert asked(f"demand_deals/{first['id']}/", {"supply_deals": []}) == [alone]
    assert asked("demand_deals/", [{"id": first["id"], "supply_deals": []}]) == [alone]
    manager.change("demand_deals", first["id"], supply_deals=packages)
    assert asked(f"demand_deals/{first['id']}/", {"supply_deals": packages[1:]}) == []
    assert asked(own, {"demand_deals": [{"id": second["id"]}]}) == []
    assert client.change(DemandDeal, second["id"], {"supply_deals": []}) == [alone]
    assert client.change(DemandDeal, second["id"], {"supply_deals": [], "price": Decimal(2)}) == []


def test_a_start_that_stops_running_deals_is_asked(manager: Caller, there: World) -> None:
    """A package whose deals run now is asked about when its start moves ahead; of one without
    deals half a year is."""
    new_deals = {"demand_deals_options": [option(there.ada), option(there.bob)]}
    running = manager.make("supply_deals", package(create_demand_deals=new_deals, end_date=None))["id"]
    empty = manager.make("supply_deals", package(end_date=None))["id"]
    start = {"start_date": "2099-11-01 00:00:00+0000"}
    [warning] = warnings_of(manager, "PUT", f"supply_deals/{running}/", start)
    assert warning.sentence == "The start moves to 1 Nov 2099: 2 deals that run now stop until then."
    [moved] = warnings_of(manager, "PUT", f"supply_deals/{empty}/", start)
    assert moved.sentence.startswith("The start moves by 26,907 days, from 1 Mar 2026 to")
    soon = {"start_date": "2026-06-01 00:00:00+0000"}
    assert warnings_of(manager, "PUT", f"supply_deals/{empty}/", soon) == []
    past = Write("supply_deals", {"end_date": dt.datetime(2024, 1, 1, tzinfo=dt.UTC)}, 1, {"end_date": None})
    [case] = past.cases
    assert [warning.kind for warning in judge(case)] == ["end_slip"]
