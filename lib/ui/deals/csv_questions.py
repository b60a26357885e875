"""What a CSV asks for that is valid and probably a slip: to be confirmed, or only to be known."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import streamlit as st

from lib.deals import doubts
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.insight.kinds import KINDS
from lib.ui.deals import catalogue, price_doubts, prices
from lib.ui.deals.targeting import known
from lib.ui.deals.targeting.words import Marks
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

MOST = 50


@dataclass(frozen=True)
class CsvQuestions:
    """Sentences, each with its line: those to confirm, and those to know."""

    asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the checkbox: other questions are asked anew."""
        return f"csv_confirmed_{sha256(repr(self.asked).encode()).hexdigest()[:16]}"


def of(context: PageContext, wanted: Iterable[Any]) -> CsvQuestions:
    """The questions about these entries, each with its `line`, its `request` and its `note`."""
    several = [*wanted]
    packages = [_targeting(one.request) for one in several if isinstance(one.request, SupplyPackage)]
    marks = (
        known.marks(context, catalogue.usual_days(context), packages, with_unchecked=True) if packages else {}
    )
    asked = [
        f"Line {one.line}: {sentence}."
        for one in several
        for sentence in (
            _of_package(one.request, marks)
            if isinstance(one.request, SupplyPackage)
            else _of_price(context, one.request)
        )
    ]
    return CsvQuestions(tuple(asked), tuple(f"Line {one.line}: {one.note}" for one in several if one.note))


def draw(questions: CsvQuestions) -> bool:
    """Draw them whole, and a box to confirm; whether nothing is left to confirm."""
    if questions.notes:
        st.info(_list(questions.notes), icon=":material/info:")
    if not (asked := questions.asked):
        return True
    st.warning(_list(asked), title="Please check", icon=":material/warning:")
    return st.checkbox(
        "Confirm this point" if len(asked) == 1 else f"Confirm these {len(asked)} points", key=questions.key
    )


def _of_package(package: SupplyPackage, marks: Marks) -> Iterator[str]:
    """Values that the report lacks, or, where it can't tell, that public lists lack; dates that are over."""
    for kind in KINDS:
        for value in dict.fromkeys(kind.value(target) for target in kind.of(_targeting(package))):
            mark = marks.get(kind.name, {}).get(value)
            if mark == known.UNKNOWN:
                yield f"{kind.title} '{value}' is not in the report"
            elif mark == known.NOT_CHECKED and not doubts.is_known(kind.name, value):
                yield f"{kind.title} '{value}' is not known, and the report can't be asked"
    if over := doubts.dates(package.end_date):
        yield over


def _of_price(context: PageContext, deal: DemandDeal) -> Iterator[str]:
    seat = deal.seat.id if deal.seat is not None else None
    if found := price_doubts.doubt(context, seat, deal.price):
        yield f"{found} ({prices.of(context).terms})"


def _targeting(package: SupplyPackage) -> Targeting:
    return Targeting.model_construct(**{name: getattr(package, name) for name in Targeting.model_fields})


def _list(sentences: tuple[str, ...]) -> str:
    rest = len(sentences) - MOST
    more = [f"- and {rest} more"] if rest > 0 else []
    return "\n".join([*(f"- {plain(one)}" for one in sentences[:MOST]), *more])
