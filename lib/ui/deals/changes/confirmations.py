"""Questions before a write: what is valid and probably a slip, and the box that confirms it.

A price is unusual if it is 0 or very high, or far above those of its seat's other deals.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from lib.deals import doubts
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.insight.kinds import KINDS
from lib.ui.deals import catalog, facts
from lib.ui.deals.forms.draft import NewDeals, seat_name
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import Marks
from lib.ui.kit import amounts, session_cache
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

QuartileOf = Callable[[int], Decimal | None]
TIMES, FEWEST, SECONDS, MOST_SEATS, MOST = 5, 4, 60.0, 500, 50


def of_price(context: PageContext, seat: int | None, price: Decimal | None) -> str:
    """Why a price has to be confirmed, in a few words; empty for a usual one.

    Unusual is 0, a very high price, and one beyond five times the upper quartile of the seat's deals.
    """
    return price_doubt(partial(upper_quartile, context), seat, price)


def price_doubt(quartile_of: QuartileOf, seat: int | None, price: Decimal | None) -> str:
    """The same, with a function that knows the upper quartile of a seat's prices."""
    if (doubt := amounts.doubt(price)) or price is None or seat is None:
        return doubt
    quartile = quartile_of(seat)
    if not quartile or price <= TIMES * quartile:
        return ""
    usual = f"{TIMES} times the upper quartile of this seat's deals ({quartile:,f})"
    return f"a price of {price:,f}, more than {usual}"


def of_deals(context: PageContext, deals: NewDeals) -> str:
    """The prices of new deals to confirm: `a price of 0 for Alpha (USD CPM)`; empty without any."""
    seats = catalog.seats(context)
    doubts_of_seats = [
        f"{doubt} for {seat_name(seats.get(seat), seat)}"
        for seat, terms in deals.seats.items()
        if (doubt := of_price(context, seat, terms.amount))
    ]
    return with_unit(context, ", ".join(doubts_of_seats))


def with_unit(context: PageContext, doubt: str) -> str:
    """The doubt about prices, with their unit."""
    return f"{doubt} ({facts.prices_of(context).terms})" if doubt else ""


def confirm(doubt: str, prefix: str, refusal: str = "") -> bool:
    """Draw the box that confirms a doubt, if there is one; whether nothing is left to confirm.

    Another doubt has to be confirmed again. `refusal` is drawn under an empty box: why nothing was written.
    """
    if not doubt:
        return True
    is_confirmed = st.checkbox(f"Confirm {plain(doubt)}", key=f"{prefix}meant_{doubt}")
    if refusal and not is_confirmed:
        beside([refusal])
    return is_confirmed


def is_confirmed(doubt: str, prefix: str) -> bool:
    """Whether there is no doubt, or its box is ticked."""
    return not doubt or bool(st.session_state.get(f"{prefix}meant_{doubt}"))


def upper_quartile(context: PageContext, seat: int) -> Decimal | None:
    """The price that a quarter of the seat's deals reach; None if there are fewer than four, or unknown.

    Kept for a minute, and read again once something was changed here.
    """
    cache: SessionCache[Decimal | None]
    cache = session_cache.of(catalog.QUARTILES, partial(SessionCache, SECONDS, MOST_SEATS))
    client = context.deals
    return cache.get((context.person.username, seat), partial(quartile, client, seat))


def quartile(client: Deals, seat: int) -> Decimal | None:
    """In two small requests, however many deals there are. A service that can't answer raises no question."""
    if not client.abilities.finds:
        return None
    try:
        count = client.list(DemandDeal, limit=1, seat=seat).count
        if count < FEWEST:
            return None
        page = client.list(DemandDeal, limit=1, offset=(count - 1) // 4, seat=seat, ordering="-price")
    except TrancheError:
        return None
    return page.results[0].price if page.results else None


@dataclass(frozen=True)
class CsvQuestions:
    """Sentences about the lines of a file: those to confirm, and those to know."""

    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the checkbox: other questions are asked anew."""
        return f"csv_confirmed_{sha256(repr(self.sentences).encode()).hexdigest()[:16]}"


def of_lines(context: PageContext, entries: Iterable[Any]) -> CsvQuestions:
    """The questions about these entries, each with its `line`, its `request` and its `note`."""
    several = [*entries]
    packages = [targeting_of(one.request) for one in several if isinstance(one.request, SupplyPackage)]
    marks = words.marks(context, catalog.usual_days(context), packages, with_gaps=True) if packages else {}
    quartile_of, unit = partial(upper_quartile, context), facts.prices_of(context).terms
    sentences: list[str] = []
    for one in several:
        request = one.request
        is_package = isinstance(request, SupplyPackage)
        doubts_of_line = _of_package(request, marks) if is_package else of_deal(quartile_of, request, unit)
        sentences += [f"Line {one.line}: {sentence}." for sentence in doubts_of_line]
    return CsvQuestions(
        tuple(sentences), tuple(f"Line {one.line}: {one.note}" for one in several if one.note)
    )


def of_deal(quartile_of: QuartileOf, deal: DemandDeal, unit: str) -> Iterator[str]:
    """What is to be confirmed of a deal to create; prices are in this unit."""
    seat = deal.seat.id if deal.seat is not None else None
    if doubt := price_doubt(quartile_of, seat, deal.price):
        yield f"{doubt} ({unit})"


def draw_lines(questions: CsvQuestions) -> bool:
    """Draw the first of them, and a box to confirm; whether nothing is left to confirm."""
    if questions.notes:
        st.info(_list(questions.notes), icon=":material/info:")
    if not (sentences := questions.sentences):
        return True
    st.warning(_list(sentences), title="Please check", icon=":material/warning:")
    return st.checkbox(
        "Confirm this point" if len(sentences) == 1 else f"Confirm these {len(sentences):,} points",
        key=questions.key,
    )


def _of_package(package: SupplyPackage, marks: Marks) -> Iterator[str]:
    """Values that the report lacks, or, where it can't tell, that public lists lack; dates that are over."""
    for kind in KINDS:
        for value in dict.fromkeys(kind.value(target) for target in kind.of(targeting_of(package))):
            mark = marks.get(kind.name, {}).get(value)
            if mark == words.UNKNOWN:
                yield f"{kind.title} '{value}' is not in the report"
            elif mark == words.NO_CHECK and not doubts.is_known(kind.name, value):
                yield f"{kind.title} '{value}' is not known, and the report can't be asked"
    if over := doubts.dates(package.end_date):
        yield over


def targeting_of(package: SupplyPackage) -> Targeting:
    """The targeting of a package to create, alone."""
    return Targeting.model_construct(**{name: getattr(package, name) for name in Targeting.model_fields})


def _list(sentences: Sequence[str]) -> str:
    rest = len(sentences) - MOST
    more = [f"- and {rest:,} more"] if rest > 0 else []
    return "\n".join([*(f"- {plain(one)}" for one in sentences[:MOST]), *more])
