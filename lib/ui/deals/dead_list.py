"""The list of dead targets: a row for each target of each package, which are chosen with boxes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from lib.deals.models import SupplyPackage, Targeting
from lib.insight.dead_search import DeadFound
from lib.insight.dead_targets import DeadTarget, IncludedTarget, identity
from lib.ui.charts import numbers
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import Described
from lib.ui.kit import listing
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, Opened, Ticked, new_acts
from lib.ui.kit.rows import NOTHING_TAKEN, Taken

LIST, CHOSEN, MOST = "dead_list", "dead_chosen", 300
COLUMNS = (
    ListColumn("package", "Package", 14.0),
    ListColumn("element", "Element", 7.0, on_phone=True),
    ListColumn("value", "Value", 10.0, on_phone=True),
    ListColumn("last", "Last bid", 9.0, on_phone=True),
)


@dataclass(frozen=True)
class DeadRow:
    """A dead target of one package."""

    package: SupplyPackage
    dead: DeadTarget

    @property
    def key(self) -> str:
        """`17-country-AQ`, as in acts."""
        one = self.dead.included
        return f"{self.package.id}-{one.kind.name}-{identity(one.kind, one.target)}"

    @property
    def name(self) -> str:
        """The package's name, or its id without one."""
        return self.package.name or f"Package {self.package.id}"


@dataclass(frozen=True)
class DeadChosen:
    """The keys of the chosen rows, and the last act taken."""

    keys: frozenset[str] = field(default_factory=frozenset)
    taken: Taken = NOTHING_TAKEN


def rows(found: DeadFound) -> list[DeadRow]:
    """The rows, by package name."""
    every = [DeadRow(found.packages[one], dead) for dead in found.dead for one in dead.included.packages]
    return sorted(every, key=lambda row: (row.name.casefold(), row.package.id or 0, row.key))


def current_choice() -> DeadChosen:
    """What is chosen, with clicks applied that no callback has taken yet. A callback itself."""
    before: DeadChosen = st.session_state.get(CHOSEN) or DeadChosen()
    acts, taken = new_acts(st.session_state.get(LIST) or {}, before.taken)
    keys = before.keys
    for act in acts:
        match act:
            case Ticked(some, is_ticked):
                keys = keys | {*some} if is_ticked else keys - {*some}
            case Opened(key):
                keys = keys ^ {key}
    st.session_state[CHOSEN] = DeadChosen(keys, taken)
    return st.session_state[CHOSEN]  # type: ignore[no-any-return]


def choose_none() -> None:
    """Choose nothing."""
    st.session_state[CHOSEN] = DeadChosen(taken=current_choice().taken)


def draw(dead_rows: list[DeadRow], descriptions: Described, ticks: bool) -> None:
    """Draw the first rows, with boxes where something may be changed."""
    now = current_choice()
    lines = tuple(
        ListRow(row.key, _cells(row, descriptions), row.key in now.keys) for row in dead_rows[:MOST]
    )
    page = Listing("Dead targets", COLUMNS, lines, len(dead_rows), ticks)
    with st.container(key="dead_table"):
        listing.draw(LIST, page, now.taken, _take)


def targeting(included: Iterable[IncludedTarget]) -> Targeting:
    """A targeting of these targets, from which words for their values are found."""
    fields: dict[str, tuple[object, ...]] = {}
    for one in included:
        fields[one.kind.field] = (*fields.get(one.kind.field, ()), one.target)
    return Targeting().model_copy(update=fields)


def _take() -> None:
    current_choice()


def _cells(row: DeadRow, descriptions: Described) -> tuple[ListCell, ...]:
    one = row.dead.included
    value = words.value_label(one.kind.value(one.target), descriptions.get(one.kind.name, {}), {})
    return tuple(map(ListCell, (row.name, one.kind.title, value, _last(row.dead))))


def _last(dead: DeadTarget) -> str:
    """`14 Oct 2026`; `or later` where it is of a sample."""
    if dead.last is None:
        return "none" if dead.is_exact else "none in a sample"
    return numbers.days(dead.last, dead.last) + ("" if dead.is_exact else " or later")
