"""Errors that the form finds in a draft before anything is sent, by their place in the request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lib.deals.models import Seat
from lib.ui.deals.draft import Draft, number
from lib.ui.deals.words import seat_name
from lib.ui.kit import amounts, times
from lib.ui.kit.field_problems import Path
from lib.wire import text

NAME, START, END = ("name",), ("start_date",), ("end_date",)
OPTIONS = ("create_demand_deals", "demand_deals_options")
FEE, EMAIL = ("create_demand_deals", "agency_curation_fee"), ("create_demand_deals", "contact_email")
TITLES: dict[Path, str] = {
    NAME: "Name", START: "Start", END: "End", OPTIONS: "Seats", FEE: "Fee", EMAIL: "Contact e-mail",
}  # fmt: skip
UNDISCLOSED, PERCENT = 0, 1
NO_EMAIL = "Not an e-mail address: write it like deals@agency.example."


@dataclass(frozen=True)
class Faults:
    """Sentences by place: what is `wrong` as it was typed, and what is `missing`."""

    wrong: Mapping[Path, str] = field(default_factory=dict)
    missing: Mapping[Path, str] = field(default_factory=dict)

    @property
    def all(self) -> dict[Path, str]:
        """Both."""
        return {**self.missing, **self.wrong}

    def named(self, draft: Draft, seats: Mapping[int, Seat]) -> list[str]:
        """The fields of these errors by their labels: `Name`, `Price of Bluebird`."""
        rows, order = list(draft.seats), [*TITLES]
        return [
            TITLES.get(place) or f"Price of {seat_name(seats.get(rows[int(place[2])]), rows[int(place[2])])}"
            for place in sorted(self.all, key=lambda at: (order.index(at if at in order else at[:2]), at[2:]))
        ]


def of(draft: Draft, has_fees: bool = True) -> Faults:
    """All of them. `has_fees`: the form offers a fee."""
    wrong, missing = _package(draft)
    if draft.deals == "new":
        _deals(draft, wrong, missing, has_fees)
    return Faults(wrong, missing)


def email(typed: str) -> str:
    """An e-mail address's error; empty for a valid one or none."""
    return NO_EMAIL if typed.strip() and not text.is_email(typed.strip()) else ""


def name(typed: str) -> str:
    """A name's error; empty for a valid one or none."""
    found = text.fault(typed)
    return f"This {found}." if found else ""


def fee(text: str, fee_type: int | None, missing: str = "Type the fee.") -> str:
    """The error in the size of a fee of this type."""
    if found := amounts.fault(text, "" if fee_type == UNDISCLOSED else missing):
        return found
    size = number(text)
    return "A percentage is at most 100." if fee_type == PERCENT and size is not None and size > 100 else ""


def _package(draft: Draft) -> tuple[dict[Path, str], dict[Path, str]]:
    wrong = {NAME: name(draft.name), START: times.fault(draft.start), END: times.fault(draft.end)}
    start, end = draft.moment(draft.start), draft.moment(draft.end)
    if start is not None and end is not None and end <= start:
        wrong[END] = "The end must be after the start."
    missing: dict[Path, str] = {}
    if not draft.name.strip():
        missing[NAME] = "Type a name."
    if not draft.start.strip():
        missing[START] = "Type the start."
    return {place: words for place, words in wrong.items() if words}, missing


def _deals(draft: Draft, wrong: dict[Path, str], missing: dict[Path, str], has_fees: bool) -> None:
    if not draft.seats:
        missing[OPTIONS] = "Choose seats, or another way to get deals."
    for place, terms in enumerate(draft.seats.values()):
        where = (*OPTIONS, place, "price")
        if found := amounts.fault(terms.price):
            wrong[where] = found
        elif not terms.price.strip():
            missing[where] = "Type a price."
    if has_fees and draft.has_fee and (found := fee(draft.fee, draft.fee_type)):
        (wrong if draft.fee.strip() else missing)[FEE] = found
    if found := email(draft.contact_email):
        wrong[EMAIL] = found
    elif not draft.contact_email.strip() and any(_is_synced(one) for one in draft.seats.values()):
        missing[EMAIL] = "Deal sync needs a contact e-mail address."


def _is_synced(terms: object) -> bool:
    own = getattr(terms, "own", None)
    return bool(getattr(terms, "deal_sync", False)) and own is None
