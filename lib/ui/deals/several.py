"""The dialog that edits price and dates of several entities: the form, a preview, progress, the result."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import islice

import streamlit as st

from lib.deals.models import PackageOrDeal, SupplyPackage
from lib.ui.deals import (
    catalogue,
    facts,
    pages,
    permission,
    planned_steps,
    prices,
    questions,
    several_change,
    undo,
    view,
)
from lib.ui.deals.columns import as_text
from lib.ui.deals.list_search import ListSearch
from lib.ui.deals.planned_job import PlannedJob
from lib.ui.deals.planned_steps import Results, became, count_label, note
from lib.ui.deals.prices import Prices
from lib.ui.deals.rows import DealRow, Key
from lib.ui.deals.several_change import END, START, Effect, SeveralWanted
from lib.ui.deals.words import OFFSETS, offset
from lib.ui.kit import amounts, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

PREFIX = "several_"
HOW, AMOUNT, NO_END, ZONE = (f"{PREFIX}{name}" for name in ("how", "amount", "no_end", "zone"))
FIELDS = {START: f"{PREFIX}start", END: f"{PREFIX}end"}
KEEP, SET, PERCENT = "Keep", "Set to", "Change by %"
OWN_ZONE = "Each package's own"
PERCENTAGE = amounts.Limits(least=-100, below=10_001, decimals=4)


def draw_several_form(money: Prices, has_price: bool, no_dates: str, is_deals: bool) -> None:
    """Draw the fields. `no_dates` is why dates can't be changed; empty if they can."""
    if has_price:
        with (
            st.container()
        ):  # what comes and goes in it moves no field below: a moved field loses what is typed
            _price(money)
    if no_dates:
        st.caption(no_dates)
        return
    if is_deals:
        st.markdown("**Dates of their packages**")
        st.caption("A package's dates are those of all of its deals. Fields left empty keep the dates.")
    else:
        st.caption("Fields left empty keep the dates.")
    state = st.session_state
    start, end = st.columns(2, vertical_alignment="top")
    with start:
        times.draw("Start", FIELDS[START], [], empty="keep")
        beside(filter(None, [times.fault(state.get(FIELDS[START]) or "")]))
    with end:
        ends = bool(state.get(NO_END))
        times.draw("End", FIELDS[END], [], empty="keep", disabled=ends)
        beside(filter(None, ["" if ends else times.fault(state.get(FIELDS[END]) or "")]))
    zone, no_end = st.columns(2, vertical_alignment="bottom")
    with zone:
        st.selectbox(
            "Time zone", [OWN_ZONE, *OFFSETS], key=ZONE, persist_state="session",
            format_func=lambda one: offset(one) if isinstance(one, int) else one,
        )  # fmt: skip
    with no_end:
        st.checkbox("Remove the end", key=NO_END, persist_state="session")


def read() -> SeveralWanted:
    """The typed change. ValueError, with a sentence, if a field is wrong or nothing changes."""
    state = st.session_state
    price, percent = _amount(state.get(HOW) or KEEP, state.get(AMOUNT) or "")
    dates: dict[str, datetime | None] = {}
    for name, key in FIELDS.items():
        at = None if name == END and state.get(NO_END) else times.read(state.get(key) or "")
        if at is not None:
            dates[name] = at
    if state.get(NO_END):
        dates[END] = None
    zone = state.get(ZONE)
    wanted = SeveralWanted(price, percent, dates, zone if isinstance(zone, int) else None)
    if not wanted.names:
        raise ValueError("Type what to change: a price or a date.")
    return wanted


def forget() -> None:
    """Empty the fields."""
    for key in [one for one in st.session_state if str(one).startswith(PREFIX)]:
        del st.session_state[key]


def _price(money: Prices) -> None:
    state = st.session_state
    st.segmented_control(
        plain(money.title),
        [KEEP, SET, PERCENT],
        key=HOW,
        required=True,
        default=KEEP,
        persist_state="session",
    )
    how = state.get(HOW) or KEEP
    if how == KEEP:
        return
    label = money.title if how == SET else "Percent, like 5 or -7.5"
    amounts.field(label, AMOUNT)
    text = state.get(AMOUNT) or ""
    beside(filter(None, [amounts.fault(text, limits=PERCENTAGE if how == PERCENT else amounts.AMOUNT)]))
    if how == PERCENT:
        st.caption("Rounded to cents, or to the decimals that a price has already.")


def _amount(how: str, text: str) -> tuple[Decimal | None, Decimal | None]:
    """The price and the percentage, at most one of them."""
    if how == KEEP:
        return None, None
    number = amounts.read(text, PERCENTAGE if how == PERCENT else amounts.AMOUNT)
    if number is None:
        raise ValueError("Type a price." if how == SET else "Type a percentage.")
    return (number, None) if how == SET else (None, number)


@dataclass
class SeveralJob(PlannedJob):
    """The change as far as it has come; `rows` are the chosen ones."""

    entity: str
    rows: list[DealRow]
    wanted: SeveralWanted = field(default_factory=SeveralWanted)
    failure: str = ""

    def preview(self, wanted: SeveralWanted, rows: Iterable[Key]) -> None:
        """Read these rows, and what the change concerns, from now on."""
        self.wanted = wanted
        self.begin(rows)

    @property
    def still_chosen(self) -> list[DealRow]:
        """The rows of which something failed or was not sent."""
        return [row for row in self.rows if row.key in self.unsaved]

    def planned(self, found: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity; of a deal whose dates change, its packages are read next."""
        if isinstance(found, SupplyPackage):
            self.add(found, several_change.of_package(found, rows, self.wanted))
            return
        if self.wanted.is_price:
            self.add(found, several_change.of_deal(found, rows, self.wanted))
        if not self.wanted.dates:
            return
        packages = [one.id for one in found.supply_deals if one.id is not None]
        for package in packages:
            self.to_read.setdefault(("supply_deals", package), set()).update(rows)
        if not packages:
            why = "It belongs to no package, and dates are those of a package."
            self.effects.append(Effect(key, self.name(key), rows, refused=why))

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next((row.name for row in self.rows if row.key == key), f"{key[0]} {key[1]}")


JOB, MOST = "deals_several", 500
DEALS, SUPPLY = "demand_deals", "supply_deals"


def draw(
    context: PageContext, search: ListSearch, count: int, chosen: Sequence[DealRow], is_all: bool
) -> None:
    """Draw the button for the chosen rows, and the dialog while it is open."""
    number = count if is_all else len(chosen)
    st.button(
        f"Edit {planned_steps.number(number)}" if number else "Edit",
        icon=":material/edit:",
        key="deals_edit",
        disabled=not 0 < number <= MOST,
        help=f"At most {MOST} at once" if number > MOST else None,
        on_click=_open,
        args=(context, search, None if is_all else list(chosen)),
    )
    if (job := st.session_state.get(JOB)) is not None:
        title = f"Edit {count_label(job.entity, len(job.rows))}"
        st.dialog(title, width="large", on_dismiss=_close)(_dialog)(context, job)


def _open(context: PageContext, search: ListSearch, rows: list[DealRow] | None) -> None:
    """Open the dialog; if all are chosen, the service says which these are. A callback."""
    failure = ""
    if rows is None:
        try:
            rows = list(islice(pages.rows_by_name(catalogue.client(context), search), MOST))
        except TrancheError as error:
            rows, failure = [], f"{error.reason.rstrip('.')}. Nothing was changed."
    forget()
    record = context.clients.bulk_actions.record("Edited")
    st.session_state[JOB] = SeveralJob(entity=search.entity, rows=rows, failure=failure, record=record)


def _dialog(context: PageContext, job: SeveralJob) -> None:
    """Draw the phase that the change is in."""
    with st.empty().container():
        match job.phase:
            case "form":
                _form(context, job)
            case "reading" | "writing":
                planned_steps.run(context, job, partial(_choose_failed, job))
            case "preview":
                _preview(context, job, prices.of(context))
            case "done":
                _result(job, prices.of(context))


def _form(context: PageContext, job: SeveralJob) -> None:
    does, is_deals = permission.of(context), job.entity == DEALS
    draw_several_form(prices.of(context), is_deals, plain(does.why_not(SUPPLY, "change")), is_deals)
    if job.failure:
        beside([job.failure])
    st.button(
        "Preview", type="primary", key="several_preview", disabled=not job.rows, on_click=_ask, args=(job,)
    )


def _choose_failed(job: SeveralJob) -> None:
    """Choose what was not saved."""
    view.choose_only({as_text(row.key): row for row in job.still_chosen})


def _preview(context: PageContext, job: SeveralJob, money: Prices) -> None:
    changes = [one for one in job.effects if one.is_change]
    named = planned_steps.changes(changes)
    planned_steps.summary(job, named)
    planned_steps.table(_table(job.effects, job, money), "What changes, before and after")
    planned_steps.others(changes)
    doubts = ", ".join(sorted({one.doubt for one in changes if one.doubt}))
    is_sure = questions.confirm(questions.with_unit(context, doubts), PREFIX)
    with st.container(horizontal=True):
        st.button(
            f"Save {named}".strip(), type="primary", key="several_save",
            disabled=not changes or not is_sure, on_click=job.start,
        )  # fmt: skip
        st.button("Back", key="several_back", on_click=_back, args=(job,))


def _result(job: SeveralJob, money: Prices) -> None:
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    planned_steps.verdict(
        job, f"{saved} saved" if saved else "Nothing saved", "What was not saved stays chosen."
    )
    results = planned_steps.results(job)
    planned_steps.table(_table(job.effects, job, money, results), "The result of each change")
    with st.container(horizontal=True):
        if st.button("Close", key="several_close"):
            _close()
            st.rerun()
        if any(not one.reason for one in job.outcomes):
            undo.offer(job.record, _close)
        if job.still_chosen:
            st.button("Preview the rest again", key="several_again", on_click=_ask_again, args=(job,))


def _table(
    effects: Iterable[Effect],
    job: SeveralJob,
    money: Prices,
    results: Results | None = None,
) -> dict[str, list[str]]:
    """A row per entity: each field before → after, and what is to be said of it."""
    shown = list(effects)
    columns = {"Name": [one.name for one in shown]}
    if results is not None:
        columns["Result"] = [became(one, results) for one in shown]
    for name in job.wanted.names:
        columns[facts.title(name, money)] = [_arrow(one, name) for one in shown]
    columns["Note"] = [note(one, results or {}) for one in shown]
    return columns


def _arrow(effect: Effect, name: str) -> str:
    """`2.50 → 2.75`; the value alone where it stays."""
    if name not in effect.before:
        return ""
    before = facts.value(name, effect.before[name])
    return f"{before} → {facts.value(name, effect.after[name])}" if name in effect.after else before


def _ask(job: SeveralJob) -> None:
    """Read the chosen ones for the preview; nothing while a field is wrong. A callback."""
    try:
        wanted = read()
    except ValueError as error:
        job.failure = str(error)
        return
    job.failure = ""
    job.preview(wanted, [row.key for row in job.rows])


def _ask_again(job: SeveralJob) -> None:
    """Read those again that were not saved. A callback."""
    job.rows = job.still_chosen
    job.preview(job.wanted, [row.key for row in job.rows])


def _back(job: SeveralJob) -> None:
    """Back to what to change. A callback."""
    job.phase = "form"


def _close() -> None:
    """Close the dialog. What was not sent stays as it is, and chosen. A callback."""
    job: SeveralJob | None = st.session_state.pop(JOB, None)
    forget()
    if job is not None and job.phase == "writing":
        view.choose_only({as_text(row.key): row for row in job.still_chosen})
        catalogue.forget()
