"""The dialog that edits price and dates of several entities: the form, a preview, progress, the result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import islice

import streamlit as st

from lib.deals import values
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.values import DECIMALS, LARGEST_AMOUNT, Limits
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import change_steps
from lib.ui.deals.changes.change_job import PRICE, ChangeJob, Effect
from lib.ui.deals.changes.change_steps import ChangeSteps, count_label
from lib.ui.deals.facts import OFFSETS, Prices, offset
from lib.ui.deals.list import list_state
from lib.ui.deals.list.deal_rows import KINDS, DealRow, Key, as_text, title_of
from lib.ui.deals.list.list_state import ListSearch
from lib.ui.kit import amounts, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

JOB, MOST, CENTS, PREFIX = "deals_several", 500, 2, "several_"
HOW, AMOUNT, NO_END, ZONE = (f"{PREFIX}{name}" for name in ("how", "amount", "no_end", "zone"))
START, END = "start_date", "end_date"
FIELDS = {START: f"{PREFIX}start", END: f"{PREFIX}end"}
SET, PERCENT = "Set to", "Change by %"
OWN_ZONE = "Each package's own"
PERCENTAGE = Limits(least=-100, below=10_001, decimals=4)


@dataclass(frozen=True)
class SeveralChanges:
    """The change requested for all: a price, or a percentage by which prices change, and dates.

    `dates` are local times by field, None for no end; `offset` is their zone in minutes east of UTC, None for
    the zone of each package's own start.
    """

    price: Decimal | None = None
    percent: Decimal | None = None
    dates: Mapping[str, datetime | None] = field(default_factory=dict)
    offset: int | None = None

    @property
    def is_price(self) -> bool:
        """Whether prices change."""
        return self.price is not None or self.percent is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that change."""
        return ((PRICE,) if self.is_price else ()) + tuple(self.dates)

    def of_deal(self, deal: DemandDeal, rows: frozenset[Key]) -> Effect:
        """The new price of a deal."""
        before, after, refusal = {PRICE: deal.price}, {}, ""
        try:
            after = {PRICE: self._price(deal.price)}
        except ValueError as error:
            refusal = str(error)
        after = {} if after == before else after
        return Effect((DEALS, deal.id or 0), title_of(deal), before, after, deal.etag, refusal, rows=rows)

    def of_package(self, package: SupplyPackage, rows: frozenset[Key]) -> Effect:
        """The new dates of a package, in the zone that was chosen or its own."""
        zone = own_zone(package) if self.offset is None else timezone(timedelta(minutes=self.offset))
        dates = {name: at and at.replace(tzinfo=zone) for name, at in self.dates.items()}
        return with_dates(package, rows, dates)

    def _price(self, price: Decimal | None) -> Decimal | None:
        """The price afterwards; by a percentage it is rounded to cents, or to the decimals that it has."""
        if self.percent is None:
            return self.price
        if price is None:
            raise ValueError("It has no price to apply a percentage to.")
        places = max(CENTS, min(DECIMALS, -int(price.normalize().as_tuple().exponent)))
        exact = price * (100 + self.percent) / 100
        new_price = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        if new_price >= LARGEST_AMOUNT:
            raise ValueError(f"The price would not be less than {LARGEST_AMOUNT:,}.")
        return new_price


def with_dates(package: SupplyPackage, rows: frozenset[Key], dates: Mapping[str, datetime | None]) -> Effect:
    """A package with these dates, which are those of the deals that are sold with it."""
    before = {START: package.start_date, END: package.end_date}
    after = {one: at for one, at in dates.items() if at != before[one]}
    start, end = (after.get(one, before[one]) for one in (START, END))
    deal_ids = {entity_id for entity, entity_id in rows if entity == DEALS}
    others = {one.id: one.name or f"Deal {one.id}" for one in package.demand_deals if one.id not in deal_ids}
    wrong = "The end would not be after the start." if after and start and end and end <= start else ""
    return Effect(
        (SUPPLY, package.id or 0), title_of(package), before, after, package.etag, wrong, rows=rows,
        others=others,
    )  # fmt: skip


def own_zone(package: SupplyPackage) -> tzinfo:
    """That of the package's own start."""
    shift = package.start_date.utcoffset() if package.start_date is not None else None
    return timezone(shift or timedelta(0))


@dataclass(kw_only=True)
class SeveralJob(ChangeJob):
    """The change as far as it has come; `rows` are the chosen ones."""

    entity: str
    rows: list[DealRow]
    changes: SeveralChanges = field(default_factory=SeveralChanges)
    failure: str = ""

    def preview(self, several_changes: SeveralChanges, rows: Iterable[DealRow]) -> None:
        """Read these rows, and what the change concerns, from now on."""
        self.changes, self.rows = several_changes, [*rows]
        self.begin(row.key for row in self.rows)

    @property
    def failed_rows(self) -> list[DealRow]:
        """The rows of which something failed or was not sent."""
        return [row for row in self.rows if row.key in self.unsaved_rows]

    def plan(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity; of a deal whose dates change, its packages are read next."""
        if isinstance(entity, SupplyPackage):
            self.add(entity, self.changes.of_package(entity, rows))
            return
        if self.changes.is_price:
            self.add(entity, self.changes.of_deal(entity, rows))
        if not self.changes.dates:
            return
        packages = [one.id for one in entity.supply_deals if one.id is not None]
        for package in packages:
            self.to_read.setdefault((SUPPLY, package), set()).update(rows)
        if not packages:
            why = "It belongs to no package, and dates are those of a package."
            self.effects.append(Effect(key, self.name(key), refusal=why, rows=rows))

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next((row.name for row in self.rows if row.key == key), f"{KINDS[key[0]]} {key[1]}")


def button_title(verb: str, count: int, is_all: bool) -> str:
    """`Edit 12`, or `Edit all 12` for all that a list finds."""
    return f"{verb} {'all ' if is_all else ''}{change_steps.number(count)}" if count else verb


def draw(
    context: PageContext, search: ListSearch, count: int, selection: Sequence[DealRow], is_all: bool
) -> None:
    """Draw the button for the chosen rows, and the dialog while it is open."""
    number = count if is_all else len(selection)
    st.button(
        button_title("Edit", number, is_all), icon=":material/edit:", key="deals_edit",
        disabled=not 0 < number <= MOST, help=f"At most {MOST} at once" if number > MOST else None,
        on_click=_open, args=(context, search, None if is_all else list(selection)),
    )  # fmt: skip
    if (job := st.session_state.get(JOB)) is not None:
        title = f"Edit {count_label(KINDS[job.entity], len(job.rows))}"
        st.dialog(title, width="large", on_dismiss=_close)(_dialog)(context, job)


def _open(context: PageContext, search: ListSearch, rows: list[DealRow] | None) -> None:
    """Open the dialog; if all are chosen, the service says which these are. A callback."""
    failure = ""
    try:
        if rows is None:
            rows = list(islice(catalog.rows_by_name(context.deals, search), MOST))
    except TrancheError as error:
        failure = f"{error.reason.rstrip('.')}. Nothing was changed."
    _forget()
    record = context.clients.bulk_actions.record("Edited")
    st.session_state[JOB] = SeveralJob(entity=search.entity, rows=rows or [], failure=failure, record=record)


def _dialog(context: PageContext, job: SeveralJob) -> None:
    """Draw the phase that the change is in."""
    with st.empty().container():
        if job.phase == "form":
            _form(context, job)
            return
        names = job.changes.names
        steps = ChangeSteps(
            PREFIX, lambda effects: change_steps.field_columns(context, effects, names, has_same=True),
            close=_close, back=partial(setattr, job, "phase", "form"),
            retry=partial(_ask_again, job) if job.failed_rows else None,
            after=partial(_select_failures, job), rest="What was not saved stays chosen.",
        )  # fmt: skip
        steps.draw(context, job)


def _form(context: PageContext, job: SeveralJob) -> None:
    is_deals = job.entity == DEALS
    if is_deals:
        with st.container():  # what comes and goes in it moves no field below: it would lose what is typed
            _draw_price(facts.prices_of(context))
    if no_dates := catalog.abilities(context).why_not(SUPPLY, "change"):
        st.caption(plain(no_dates))
    else:
        _draw_dates(is_deals)
    if job.failure:
        beside([job.failure])
    st.button(
        "Preview", type="primary", key="several_preview", disabled=not job.rows, on_click=_ask, args=(job,)
    )


def _draw_price(money: Prices) -> None:
    st.segmented_control(
        plain(money.title), [SET, PERCENT], key=HOW, required=True, default=SET,
        persist_state="session",
    )  # fmt: skip
    how = st.session_state.get(HOW) or SET
    amounts.field(money.title if how == SET else "Percent, like 5 or -7.5", AMOUNT, placeholder="keep")
    text = st.session_state.get(AMOUNT) or ""
    beside(filter(None, [amounts.fault(text, limits=_limits(how))]))
    if how == PERCENT:
        st.caption("Rounded to cents, or to the decimals that a price has already.")


def _draw_dates(is_deals: bool) -> None:
    state, note = st.session_state, "Fields left empty stay as they are."
    if is_deals:
        st.markdown("**Dates of their packages**")
        note = f"A package's dates are those of all of its deals. {note}"
    st.caption(note)
    has_no_end = bool(state.get(NO_END))
    for column, title, name in zip(
        st.columns(2, vertical_alignment="top"), ("Start", "End"), (START, END), strict=True
    ):
        is_off = name == END and has_no_end
        with column:
            times.draw(title, FIELDS[name], [], empty="keep", disabled=is_off)
            beside(filter(None, ["" if is_off else times.fault(state.get(FIELDS[name]) or "")]))
    zone, no_end = st.columns(2, vertical_alignment="bottom")
    with zone:
        st.selectbox(
            "Time zone", [OWN_ZONE, *OFFSETS], key=ZONE, persist_state="session",
            format_func=lambda one: offset(one) if isinstance(one, int) else one,
        )  # fmt: skip
    with no_end:
        st.checkbox("Remove the end", key=NO_END, persist_state="session")


def _limits(how: str) -> Limits:
    return PERCENTAGE if how == PERCENT else values.AMOUNT


def _read() -> SeveralChanges:
    """The typed change. ValueError, with a sentence, if a field is wrong or nothing changes."""
    state = st.session_state
    how = state.get(HOW) or SET
    number = amounts.read(state.get(AMOUNT) or "", _limits(how))
    has_no_end, zone = state.get(NO_END), state.get(ZONE)
    moments = {
        name: times.read(state.get(key) or "")
        for name, key in FIELDS.items()
        if not (name == END and has_no_end)
    }
    dates = {name: at for name, at in moments.items() if at is not None} | ({END: None} if has_no_end else {})
    several_changes = SeveralChanges(
        number if how == SET else None, number if how == PERCENT else None, dates,
        zone if isinstance(zone, int) else None,
    )  # fmt: skip
    if not several_changes.names:
        raise ValueError("Type what to change: a price or a date.")
    return several_changes


def _ask(job: SeveralJob) -> None:
    """Read the chosen ones for the preview; nothing while a field is wrong. A callback."""
    job.failure = ""
    try:
        job.preview(_read(), job.rows)
    except ValueError as error:
        job.failure = str(error)


def _ask_again(job: SeveralJob) -> None:
    """Read those again that were not saved. A callback."""
    job.preview(job.changes, job.failed_rows)


def _select_failures(job: SeveralJob) -> None:
    """Choose what was not saved."""
    list_state.choose_only({as_text(row.key): row for row in job.failed_rows})


def _forget() -> None:
    """Empty the fields."""
    for key in [one for one in st.session_state if str(one).startswith(PREFIX)]:
        del st.session_state[key]


def _close() -> None:
    """Close the dialog. What was not sent stays as it is, and chosen. A callback."""
    job: SeveralJob | None = st.session_state.pop(JOB, None)
    _forget()
    if job is not None and job.phase == "writing":
        _select_failures(job)
        catalog.forget()
