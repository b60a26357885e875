"""The form of a package or a deal, made from the rows of its fields: its widgets, and what they hold.

New package, the change of one, more deals for a package and a proposal's approval draw their inputs by it.
"""

import unicodedata
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st

from lib.deals import fields, moments
from lib.deals.client import Deals
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import FEE_TYPES, SupplyPackage, Targeting, has_amount, price_type_of
from lib.deals.targeting.kinds import elements
from lib.deals.validation import FEE, FEE_TYPE
from lib.figures.deals import field_text
from lib.figures.deals.field_text import OFFSETS, zone_title
from lib.slicers import zones
from lib.ui.deals import catalog
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.inputs import EMAIL, Faults, FormValues, Look
from lib.ui.deals.targeting import pending, picker
from lib.ui.deals.targeting.picker import TargetingPicker
from lib.ui.kit import times
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

Fields = dict[str, Any]
LINKS = {SUPPLY: "demand_deals", DEALS: "supply_deals"}
DATES, ZONE = ("start_date", "end_date"), "zone"
OTHERS = tuple(
    name for name in fields.writable(SUPPLY) if name not in ("name", "media_type", *DATES, "is_active")
)
NO_FEES = "Fees can't be set: the settings don't map the fee types of this service (fee_types)."
NO_FEE_TYPE = "The settings don't name the type of its fee (fee_types): change the fee at the service."
TERM_WIDTH = 220
CACHE, MOST = "np_same_name", 100


@dataclass(frozen=True)
class EntityForm:
    """The widgets of an entity's fields. `prefix` begins their keys; the rest is the field's name."""

    context: PageContext
    prefix: str
    entity: str
    is_closed: bool = False

    @property
    def contents(self) -> Fields:
        """What the widgets of plain fields hold, by name; only of those that there are."""
        state = st.session_state
        return {
            name: state[self.prefix + name]
            for name in fields.writable(self.entity)
            if self.prefix + name in state
        }

    @property
    def zone(self) -> moments.Zone:
        """The chosen time zone."""
        return st.session_state.get(self.prefix + ZONE) or 0

    @property
    def targeting(self) -> Targeting:
        return TargetingPicker(self.context, f"{self.prefix}target").read()

    def read(self) -> Fields:
        """The fields in the widgets, as in a PUT request; what can't be read is the text that it is."""
        state, links = st.session_state, LINKS[self.entity]
        zone = moments.rules(self.zone)
        request = {name: inputs.request_value(name, text, zone) for name, text in self.contents.items()}
        if (link_ids := state.get(self.prefix + links)) is not None:
            request[links] = [{"id": number} for number in sorted(link_ids)]
        if self.entity == SUPPLY:
            return {**request, **elements(self.targeting)}
        return request | (
            {"seat": {"id": state[f"{self.prefix}seat"]}} if f"{self.prefix}seat" in state else {}
        )

    def faults(self, base: Mapping[str, Any]) -> Faults:
        """What is wrong with a change of `base`. What was empty may stay so, and an old name as it is."""
        contents = self.contents
        required = [name for name in inputs.MISSING if base.get(name) is not None]
        changes = [
            name
            for name, value in self.read().items()
            if value != base.get(name) and (value or base.get(name))
        ]
        faults = inputs.faults(contents, required, changes, moments.rules(self.zone)).of_form(
            bool(catalog.abilities(self.context).fees)
        )
        blanks = {path: text for path, text in faults.missing.items() if path[0] in required}
        wrong = {**faults.wrong, **blanks}
        if contents.get("name") == base.get("name"):  # an older name may have what a new one may not
            wrong.pop(("name",), None)
        if waiting := pending.tasks(f"{self.prefix}target") if self.entity == SUPPLY else []:
            wrong["targeting",] = f"Not added yet. {', '.join(waiting)}."
        return Faults(wrong, faults.missing)

    def draw_field(self, name: str, problems: FieldProblems, look: Look | None = None) -> None:
        """Draw the widget of a plain field, and under it what is wrong with it."""
        look = look or Look(disabled=self.is_closed)
        inputs.draw_with_faults(name, self.prefix + name, problems.at(name), look)

    def draw_package(self, problems: FieldProblems, names: Collection[str], old_name: str = "") -> None:
        """Draw the fields of a package among `names`; the name of another package is warned of."""
        name, media = st.columns([3, 2], vertical_alignment="top")
        with name:
            self.draw_field("name", problems)
            text = st.session_state.get(f"{self.prefix}name") or ""
            if text != old_name and (same := warning(self.context, text)):
                st.caption(f":orange[:material/warning: {plain(same)}]")
        with media:
            if "media_type" in names:
                self.draw_field("media_type", problems)
        columns = st.columns([5, 5, 4], vertical_alignment="top")
        for date, column in zip(DATES, columns, strict=False):
            if date in names:
                with column:
                    empty = "no end" if date == "end_date" else ""
                    self.draw_field(date, problems, Look(placeholder=empty, disabled=self.is_closed))
        with columns[-1]:
            draw_zone(self.prefix + ZONE, disabled=self.is_closed)
        with st.container(horizontal=True, vertical_alignment="center"):
            if "is_active" in names:
                inputs.draw("is_active", f"{self.prefix}is_active", Look(disabled=self.is_closed))
            dates = {fields.BY_NAME[date].title: self.prefix + date for date in DATES if date in names}
            times.calendar(dates, f"{self.prefix}calendar", disabled=self.is_closed)
        beside(problems.at("is_active"))
        if rare := [setting for setting in OTHERS if setting in names]:
            with self._fold("More settings", "more_settings", rare, problems):
                for setting in rare:
                    self.draw_field(setting, problems)

    def draw_terms(
        self, problems: FieldProblems, names: Collection[str], apart: Collection[str] = (), suffix: str = ""
    ) -> None:
        """Draw the terms of deals among `names`: the fee, as far as the service has fees, the contact, then
        the others, folded. Those `apart` are drawn elsewhere. `suffix` ends the labels of amounts that add up
        over deals: `, each`."""
        fees = catalog.abilities(self.context).fees
        has_fee = bool(fees) and FEE in names and FEE_TYPE in names
        if not has_fee:
            st.caption(NO_FEE_TYPE if fees else NO_FEES)
        names = [name for name in names if name not in apart]
        self._draw_fee_and_contact(problems, fees if has_fee and FEE not in apart else (), EMAIL in names)
        if not (others := [name for name in names if name not in (FEE_TYPE, FEE, EMAIL)]):
            return
        with (
            self._fold("More terms", "more_terms", others, problems),
            st.grid(2, min_column_width=TERM_WIDTH),
        ):
            for name in others:
                row = fields.BY_NAME[name]
                default = self.context.clients.usual_terms.get(name)
                if name == "price_type":
                    deal_type = st.session_state.get(f"{self.prefix}deal_type")
                    default = price_type_of(deal_type, None, default or "")
                word = (row.kind.choices or {}).get(default, "")
                label = f"{row.form_label}{suffix if row.is_summed else ''}"
                usual = f"{inputs.capital(word)} (default)" if word else ""
                self.draw_field(name, problems, Look(label, placeholder=usual, disabled=self.is_closed))

    def _draw_fee_and_contact(
        self, problems: FieldProblems, fees: Collection[int], has_contact: bool
    ) -> None:
        """Draw a fee of one of these types beside the contact; without types the contact alone."""
        kind, size, contact = (
            st.columns([3, 2, 4], vertical_alignment="top")
            if fees
            else (st.empty(), st.empty(), st.container())
        )
        if fees:
            fee_type = st.session_state.get(self.prefix + FEE_TYPE)
            label = field_text.prices_of(self.context).fee_title(fee_type)
            is_closed = self.is_closed or not has_amount(fee_type)
            options = {number: FEE_TYPES[number] for number in fees}
            with kind:
                self.draw_field(FEE_TYPE, problems, Look(options=options, disabled=self.is_closed))
            with size:
                self.draw_field(FEE, problems, Look(label, disabled=is_closed))
        if has_contact:
            with contact:
                self.draw_field(EMAIL, problems)

    def _fold(
        self, title: str, key: str, names: Collection[str], problems: FieldProblems
    ) -> AbstractContextManager[Any]:
        """What is rare, folded unless something is wrong with it."""
        # Streamlit closes an expander whose `expanded` turns false: one that a fault opened stays open.
        is_open = st.session_state.get(self.prefix + key, False) or any(map(problems.at, names))
        st.session_state[self.prefix + key] = is_open
        return st.expander(title, expanded=is_open, icon=":material/tune:")


def draw_zone(key: str, *first: str, disabled: bool = False) -> None:
    """Draw the choice of a time zone by name or offset, the browser's before the others; `first` is before
    all."""
    zone = st.session_state.get(key)
    offsets = sorted({*OFFSETS, *([zone] if isinstance(zone, int) else [])})
    st.selectbox(
        "Time zone", [*dict.fromkeys((*first, times.zone_name(), *sorted(zones.names()), *offsets))],
        format_func=zone_title, key=key, persist_state="session", disabled=disabled,
    )  # fmt: skip


def fill(
    prefix: str, contents: FormValues, zone: moments.Zone = 0, targeting: Targeting | None = None
) -> None:
    """Fill the widgets of this prefix with fields as typed; others have none."""
    st.session_state.update({prefix + name: content for name, content in contents.items()})
    if targeting is not None:
        st.session_state[prefix + ZONE] = zone
        picker.fill(f"{prefix}target", targeting)


def fill_from(prefix: str, entity: str, values: Mapping[str, Any]) -> None:
    """Fill the widgets with fields as in a PUT request; dates are in the browser's zone where its clocks have
    their offsets, else in that of the first."""
    links, dates = LINKS[entity], (values.get(name) for name in DATES)
    zone = moments.zone_of((at for at in dates if isinstance(at, datetime)), times.zone_name())
    plain_values = {name: values[name] for name in fields.writable(entity) if name in values}
    targeting = {name: values[name] for name in Targeting.model_fields if name in values}
    fill(
        prefix,
        inputs.contents(plain_values, moments.rules(zone)),
        zone,
        Targeting.model_validate(targeting) if entity == SUPPLY else None,
    )
    if links in values:
        st.session_state[prefix + links] = [link["id"] for link in values[links]]
    if "seat" in values:
        st.session_state[f"{prefix}seat"] = values["seat"]["id"]


def warning(context: PageContext, name: str) -> str:
    """A sentence that names packages of this name; empty without any, and where that is not known."""
    text = name.strip()
    cached: tuple[str, str] | None = st.session_state.get(CACHE)
    if cached is None or cached[0] != text:
        ids: list[str] = []
        with suppress(TrancheError):
            ids = ids_of_name(context.deals, text) if text else []
        which = f"package {ids[0]}" if len(ids) == 1 else f"packages {', '.join(ids)}"
        sentence = f"This name is taken by {which}. You can still use it." if ids else ""
        cached = st.session_state[CACHE] = (text, sentence)
    return cached[1]


def ids_of_name(client: Deals, name: str) -> list[str]:
    """The ids of packages of this name, whatever their case, width and spaces."""
    if not _fold(name):
        return []
    results = list(client.list(SupplyPackage, search=name, limit=MOST).results)
    if len(results) == MOST and client.abilities.finds:
        results += client.list(SupplyPackage, name=name.strip(), limit=MOST).results
    return list(
        dict.fromkeys(str(package.id) for package in results if _fold(package.name or "") == _fold(name))
    )


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()
