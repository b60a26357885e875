"""New deals for seats: a row for each, with its price and its own terms, and what all of them share.

A column is a term that each seat has of its own; of the others there is one field for all. Above a column of
several rows stands a field that fills all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.fields import DEALS, TERMS
from lib.deals.models import FEE_TYPES, has_amount
from lib.deals.validation import FEE, FEE_TYPE
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import seat_name
from lib.ui.deals import catalog
from lib.ui.deals.catalog import dsp_name, seat_label
from lib.ui.deals.forms import draft_text, inputs
from lib.ui.deals.forms.draft import BLANK, NEW, OPTIONS, NewDeals, Terms
from lib.ui.deals.forms.entity_form import EntityForm
from lib.ui.deals.forms.inputs import EACH, EMAIL, Look
from lib.ui.kit import amount_field, widgets
from lib.ui.kit.field_problems import FieldProblems, Path, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

NO_GUIDES: Mapping[int, str] = {}
SHORT_TITLES = {"units": "Impressions", EMAIL: "Contact", "is_active": "Active", FEE_TYPE: "Fee type"}
WIDTHS = {fields.EMAIL: 250, fields.SHORT_TEXT: 170, fields.SWITCH: 70}
WIDTH, SYNC_WIDTH, SEAT_WIDTH = 120, 80, 150


@dataclass(frozen=True)
class SeatRows:
    """The widgets of new deals for a package. `prefix` begins their keys."""

    context: PageContext
    prefix: str
    is_closed: bool = False

    @property
    def seats(self) -> list[int]:
        """The ids of the chosen seats, in the order of choosing."""
        return st.session_state.get(f"{self.prefix}seats") or []

    @property
    def columns(self) -> list[str]:
        """The terms that each seat has of its own: those chosen, else the contact, which buyers do not share.

        With one seat too, so that the field stays when others come and go.
        """
        choice: list[str] | None = st.session_state.get(f"{self.prefix}columns")
        if choice is None:
            choice = [EMAIL] if self.seats else []
        names = {FEE, FEE_TYPE} if FEE_TYPE in choice else set()
        return [name for name in (*TERMS, "is_active") if name in names or name in choice]

    def read(self) -> NewDeals:
        """The deals as typed. A new row begins with what stands for all, or what its seat had before."""
        state, columns = st.session_state, self.columns
        common = {name: state.get(self.prefix + name, BLANK[name]) for name in TERMS}
        contacts = catalog.contacts(self.context, self.seats) if EMAIL in columns else {}
        for seat in self.seats:
            for name in ("price", *columns):
                usual = "" if name == "price" else common.get(name, True)
                usual = contacts.get(seat, "") if name == EMAIL and not usual else usual
                state.setdefault(self._cell(name, seat), state.get(self._for_all(name)) or usual)
        seats = {
            seat: Terms(
                state[self._cell("price", seat)] or "",
                bool(state.get(self._cell("sync", seat))),
                {name: state[self._cell(name, seat)] for name in columns},
            )
            for seat in self.seats
        }
        return NewDeals(
            seats,
            {name: text for name, text in common.items() if text != BLANK[name] and name not in columns},
        )

    def cleared_places(self) -> set[Path]:
        """The places of amounts that were typed, and taken out again."""
        places: set[Path] = {
            (*OPTIONS, index, name)
            for index, seat in enumerate(self.seats)
            for name in ("price", *self.columns)
            if not st.session_state.get(self._cell(name, seat))
            and amount_field.was_typed(self._cell(name, seat))
        }
        return places | ({(NEW, FEE)} if amount_field.was_typed(self.prefix + FEE) else set())

    def draw(
        self,
        problems: FieldProblems,
        guides: Mapping[int, str] = NO_GUIDES,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """The seats with a row each, what `after` draws, and what the deals share.

        `guides` say of a seat what its price is to be compared with.
        """
        seats, does = catalog.seats(self.context), catalog.abilities(self.context)
        with st.container():
            catalog.draw_picker(
                "Seats",
                {seat: seat_label(seats.get(seat), seat) for seat in dict.fromkeys([*seats, *self.seats])},
                f"{self.prefix}seats",
                f"Who may buy it; type a name{' or a DSP' if does.lists else ', a DSP or an id'}",
                takes_ids=not does.lists, disabled=self.is_closed,
            )  # fmt: skip
            beside(text for where, texts in problems.messages.items() if where == OPTIONS for text in texts)
        deals = self.read()
        offer = [name for name in TERMS if does.is_own or not fields.BY_NAME[name].is_extension]
        # Each part is in a container that is always there: a field that moves is mounted anew, and loses what
        # is typed in it at that moment.
        with st.container():
            if deals.seats:
                with st.container(key=f"{self.prefix}seat_rows", gap="xxsmall"):
                    self._draw_head(deals)
                    for index, seat in enumerate(deals.seats):
                        with st.container(gap="xxsmall"):
                            self._draw_row(seat, deals)
                            beside(problems.inside(*OPTIONS, index).with_names())
                            if guide := guides.get(seat):
                                st.caption(plain(guide))
        with st.container():
            # What the amounts that add up come to, as each seat has its own.
            money = field_text.prices_of(self.context)
            if len(deals.seats) > 1 and (sums := draft_text.sums(deals, money)):
                st.caption(f"In all, for {len(deals.seats)} seats: {plain(', '.join(sums))}.")
        with st.container():
            after()
        with st.container():
            if deals.seats:
                self._choose_columns([*offer, "is_active"])
        form = EntityForm(self.context, self.prefix, DEALS, self.is_closed)
        form.draw_terms(problems.inside(NEW), offer, self.columns if deals.seats else (), EACH)

    def _choose_columns(self, offer: Sequence[str]) -> None:
        popover = st.popover(
            "Terms per seat", icon=":material/view_column:", type="tertiary", key=f"{self.prefix}per_seat",
            on_change="rerun", disabled=self.is_closed,
        )  # fmt: skip
        if popover.open:
            with popover:
                st.session_state.setdefault(f"{self.prefix}columns", self.columns)
                st.pills(
                    "Each seat has its own", [name for name in offer if name != FEE],
                    format_func=lambda name: fields.BY_NAME[name].form_label, selection_mode="multi",
                    key=f"{self.prefix}columns", persist_state="session",
                )  # fmt: skip

    def _draw_head(self, deals: NewDeals) -> None:
        """Draw the titles; for several seats each is a field that fills its column."""
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.caption("Seat", width=SEAT_WIDTH)
            for name in ("price", *self.columns):
                title, width = self._title(name), _width(name)
                if len(deals.seats) < 2 or name == "is_active":
                    st.caption(plain(title), width=width)
                    continue
                cells = {seat: st.session_state[self._cell(name, seat)] for seat in deals.seats}
                contents = [*cells.values()]
                alike = contents[0] if contents.count(contents[0]) == len(contents) else BLANK.get(name, "")
                widgets.set_value(self._for_all(name), alike)
                look = self._look(name, title, is_labeled=True)
                inputs.draw(name, self._for_all(name), look)
            st.caption("Deal sync", width=SYNC_WIDTH)
        with st.container():
            if len(deals.seats) > 1:
                filling: tuple[str, Any, dict[int, Any]] | None = st.session_state.get(f"{self.prefix}filled")
                if filling is None:
                    return
                column, content, before = filling
                now = {seat: st.session_state.get(self._cell(column, seat)) for seat in before}
                blank = BLANK.get(column, "")
                others = [text for text in before.values() if text not in (blank, content)]
                if not others or any(text != content for text in now.values()):
                    return
                with st.container(horizontal=True, vertical_alignment="center"):
                    count = f"{len(others)} of {len(before)} seats had another"
                    st.caption(
                        f"Filled in for all seats; {count} {plain(self._title(column).lower())}.",
                        width="stretch",
                    )
                    st.button(
                        "Only empty rows", key=f"{self.prefix}fill_empty", type="tertiary",
                        on_click=self._restore,
                        args=(column, {seat: text for seat, text in before.items() if text != blank}),
                    )  # fmt: skip
                    st.button(
                        "Undo", key=f"{self.prefix}fill_undo", type="tertiary", on_click=self._restore,
                        args=(column, before),
                    )  # fmt: skip

    def _draw_row(self, seat_id: int, deals: NewDeals) -> None:
        seat = catalog.seats(self.context).get(seat_id)
        name = seat_name(seat, seat_id)
        with st.container(horizontal=True, vertical_alignment="center"):
            dsp = f"  \n:small[:gray[{plain(dsp_name(seat))}]]" if dsp_name(seat) else ""
            st.markdown(f"{plain(name)}{dsp}", width=SEAT_WIDTH)
            for column in ("price", *self.columns):
                label = "Price" if column == "price" else fields.BY_NAME[column].form_label
                is_off = column == FEE and not has_amount(deals.seats[seat_id].own.get(FEE_TYPE))
                look = self._look(column, f"{label} for {name}", is_closed=is_off)
                inputs.draw(column, self._cell(column, seat_id), look)
            st.toggle(
                f"Deal sync for {plain(name)}", key=self._cell("sync", seat_id), persist_state="session",
                width=SYNC_WIDTH, disabled=self.is_closed, label_visibility="collapsed",
            )  # fmt: skip

    def _fill_all(self, name: str) -> None:
        """Give what was typed for all to every seat. A callback."""
        state = st.session_state
        content = state.get(self._for_all(name))
        if content in (None, ""):
            return
        before = {seat: state.get(self._cell(name, seat)) for seat in self.seats}
        state.update({self._cell(name, seat): content for seat in before})
        state[f"{self.prefix}filled"] = (name, content, before)

    def _restore(self, name: str, contents: Mapping[int, Any]) -> None:
        st.session_state.update({self._cell(name, seat): text for seat, text in contents.items()})
        del st.session_state[f"{self.prefix}filled"]

    def _title(self, name: str) -> str:
        if name == "price":
            money = field_text.prices_of(self.context)
            if "currency" in self.columns:
                return replace(money, currency="").title
            return money.of(st.session_state.get(f"{self.prefix}currency")).title
        row = fields.BY_NAME[name]
        return f"{SHORT_TITLES.get(name, row.form_label)}{EACH if row.is_summed else ''}"

    def _look(self, name: str, label: str, is_labeled: bool = False, is_closed: bool = False) -> Look:
        options = {number: FEE_TYPES[number] for number in catalog.abilities(self.context).fees}
        return Look(
            label, is_labeled, _width(name), self.is_closed or is_closed,
            options if name == FEE_TYPE else {},
            "for all" if is_labeled else "0.00" if name == "price" else self._title(name),
            self._fill_all if is_labeled else None, (name,) if is_labeled else (),
        )  # fmt: skip

    def _cell(self, name: str, seat: int) -> str:
        return cell(self.prefix, name, seat)

    def _for_all(self, name: str) -> str:
        return f"{self.prefix}{name}_all"


def fill(prefix: str, deals: NewDeals) -> None:
    """Fill the widgets of this prefix with these deals."""
    state = st.session_state
    state[f"{prefix}seats"] = [*deals.seats]
    columns = dict.fromkeys(name for terms in deals.seats.values() for name in terms.own if name != FEE)
    if columns:
        state[f"{prefix}columns"] = [*columns]
    state.update({prefix + name: deals.terms.get(name, BLANK[name]) for name in TERMS})
    for seat, terms in deals.seats.items():
        cells = {"price": terms.price, "sync": terms.deal_sync, **terms.own}
        state.update({cell(prefix, name, seat): content for name, content in cells.items()})


def cell(prefix: str, name: str, seat: int) -> str:
    """The key of the widget of a seat's term."""
    return f"{prefix}{name}_{seat}"


def _width(name: str) -> int:
    return WIDTHS.get(fields.BY_NAME[name].kind, WIDTH)
