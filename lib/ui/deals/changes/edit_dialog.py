"""The dialog that edits several packages or deals: the form, a preview, progress, the result."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from functools import partial
from itertools import islice
from typing import Any

import streamlit as st

from lib.deals import fields, moments, values
from lib.deals.bulk_actions import BulkActions
from lib.deals.fields import DEALS, SUPPLY, TERMS
from lib.deals.models import Targeting
from lib.deals.validation import FEE, FEE_TYPE
from lib.deals.values import Limits
from lib.figures import amounts
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS
from lib.ui.deals import catalog, counts, list_state
from lib.ui.deals.changes import plan_steps
from lib.ui.deals.changes.confirmations import PRICE
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.plan_steps import PlanSteps
from lib.ui.deals.changes.shared_change import (
    END,
    START,
    DateShift,
    Mode,
    SharedChange,
    SharedSource,
    TargetingEdit,
)
from lib.ui.deals.deal_rows import DealRow, as_text
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.entity_form import draw_zone
from lib.ui.deals.forms.inputs import EACH, Look
from lib.ui.deals.list_state import ListSearch
from lib.ui.deals.targeting import pending
from lib.ui.deals.targeting.picker import TargetingPicker
from lib.ui.kit import amount_field, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

PLAN = "deals_several"
MOST = 5_000
PREFIX = "several_"
HOW = f"{PREFIX}how"
AMOUNT = f"{PREFIX}amount"
NO_END = f"{PREFIX}no_end"
ZONE = f"{PREFIX}zone"
EMPTY = f"{PREFIX}empty"
TARGET = f"{PREFIX}target"
MODE = f"{PREFIX}target_mode"
PROBLEM = f"{PREFIX}problem"
DATES = {START: f"{PREFIX}start", END: f"{PREFIX}end"}
SET, PERCENT, OWN_ZONE, KEEP = "Set to", "Change by %", "Each package's own", "keep"
LIMITS = {SET: values.AMOUNT, PERCENT: Limits(least=-100, below=10_001, decimals=4)}
MODES: Mapping[str, Mode] = {"Add": "add", "Remove": "remove", "Replace": "replace"}
SWITCHES = {
    entity: tuple(name for name in fields.writable(entity, fields.SWITCH) if name != "is_active")
    for entity in (SUPPLY, DEALS)
}
ON_OFF = {True: "on", False: "off"}


def button_title(verb: str, count: int, is_all: bool) -> str:
    """`Edit 12`, or `Edit all 12` for all that a list finds."""
    return f"{verb} {'all ' if is_all else ''}{counts.number(count)}" if count else verb


def draw(
    context: PageContext, search: ListSearch, count: int, selection: Sequence[DealRow], is_all: bool
) -> None:
    """Draw the button for the chosen rows, and the dialog while it is open."""
    number = count if is_all else len(selection)
    st.button(
        button_title("Edit", number, is_all), icon=":material/edit:", key="deals_edit",
        disabled=not 0 < number <= MOST,
        help=f"At most {counts.number(MOST)} at once: narrow the list" if number > MOST else None,
        on_click=_open, args=(context, search, None if is_all else list(selection)),
    )  # fmt: skip
    if (plan := st.session_state.get(PLAN)) is not None:
        title = f"Edit {counts.count_label(KINDS[plan.source.entity], len(plan.source.rows))}"
        st.dialog(title, width="large", on_dismiss=_close)(_dialog)(context, plan)


def edit_plan(actions: BulkActions, entity: str, rows: Sequence[DealRow]) -> ChangePlan[SharedSource]:
    """The edit of these rows, before anything is typed."""
    return ChangePlan(source=SharedSource(entity=entity, rows=[*rows]), record=actions.record("Edited"))


def _open(context: PageContext, search: ListSearch, rows: list[DealRow] | None) -> None:
    """Open the dialog; if all are chosen, the service says which these are. A callback."""
    _forget()
    try:
        if rows is None:
            rows = list(islice(catalog.rows_by_name(context.deals, search), MOST))
    except TrancheError as error:
        st.session_state[PROBLEM] = f"{error.sentence} Nothing was changed."
    st.session_state[PLAN] = edit_plan(context.clients.bulk_actions, search.entity, rows or [])


def _dialog(context: PageContext, plan: ChangePlan[SharedSource]) -> None:
    with plan_steps.step_container():
        if plan.phase == "form":
            is_deals = plan.source.entity == DEALS
            does = catalog.abilities(context)
            st.caption("Fields left empty stay as they are.")
            for entity in (DEALS, SUPPLY) if is_deals else (SUPPLY, DEALS):
                if entity != plan.source.entity:
                    st.markdown("**Their packages**" if is_deals else "**Their deals**")
                if why_not := does.why_not(entity, "change"):
                    st.caption(plain(why_not))
                else:
                    (_draw_deal_fields if entity == DEALS else _draw_package_fields)(context)
            if problem := st.session_state.get(PROBLEM):
                beside([problem])
            st.button(
                "Preview", type="primary", key=f"{PREFIX}preview", disabled=not plan.source.rows,
                on_click=_ask, args=(context, plan),
            )  # fmt: skip
            return
        shared_change = plan.source.shared_change
        names = (*shared_change.deal_names, *shared_change.package_names)
        steps = PlanSteps(
            PREFIX, lambda changes: plan_steps.field_columns(context, changes, names, has_same=True),
            close=_close, back=partial(setattr, plan, "phase", "form"),
            retry=partial(_ask_again, plan) if unsaved_rows(plan) else None,
            after=partial(_select_unsaved_rows, plan), rest="What was not saved stays chosen.",
        )  # fmt: skip
        steps.draw(context, plan)


def unsaved_rows(plan: ChangePlan[SharedSource]) -> list[DealRow]:
    """The rows of which something failed or was not sent."""
    return [row for row in plan.source.rows if row.key in plan.unsaved_rows]


def _draw_deal_fields(context: PageContext) -> None:
    state, fees = st.session_state, catalog.abilities(context).fees
    with st.container():  # what comes and goes in it moves no field below: it would lose what is typed
        money = field_text.prices_of(context)
        st.segmented_control(
            plain(money.title), [SET, PERCENT], key=HOW, required=True, default=SET,
            persist_state="session",
        )  # fmt: skip
        how = state.get(HOW) or SET
        label = money.title if how == SET else "Percent, like 5 or -7.5"
        amount_field.field(label, AMOUNT, placeholder=KEEP)
        beside(filter(None, [amounts.fault(state.get(AMOUNT) or "", limits=LIMITS[how])]))
        if how == PERCENT:
            st.caption("Rounded to cents, or to the decimals that a price has already.")
    with st.expander("Fee, contact, deal sync and terms", icon=":material/tune:"):
        with st.grid(2, min_column_width=220):
            _draw_switches(DEALS)
            for name in TERMS if fees else [name for name in TERMS if name not in (FEE, FEE_TYPE)]:
                faults = filter(None, [inputs.fault(name, state.get(PREFIX + name))])
                row = fields.BY_NAME[name]
                label = f"{row.form_label}{EACH if row.is_summed else ''}"
                look = Look(label, options=fees if name == FEE_TYPE else {}, placeholder=KEEP)
                inputs.draw_with_faults(name, PREFIX + name, faults, look)
        st.multiselect(
            "Empty these fields", [name for name in TERMS if name != FEE_TYPE], key=EMPTY,
            format_func=lambda name: fields.BY_NAME[name].form_label, persist_state="session",
            placeholder="none",
        )  # fmt: skip


def _draw_switches(entity: str) -> None:
    for name in SWITCHES[entity]:
        st.selectbox(
            fields.BY_NAME[name].title, list(ON_OFF), index=None, format_func=ON_OFF.__getitem__,
            key=PREFIX + name, persist_state="session", placeholder=KEEP,
            help=fields.BY_NAME[name].help or None,
        )  # fmt: skip


def _draw_package_fields(context: PageContext) -> None:
    st.caption(
        "A package's dates and targeting are those of all of its deals. As a date, *+1 month* or *-2 weeks* "
        "moves each package's own."
    )
    state = st.session_state
    has_no_end = bool(state.get(NO_END))
    for column, (name, key) in zip(st.columns(2, vertical_alignment="top"), DATES.items(), strict=True):
        is_off = name == END and has_no_end
        fault = "" if is_off else _date_fault(name)
        with column:
            inputs.draw_with_faults(name, key, [fault] * bool(fault), Look(placeholder=KEEP, disabled=is_off))
    zone, no_end = st.columns(2, vertical_alignment="bottom")
    with zone:
        draw_zone(ZONE, OWN_ZONE)
    with no_end:
        st.checkbox("Remove the end", key=NO_END, persist_state="session")
    with st.expander("Targeting and bidding", icon=":material/target:"):
        with st.grid(2, min_column_width=220):
            _draw_switches(SUPPLY)
        st.segmented_control(
            "Targeting", list(MODES), key=MODE, required=True, default="Add", persist_state="session",
            help="Add these values, remove them, or put them in place of all values of their kind",
        )  # fmt: skip
        TargetingPicker(context, TARGET).draw()


def _read(context: PageContext) -> SharedChange:
    """The typed change. ValueError, with a sentence, if a field is wrong or nothing changes."""
    state = st.session_state
    how = state.get(HOW) or SET
    number = amounts.read(state.get(AMOUNT) or "", LIMITS[how])
    contents = {name: text for name in TERMS if (text := state.get(PREFIX + name)) not in (None, "")}
    empty = state.get(EMPTY) or ()
    if twice := [fields.BY_NAME[name].form_label for name in empty if name in contents]:
        raise ValueError(f"{', '.join(twice)}: type a value, or empty it.")
    for name, content in contents.items():
        if fault := inputs.fault(name, content):
            raise ValueError(f"{fields.BY_NAME[name].form_label}: {fault}")
    terms = {name: inputs.value(name, content) for name, content in contents.items()}
    dates: dict[str, Any] = {END: None} if state.get(NO_END) else {}
    for name, key in DATES.items():
        if name in dates:
            continue  # the end goes, whatever stands in its closed field
        if fault := _date_fault(name):
            raise ValueError(fault)
        text = state.get(key) or ""
        if (at := DateShift.read(text) or times.read(text, is_end=name == END)) is not None:
            dates[name] = at
    if tasks := pending.tasks(TARGET):
        raise ValueError(f"Targeting: not added yet. {', '.join(tasks)}.")
    targeting = TargetingPicker(context, TARGET).read()
    mode = MODES[state.get(MODE) or "Add"]
    shared_change = SharedChange(
        deal=({PRICE: number} if how == SET and number is not None else {})
        | (_read_switches(DEALS) | terms | dict.fromkeys(empty)),
        percent=number if how == PERCENT else None,
        package=_read_switches(SUPPLY),
        dates=dates,
        zone=_zone(),
        targeting=None if targeting == Targeting() else TargetingEdit(mode, targeting),
    )
    if not shared_change.deal_names and not shared_change.package_names:
        raise ValueError("Type what to change.")
    return shared_change


def _read_switches(entity: str) -> dict[str, bool]:
    state = st.session_state
    return {name: state[PREFIX + name] for name in SWITCHES[entity] if state.get(PREFIX + name) is not None}


def _zone() -> moments.Zone | None:
    """The chosen time zone; None for each package's own."""
    zone: moments.Zone | None = st.session_state.get(ZONE)
    return None if zone == OWN_ZONE else zone


def _date_fault(name: str) -> str:
    text, zone = st.session_state.get(DATES[name]) or "", _zone()
    return "" if DateShift.read(text) else times.fault(text, UTC if zone is None else moments.rules(zone))


def _ask(context: PageContext, plan: ChangePlan[SharedSource]) -> None:
    """Read the chosen ones for the preview; nothing while a field is wrong. A callback."""
    st.session_state.pop(PROBLEM, None)
    try:
        plan.source.ask_for(_read(context), plan.source.rows)
        plan.begin()
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)


def _ask_again(plan: ChangePlan[SharedSource]) -> None:
    """Read those again that were not saved. A callback."""
    plan.source.ask_for(plan.source.shared_change, unsaved_rows(plan))
    plan.begin()


def _select_unsaved_rows(plan: ChangePlan[SharedSource]) -> None:
    list_state.choose_only({as_text(row.key): row for row in unsaved_rows(plan)})


def _forget() -> None:
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]


def _close() -> None:
    """Close the dialog. What was not sent stays as it is, and chosen. A callback."""
    plan: ChangePlan[SharedSource] | None = st.session_state.pop(PLAN, None)
    _forget()
    if plan is not None and plan.phase == "writing":
        _select_unsaved_rows(plan)
        catalog.forget()
