"""The review in words, the one button that creates the package, and what became of it."""

import uuid
from dataclasses import replace

import streamlit as st

from lib.deals import doubts
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import catalogue, hand_over, links, pages, permission, price_doubts, prices
from lib.ui.deals.draft import Draft
from lib.ui.deals.new_package import creation, faults, form, state
from lib.ui.deals.new_package.creation import Created, Undone
from lib.ui.deals.new_package.faults import Faults
from lib.ui.deals.targeting import typed
from lib.ui.deals.targeting.words import Described, Marks
from lib.ui.deals.words import seat_name, sentences
from lib.ui.kit import screens
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import Here
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open
from lib.wire.errors import Conflict, Invalid, TrancheError

KEPT = "What you entered is kept."
LOOK = f"It may have been created: check the service and Deals before you retry. {KEPT}"


def draw(
    here: Here, draft: Draft, found: Faults, problems: FieldProblems, described: Described, marks: Marks
) -> None:
    """A summary of what will be created, with the button and errors that belong to no field."""
    st.header("What will be created", anchor=False)
    deals = links.named(here, DemandDeal, draft.links)
    seats, money = catalogue.seats(here), prices.of(here)
    st.markdown("\n\n".join(sentences(draft, seats, deals, described, marks, money)))
    if problems:
        beside(problems.elsewhere(form.SHOWN))
    is_doubtful = _doubt()
    _unusual(here, draft)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Create package",
            type="primary",
            key="np_create_button",
            disabled=is_doubtful or bool(permission.of(here).why_not("supply_deals", "create")),
            on_click=create,
            args=(here,),
        )
        _start_over(here, draft)
    _why_not(found, draft, here, problems)


def _why_not(found: Faults, draft: Draft, here: Here, problems: FieldProblems) -> None:
    """The fields that prevent creation; in red after a first try."""
    fields = [*found.named(draft, catalogue.seats(here)), *typed.unsettled(state.TARGETING)]
    refused = not fields and bool(problems.found)
    if not fields and not refused:
        return
    said = "the fields marked above" if refused else ", ".join(fields)
    if state.TRIED in st.session_state or found.wrong or refused:
        beside([f"Not created. To fix: {said}."])
    else:
        st.caption(f"Still needed: {plain(said)}.")


def _start_over(here: Here, draft: Draft) -> None:
    """The way to an empty form, which asks first."""
    popover = st.popover("Start over", type="tertiary", key="np_over", disabled=draft.is_untouched)
    with popover:
        st.markdown("What you entered will be discarded.")
        st.button(
            "Discard draft",
            type="primary",
            key="np_discard",
            on_click=state.discard,
            args=(here.clients.drafts,),
        )


def _doubt() -> bool:
    """The failure, and whether a lookup is needed because the package may have been created."""
    kept = st.session_state
    is_asked = state.ASKED in kept
    if said := kept.get(state.FAILURE, LOOK if is_asked else ""):
        st.error(plain(said), icon=":material/error:")
    return is_asked and not st.checkbox("It was not created: retry", key=state.SURE)


def unusual(here: Here, draft: Draft) -> str:
    """The prices that have to be confirmed: `a price of 0 for Alpha`; empty without any."""
    if draft.deals != "new":
        return ""
    seats = catalogue.seats(here)
    found = [
        f"{doubt} for {seat_name(seats.get(seat), seat)}"
        for seat, terms in draft.seats.items()
        if (doubt := price_doubts.doubt(here, seat, terms.amount))
    ]
    return ", ".join(found)


def _unusual(here: Here, draft: Draft) -> None:
    """Ask for prices and dates that look like a slip; another price or date asks again."""
    if asked := unusual(here, draft):
        st.checkbox(f"Confirm {plain(asked)} ({plain(prices.of(here).terms)})", key=f"np_meant_{asked}")
        if state.TRIED in st.session_state and not _is_meant(asked):
            beside(["Not created: confirm this price first."])
    if over := doubts.dates(draft.moment(draft.end)):
        st.checkbox(f"Confirm {plain(over)}", key=f"np_meant_{over}")
        if state.TRIED in st.session_state and not _is_meant(over):
            beside(["Not created: confirm these dates first."])


def _is_meant(asked: str) -> bool:
    return not asked or bool(st.session_state.get(f"np_meant_{asked}"))


def create(here: Here) -> None:
    """Create the package, with the form's key: whatever is clicked twice, it is created once. A callback.

    Nothing is sent while a field is wrong. A service that honours no keys is asked again only by somebody who
    has looked whether it is there.
    """
    kept = st.session_state
    if kept.get(state.CREATED) is not None or (state.ASKED in kept and not kept.get(state.SURE)):
        return
    for key in (state.PROBLEMS, state.FAILURE):
        kept.pop(key, None)
    kept[state.TRIED] = True
    try:
        draft = state.read(catalogue.named_lists(here))
        has_fees = bool(permission.of(here).fees)
        is_wrong = faults.of(draft, has_fees).all or typed.unsettled(state.TARGETING)
        asked = (unusual(here, draft), doubts.dates(draft.moment(draft.end)))
        if is_wrong or not all(map(_is_meant, asked)):
            return
        deals, seats = catalogue.client(here), catalogue.seats(here)
    except TrancheError as error:
        kept[state.FAILURE] = f"{error.reason.rstrip('.')}. Nothing was created. {KEPT}"
        return
    for key in (state.ASKED, state.SURE):
        kept.pop(key, None)
    _ask(here, deals, draft, seats)


def _ask(here: Here, deals: Deals, draft: Draft, seats: creation.Seats) -> None:
    kept, is_once = st.session_state, deals.abilities.repeats
    if not is_once:
        kept[state.ASKED] = True
        state.keep(here.clients.drafts, draft)
    try:
        made = creation.create(deals, draft, seats, kept[state.KEY])
        kept[state.CREATED] = replace(made, left=(*made.left, *_question_kept(here, made)))
    except TrancheError as error:
        if not is_open(error):
            kept.pop(state.ASKED, None)
        if isinstance(error, Undone):
            kept[state.KEY] = str(uuid.uuid4())
        if isinstance(error, Invalid):
            kept[state.PROBLEMS] = FieldProblems.of(error, draft.package().sent())
        else:
            kept[state.FAILURE] = f"{error.reason.rstrip('.')}. {advice(error, is_once)}"
    else:
        kept.pop(state.ASKED, None)
        state.created(here.clients.drafts)
    catalogue.forget()


def _question_kept(here: Here, made: Created) -> tuple[str, ...]:
    """Store the question that the package comes from; a sentence where that failed."""
    asked, package = state.question(), made.package.id
    if asked is None or package is None:
        return ()
    try:
        here.clients.package_questions.keep(package, asked)
    except TrancheError as error:
        return (f"The link to its question is not stored: {error.reason.rstrip('.')}",)
    return ()


def advice(error: TrancheError, is_once: bool) -> str:
    """What was kept and what to do next. `is_once`: a repeated request creates it only once."""
    if isinstance(error, Conflict):
        return "What you entered is kept: check Deals before you retry."
    if is_open(error):
        return "What you entered is kept. You can retry: it won't be created twice." if is_once else LOOK
    return f"Nothing was created. {KEPT}"


def done(here: Here, created: Created) -> None:
    """The package that was created, what is missing of it, and where to go from here."""
    package = created.package
    count = len(package.demand_deals)
    with_deals = f"with {count} demand deal{'' if count == 1 else 's'}" if count else "without demand deals"
    st.success(
        f"{plain(package.name or '')} is created as package {package.id}, {with_deals}.",
        icon=":material/check_circle:",
    )
    if created.left:
        lines = "\n".join(f"- {plain(one)}" for one in created.left)
        st.warning(
            f"Some of it is not as you entered it. Fix this in Deals:\n\n{lines}", icon=":material/warning:"
        )
    if count:
        _hand_over(here, package)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            screens.DEALS,
            label="Open in Deals",
            icon=":material/handshake:",
            query_params={"open": f"supply_deals-{package.id}"},
        )
        st.button("Create another package", icon=":material/add:", key="np_another", on_click=state.clear)


def _hand_over(here: Here, package: SupplyPackage) -> None:
    """Draw what the buyer needs of the deals; their names alone where they can't be read now."""
    try:
        found = pages.deals_of(catalogue.client(here), [package])[package.id or 0]
    except TrancheError as error:
        st.caption(f":material/info: The deal ids could not be loaded: {plain(error.reason)}. See Deals.")
        st.markdown("\n".join(f"- {plain(deal.name or '')} ({deal.id})" for deal in package.demand_deals))
        return
    hand_over.draw(package, found, prices.of(here))
