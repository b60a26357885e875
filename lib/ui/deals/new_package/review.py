"""The review in words, the one button that creates the package and its deals, and what became of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import streamlit as st

from lib.deals import doubts
from lib.deals.client import Deals, to_json
from lib.deals.fields import TERMS
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.insight.kinds import KINDS
from lib.ui.deals import catalog, facts
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.changes import confirmations, proposal_form
from lib.ui.deals.facts import sentences
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import PER_SEAT, PLAIN, Draft, fault_labels, seat_name
from lib.ui.deals.forms.inputs import Faults, FormValues
from lib.ui.deals.new_package import state
from lib.ui.deals.targeting import pending
from lib.ui.deals.targeting.words import Descriptions, Marks
from lib.ui.kit import screens
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open
from lib.wire.errors import Conflict, Invalid, TrancheError

Seats = Mapping[int, Seat]
OWN_PLACES = (
    *((name,) for name in PLAIN), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip
INPUT_NOTE = "What you entered is kept."
LOOK = f"It may have been created: check the service and Deals before you retry. {INPUT_NOTE}"


@dataclass(frozen=True)
class CreatedPackage:
    """The package, and sentences on what is not as it should be and could not be undone."""

    package: SupplyPackage
    gaps: tuple[str, ...] = ()


def create_package(deals: Deals, draft: Draft, seats: Seats, key: str) -> CreatedPackage:
    """Create the package and all of its deals, or nothing, as one request.

    With the same key it may be repeated where the service honors keys: what is there already is not created
    again. Another's service takes the same terms for all: there deals whose terms differ are changed after
    their creation, and `gaps` says where that failed.
    """
    if draft.deals != "new" or deals.abilities.is_own or not any(terms.own for terms in draft.seats.values()):
        return CreatedPackage(deals.create(SupplyPackage, draft.package(), key))
    whole = {seat: draft.new_deals.of(seat) for seat in draft.seats}
    first = {**next(iter(whole.values())), "is_active": True}
    common = {name: first[name] for name in TERMS}
    alike = {seat: replace(terms, own={}) for seat, terms in draft.seats.items()}
    package = deals.create(SupplyPackage, replace(draft, seats=alike, terms=common).package(), key)
    changes = {
        seat: {name: terms[name] for name in PER_SEAT if terms[name] != first[name]}
        for seat, terms in whole.items()
    }
    return CreatedPackage(package, tuple(_change_deals(deals, package, changes, seats)))


def _change_deals(
    deals: Deals, package: SupplyPackage, own: Mapping[int, FormValues], seats: Seats
) -> Iterator[str]:
    """Give deals the terms that they have of their own, by seat; a sentence for each where that failed."""
    waiting = {seat: terms for seat, terms in own.items() if terms}
    for link in package.demand_deals:
        try:
            deal = deals.get(DemandDeal, link.id)
            terms = waiting.pop(deal.seat.id, None) if deal.seat and deal.seat.id is not None else None
            if terms is not None:
                deals.change(DemandDeal, link.id, inputs.terms_request(terms))
        except TrancheError as error:
            yield f"Deal {link.id} has the terms of the first seat: {error.reason.rstrip('.')}"
    for seat in waiting:
        yield f"The deal for {seat_name(seats.get(seat), seat)} may have the terms of the first seat"


def draw(
    context: PageContext,
    draft: Draft,
    faults: Faults,
    problems: FieldProblems,
    descriptions: Descriptions,
    marks: Marks,
) -> None:
    """A summary of what will be created, with the button and errors that belong to no field."""
    st.header("What will be created", anchor=False)
    deals = catalog.link_labels(context, DemandDeal, draft.links)
    seats, money = catalog.seats(context), facts.prices_of(context)
    st.markdown("\n\n".join(sentences(draft, seats, deals, descriptions, marks, money)))
    if problems:
        beside(problems.others(OWN_PLACES))
    is_doubtful = _doubt()
    refusal = "Not created: confirm this first." if state.ATTEMPT in st.session_state else ""
    confirmations.confirm(_questions(context, draft), state.PREFIX, refusal)
    if proposal_form.may_only_propose(context):
        proposal_form.draw(state.PREFIX, "Propose package", propose, (context,))
        _why_not(faults, draft, context, problems)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Create package",
            type="primary",
            key="np_create_button",
            disabled=is_doubtful or bool(catalog.abilities(context).why_not("supply_deals", "create")),
            on_click=create,
            args=(context,),
        )
        _start_over(context, draft)
    _why_not(faults, draft, context, problems)


def _why_not(faults: Faults, draft: Draft, context: PageContext, problems: FieldProblems) -> None:
    """The fields that prevent creation; in red after a first try."""
    labels = [
        *fault_labels(faults, draft.new_deals, catalog.seats(context)),
        *pending.tasks(state.TARGETING),
    ]
    if not labels and not problems.messages:
        return
    sentence = ", ".join(labels) or "the fields marked above"
    if state.ATTEMPT in st.session_state:
        beside([f"Not created. To fix: {sentence}."])
    else:
        st.caption(f"Still needed: {plain(sentence)}.")


def _start_over(context: PageContext, draft: Draft) -> None:
    """The way to an empty form, which asks first."""
    popover = st.popover("Start over", type="tertiary", key="np_over", disabled=draft.is_untouched)
    with popover:
        st.markdown("What you entered will be discarded.")
        st.button(
            "Discard draft",
            type="primary",
            key="np_discard",
            on_click=state.discard,
            args=(context.clients.drafts,),
        )


def _doubt() -> bool:
    """The failure, and whether a lookup is needed because the package may have been created."""
    session = st.session_state
    is_asked = state.DOUBT in session
    if failure := session.get(state.FAILURE, LOOK if is_asked else ""):
        st.error(plain(failure), icon=":material/error:")
    return is_asked and not st.checkbox("It was not created: retry", key=state.SURE)


def _questions(context: PageContext, draft: Draft) -> list[str]:
    """What has to be confirmed: prices, terms and dates."""
    package = draft.package()
    questions = confirmations.of_new_deals(context, package, draft.new_deals) if draft.deals == "new" else []
    over = doubts.dates(package.end_date)
    return [*questions, over] if over else questions


def propose(context: PageContext) -> None:
    """Propose the package. A callback."""
    session = st.session_state
    session[state.ATTEMPT] = True
    draft = state.read(context)
    if draft.faults(bool(catalog.abilities(context).fees)).all or pending.tasks(state.TARGETING):
        return
    booking = (draft.moment("start_date"), draft.moment("end_date"))
    estimate = proposal_form.estimate(context, draft.targeting, draft["media_type"], booking)
    body = {"fields": to_json(draft.package()), "expected": estimate}
    if proposal_form.propose(context, state.PREFIX, body, state.question()):
        state.discard(context.clients.drafts)


def create(context: PageContext) -> None:
    """Create the package, with the form's key: whatever is clicked twice, it is created once. A callback.

    Nothing is sent while a field is wrong. A service that honors no keys is asked again only by somebody who
    has looked whether it is there.
    """
    session = st.session_state
    if session.get(state.RESULT) is not None or (state.DOUBT in session and not session.get(state.SURE)):
        return
    for key in (state.PROBLEMS, state.FAILURE):
        session.pop(key, None)
    session[state.ATTEMPT] = True
    try:
        draft = state.read(context)
        has_fees = bool(catalog.abilities(context).fees)
        is_wrong = draft.faults(has_fees).all or pending.tasks(state.TARGETING)
        if is_wrong or not confirmations.is_confirmed(_questions(context, draft), state.PREFIX):
            return
        deals, seats = context.deals, catalog.seats(context)
    except TrancheError as error:
        session[state.FAILURE] = f"{error.reason.rstrip('.')}. Nothing was created. {INPUT_NOTE}"
        return
    for key in (state.DOUBT, state.SURE):
        session.pop(key, None)
    _ask(context, deals, draft, seats)


def _ask(context: PageContext, deals: Deals, draft: Draft, seats: Seats) -> None:
    session, is_once = st.session_state, deals.abilities.repeats
    if not is_once:
        session[state.DOUBT] = True
        state.keep(context.clients.drafts, draft)
    try:
        result = _create(context, deals, draft, seats)
        session[state.RESULT] = replace(result, gaps=(*result.gaps, *_keep_question(context, result)))
    except TrancheError as error:
        if not is_open(error):
            session.pop(state.DOUBT, None)
        if isinstance(error, Invalid):
            session[state.PROBLEMS] = FieldProblems.of(error, draft.package().body())
        else:
            session[state.FAILURE] = f"{error.reason.rstrip('.')}. {advice(error, is_once)}"
    else:
        session.pop(state.DOUBT, None)
        state.forget_draft(context.clients.drafts)
    catalog.forget()


def _create(context: PageContext, deals: Deals, draft: Draft, seats: Seats) -> CreatedPackage:
    """Create the package, as the approval of a proposal where the form has one."""
    session, results = st.session_state, list[CreatedPackage]()

    def write() -> int:
        results.append(create_package(deals, draft, seats, session[state.KEY]))
        return results[0].package.id or 0

    proposal_form.once(context, session.get(state.PROPOSAL), write, draft.package().body())
    return results[0]


def _keep_question(context: PageContext, result: CreatedPackage) -> tuple[str, ...]:
    """Store the question that the package comes from; a sentence where that failed."""
    package_question, package = state.question(), result.package.id
    if package_question is None or package is None:
        return ()
    try:
        context.clients.package_questions.keep(package, package_question)
    except TrancheError as error:
        return (f"The link to its question is not stored: {error.reason.rstrip('.')}",)
    return ()


def advice(error: TrancheError, is_once: bool) -> str:
    """What was kept and what to do next. `is_once`: a repeated request creates it only once."""
    if isinstance(error, Conflict):
        return "What you entered is kept: check Deals before you retry."
    if is_open(error):
        return "What you entered is kept. You can retry: it won't be created twice." if is_once else LOOK
    return f"Nothing was created. {INPUT_NOTE}"


def draw_result(context: PageContext, result: CreatedPackage) -> None:
    """The package that was created, what is missing of it, and where to go from here."""
    package = result.package
    count = len(package.demand_deals)
    with_deals = f"with {count} demand deal{'' if count == 1 else 's'}" if count else "without demand deals"
    st.success(
        f"{plain(package.name or '')} is created as package {package.id}, {with_deals}.",
        icon=":material/check_circle:",
    )
    if result.gaps:
        lines = "\n".join(f"- {plain(gap)}" for gap in result.gaps)
        st.warning(
            f"Some of it is not as you entered it. Fix this in Deals:\n\n{lines}", icon=":material/warning:"
        )
    if count:
        _hand_over(context, package)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            screens.DEALS,
            label="Open in Deals",
            icon=":material/handshake:",
            query_params={"open": f"supply_deals-{package.id}"},
        )
        st.button("Create another package", icon=":material/add:", key="np_another", on_click=state.clear)


def _hand_over(context: PageContext, package: SupplyPackage) -> None:
    """Draw what the buyer needs of the deals; their names alone where they can't be read now."""
    try:
        deals = catalog.deals_of(context.deals, [package])[package.id or 0]
    except TrancheError as error:
        st.caption(f":material/info: The deal ids could not be loaded: {plain(error.reason)}. See Deals.")
        st.markdown("\n".join(f"- {plain(deal.name or '')} ({deal.id})" for deal in package.demand_deals))
        return
    hand_over.draw(context, package, deals)
