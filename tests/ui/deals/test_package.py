"""A package that is being set up: the request that the form makes, the review in words, and its problems."""

import datetime as dt
import json
from decimal import Decimal

import pandas as pd
import pytest

from lib.deals.models import DemandDeal, Dsp, GeoTarget, Seat, SupplyPackage, Targeting, ValueTarget
from lib.figures.deals.field_text import Prices, amount, offset
from lib.reporting.answers import Audience, Total
from lib.slicers import dates
from lib.slicers.models import AudienceSource, DataField, Slicer
from lib.ui.deals.changes import merge
from lib.ui.deals.drawer import clone
from lib.ui.deals.forms.draft import Draft, Terms, dump_draft, fault_labels, load_draft
from lib.ui.deals.forms.draft_text import sentences
from lib.ui.deals.new_package import screen
from lib.ui.kit.field_problems import FieldProblems
from lib.wire.errors import Invalid

SEATS = {1: Seat(id=1, name="Alpha", external_id="x1", dsp=Dsp(id=1, name="D1")), 2: Seat(id=2, name="Beta")}
US = Targeting(geo_targetings=(GeoTarget(type="country", value="US"),))


def own_terms(is_active: bool, fee_type: int | None, fee: str, contact: str) -> dict[str, object]:
    """The terms of a copied deal that differ from those of the others, as typed."""
    return {
        "is_active": is_active,
        "agency_curation_fee_type": fee_type,
        "agency_curation_fee": fee,
        "contact_email": contact,
    }


FULL = Draft.of(
    name="Morning News",
    media_type="banner",
    start_date="2026-11-22 09:00",
    end_date="2026-12-01",
    zone=330,
    targeting=US,
    seats={1: Terms("2.5", True), 2: Terms()},
    agency_curation_fee_type=1,
    agency_curation_fee="5",
    contact_email="a@b.example",
)


def test_request() -> None:
    """One request has everything, in the API's words; what is missing is not made up."""
    sent = FULL.package().body()
    assert sent == {
        "name": "Morning News",
        "media_type": "banner",
        "start_date": "2026-11-22 09:00:00+0530",
        "end_date": "2026-12-02 00:00:00+0530",
        "is_active": True,
        "is_dynamic_bidding": False,
        "is_true_price_opt_enable": False,
        "geo_targetings": ({"type": "country", "value": "US"},),
        "create_demand_deals": {
            "demand_deals_options": (
                {"seat": {"id": 1}, "price": Decimal("2.5"), "deal_sync": True},
                {"seat": {"id": 2}, "deal_sync": False},
            ),
            "agency_curation_fee_type": 1,
            "agency_curation_fee": Decimal("5"),
            "contact_email": "a@b.example",
        },
    }


def test_request_with_existing_deals() -> None:
    """Linking existing deals leaves the seats out, which were chosen before."""
    sent = Draft.of(name="X", deals="existing", links=(4, 5), seats={1: Terms()}).package().body()
    assert sent["demand_deals"] == ({"id": 4}, {"id": 5})
    assert "create_demand_deals" not in sent


def test_request_without_a_fee() -> None:
    """The fee type "none" has no amount, whatever was typed before."""
    sent = Draft.of(seats={1: Terms()}, agency_curation_fee_type=4, agency_curation_fee="5").package().body()
    assert "agency_curation_fee" not in sent["create_demand_deals"]


@pytest.mark.parametrize(
    ("draft", "untouched"),
    [
        (Draft.of(), True),
        (Draft.of(media_type="video", is_active=False), True),
        (Draft.of(name="X"), False),
        (Draft.of(seats={1: Terms()}), False),
        (Draft.of(targeting=US), False),
        (Draft.of(links=(1,)), False),
    ],
)
def test_untouched(draft: Draft, untouched: bool) -> None:
    """A form counts as touched once something was entered that would be a loss."""
    assert draft.is_untouched is untouched


def test_review() -> None:
    """The review says in words what will be created, and what is missing."""
    assert sentences(FULL, SEATS, {}) == [
        "**Morning News** sells banner supply: US.",
        "From 22 November 2026, 09:00 through 1 December 2026 (UTC+5:30).",
        "2 new deals, prices in USD CPM:\n- **Alpha** (D1) at 2.50, with deal sync\n"
        "- **Beta** *without a price yet*",
        "Agency fee: 5 % of spend. Contact: a@:small[]b.example.",
    ]


def test_review_of_an_empty_form() -> None:
    """An empty form's review names what is not chosen yet."""
    assert sentences(Draft.of(media_type="video"), SEATS, {}) == [
        "A package *without a name yet* sells video supply: all of it.",
        "From a day *not chosen yet* with no end (UTC).",
        "New deals, for seats *not chosen yet*.",
    ]


def test_review_of_links() -> None:
    """Existing deals are named; a paused package with special ways says so."""
    draft = Draft.of(deals="existing", links=(4, 9), is_active=False, is_dynamic_bidding=True)
    assert sentences(draft, SEATS, {4: "Old *deal*"})[1:] == [
        "From a day *not chosen yet* with no end (UTC). It stays paused until somebody resumes it. "
        "It uses dynamic bidding.",
        "2 existing deals linked: Old \\*deal\\*, deal 9.",
    ]


@pytest.mark.parametrize(
    ("minutes", "words"), [(0, "UTC"), (60, "UTC+1"), (-210, "UTC-3:30"), (345, "UTC+5:45")]
)
def test_offsets(minutes: int, words: str) -> None:
    """An offset as people write it."""
    assert offset(minutes) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (Decimal("2"), "2.00"),
        (Decimal("1234.5"), "1,234.50"),
        (Decimal("12.345678"), "12.345678"),
    ],
)
def test_amounts(value: Decimal | None, words: str) -> None:
    """An amount has two decimals, or all that it has."""
    assert amount(value) == words


@pytest.mark.parametrize(
    ("size", "fee_type", "words"),
    [
        (Decimal("12.5"), 1, "12.5 % of spend"),
        (Decimal("5"), 2, "5.00 EUR flat"),
        (Decimal("0.125"), 3, "0.125 EUR CPM"),
        (None, 0, "undisclosed"),
        (None, 4, "none"),
    ],
)
def test_fees_in_words(size: Decimal | None, fee_type: int, words: str) -> None:
    """A fee has its unit: percent, or the currency of the settings."""
    assert Prices("EUR", "CPM").fee(size, fee_type) == words


def test_where_the_form_is_wrong() -> None:
    """Each field that can't be read or is missing is found at its place in the request, and is named."""
    draft = Draft.of(
        name="\u200b",
        start_date="2026-02-31",
        end_date="tomorrow",
        seats={1: Terms("12,50"), 2: Terms(""), 3: Terms("2.5")},
        agency_curation_fee_type=1,
        agency_curation_fee="-4",
        contact_email="bad mail",
    )
    faults = draft.faults()
    row = ("create_demand_deals", "demand_deals_options")
    assert {place: place in faults.wrong for place in faults.all} == {
        ("name",): True,
        ("start_date",): True,
        ("end_date",): True,
        (*row, 0, "price"): True,
        (*row, 1, "price"): False,
        ("create_demand_deals", "agency_curation_fee"): True,
        ("create_demand_deals", "contact_email"): True,
    }
    assert fault_labels(faults, draft.new_deals, SEATS) == [
        "Name", "Start", "End", "Price of Alpha", "Price of Beta", "Fee", "Contact e-mail",
    ]  # fmt: skip
    assert not FULL.faults().wrong
    assert [*FULL.faults().missing.values()] == ["Type a price."]


def test_an_end_before_the_start_is_wrong() -> None:
    """The end is compared with the start."""
    draft = Draft.of(name="X", start_date="2026-12-02", end_date="2026-12-01", deals="none")
    assert draft.faults().wrong == {("end_date",): "The end must be after the start."}


def test_a_draft_is_stored_as_it_was_typed() -> None:
    """What was typed comes back from storage to the letter, what can't be read included."""
    draft = Draft.of(
        name="Half",
        start_date="2041-05",
        targeting=US,
        seats={1: Terms("12,50", True, own_terms(False, 3, "5.", "a@b.example")), 2: Terms("0.10")},
        agency_curation_fee="x",
        links=(4,),
    )
    assert load_draft(json.loads(json.dumps(dump_draft(draft)))) == draft


def deal(number: int, **terms: object) -> DemandDeal:
    """A deal of the seat of this number."""
    return DemandDeal(id=number, seat=Seat(id=number, name=f"S{number}"), **terms)  # type: ignore[arg-type]


def test_a_copy_keeps_the_terms_of_each_deal() -> None:
    """What all deals share is the form's; terms in which they differ, also who is paused, are each seat's."""
    percent = {"agency_curation_fee_type": 1, "agency_curation_fee": Decimal("12.5"), "is_active": True}
    cpm = {"agency_curation_fee_type": 3, "agency_curation_fee": Decimal("5"), "is_active": True}
    deals = [
        deal(1, price=Decimal("2.345678"), contact_email="a@b.example", **percent),
        deal(2, price=Decimal("3"), contact_email="c@d.example", deal_sync=True, **cpm),
        deal(3, price=Decimal("4"), contact_email="a@b.example", **(percent | {"is_active": False})),
        deal(4, price=None, contact_email="a@b.example", **percent),
    ]
    package = SupplyPackage(id=9, name="N" * 200, media_type="video", start_date=dt.datetime.now(dt.UTC))
    draft = clone.copy_of(package, deals)
    assert draft.seats == {
        1: Terms("2.345678", False, own_terms(True, 1, "12.50", "a@b.example")),
        2: Terms("3.00", True, own_terms(True, 3, "5.00", "c@d.example")),
        3: Terms("4.00", False, own_terms(False, 1, "12.50", "a@b.example")),
        4: Terms("", False, own_terms(True, 1, "12.50", "a@b.example")),
    }
    alike = clone.copy_of(package, [deals[0], deals[3]])
    names = ("agency_curation_fee_type", "agency_curation_fee", "contact_email", "price_type")
    assert [alike[name] for name in names] == [1, "12.50", "a@b.example", None]
    assert not any(terms.own for terms in alike.seats.values())
    assert len(draft["name"]) == 200
    assert draft["name"].endswith("… (copy)")
    assert clone.note(deals) == ""
    assert "S1" in clone.note([*deals, deal(1)])


def test_problems_have_places() -> None:
    """Each message is found at its place in the request, and what has no place of its own elsewhere."""
    fields = {
        "name": ["Too long."],
        "geo_targetings": [{}, {"type": ["No."]}],
        "non_field_errors": ["Not both."],
    }
    problems = FieldProblems.of(Invalid(fields), {})
    assert problems.at("name") == ["Too long."]
    assert problems.at("geo_targetings") == problems.at("geo_targetings", 1) == ["No."]
    assert problems.at("geo_targetings", 0) == []
    assert problems.others([("name",)]) == ["geo targetings 2 type: No.", "Not both."]


def test_a_problem_goes_when_its_field_is_changed() -> None:
    """What has been changed since it was sent is not known to be wrong any more; the rest still is."""
    said = Invalid({"name": ["Empty."], "start_date": ["Past."]})
    problems = FieldProblems.of(said, {"name": "", "start_date": "x"})
    assert list(problems.still({"name": "News", "start_date": "x"}).messages) == [("start_date",)]
    assert problems.still({"name": "", "start_date": "x"}).messages == problems.messages


def test_a_meeting_of_two() -> None:
    """Two edits meet: mine stay, theirs are shown where I changed nothing, and each is named."""
    base = {"name": "A", "price": Decimal("2"), "deal_sync": False}
    mine = {"name": "B", "price": Decimal("2.0"), "deal_sync": True}
    theirs = {"name": "C", "price": Decimal("3"), "deal_sync": False}
    together, meetings = merge.merge(base, mine, theirs)
    assert together == {"name": "B", "price": Decimal("3"), "deal_sync": True}
    assert [(meeting.field, meeting.theirs, meeting.mine, meeting.is_mine) for meeting in meetings] == [
        ("name", "C", "B", True),
        ("price", Decimal("3"), None, False),
    ]
    assert merge.edited_fields(theirs, together) == {"name": "B", "deal_sync": True}


def test_only_edits_are_sent() -> None:
    """Of a package that is looked at and not changed nothing is sent, whatever order its targeting has."""
    package = SupplyPackage(
        id=1, name="A", device_targetings=(ValueTarget(value="tv"), ValueTarget(value="pc"))
    )
    other = package.model_copy(update={"device_targetings": package.device_targetings[::-1]})
    assert merge.edited_fields(merge.of(package), merge.of(other)) == {}
    assert merge.edited_fields(merge.of(package), merge.of(other) | {"name": "B"}) == {"name": "B"}


def test_panel() -> None:
    """The panel has bids, impressions, unique users and average win CPM; what a slicer lacks is empty."""
    slicer = Slicer(
        data_fields=(DataField(name="imps"), DataField(name="unique_users"), DataField(name="win_bid_cpm")),
        audience_sources=(AudienceSource(name="users"),),
    )
    empty = pd.DataFrame()
    answers = [
        Audience(empty, empty, empty, Total({"imps": n, "unique_users": 2.0, "win_bid_cpm": 1.5}, 1))
        for n in (7.0, 30.0)
    ]
    frame = screen.table(slicer, answers)
    assert list(frame.columns) == ["Last 7 days", "Last 30 days"]
    assert frame.loc["Impressions"].tolist() == [7.0, 30.0]
    assert frame.loc["Average win CPM"].tolist() == [1.5, 1.5]
    assert frame.loc["Bids"].isna().all()


def test_last_days() -> None:
    """The last days are relative while the data are fresh, and end with the data where they are not."""
    today = dt.date(2026, 11, 21)
    assert dates.last_days(Slicer(last_date="2026-11-20"), today, 7) == ("-7d", "yesterday")
    assert dates.last_days(Slicer(last_date="2026-10-31"), today, 30) == ("2026-10-02", "2026-10-31")
