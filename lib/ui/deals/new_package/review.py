"""The review in words, the one button that creates the package and its deals, and what became of it."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.deals.client import to_json
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.targeting.kinds import KINDS
from lib.figures.deals import field_text
from lib.figures.deals.targeting_text import Descriptions, Marks
from lib.ui.deals import catalog
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.changes import confirmations, plan_steps, proposal_form
from lib.ui.deals.changes.confirmations import Point
from lib.ui.deals.changes.creation import package_creation
from lib.ui.deals.changes.creation_form import INPUT_NOTE
from lib.ui.deals.counts import count_label
from lib.ui.deals.forms import draft_text
from lib.ui.deals.forms.draft import PLAIN, Draft, fault_labels
from lib.ui.deals.forms.inputs import Faults
from lib.ui.deals.new_package import state
from lib.ui.deals.targeting import pending
from lib.ui.kit import screens
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

OWN_PLACES = (
    *((name,) for name in PLAIN), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip


@dataclass(frozen=True)
class CreatedPackage:
    """The package, sentences on what is otherwise than asked for, and its action for Undo, if any."""

    package: SupplyPackage
    gaps: tuple[str, ...] = ()
    action: int | None = None


def draw(
    context: PageContext,
    draft: Draft,
    faults: Faults,
    problems: FieldProblems,
    descriptions: Descriptions,
    marks: Marks,
) -> None:
    """A summary of what will be created, under its button and what keeps it from being created.

    The button stands above what grows with each key typed in the form: a click on it would miss it.
    """
    st.header("What will be created", anchor=False)
    actions = st.container()
    may_retry = state.FORM.may_retry()
    with actions:
        if proposal_form.may_only_propose(context):
            proposal_form.draw(state.PREFIX, "Propose package", propose, (context,))
        else:
            does = catalog.abilities(context)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Create package", type="primary", key="np_create_button", on_click=create,
                    args=(context,), disabled=not may_retry or bool(does.why_not("supply_deals", "create")),
                )  # fmt: skip
                over = st.popover("Start over", type="tertiary", key="np_over", disabled=draft.is_untouched)
                with over:
                    st.markdown("What you entered will be discarded.")
                    st.button(
                        "Discard draft", type="primary", key="np_discard", on_click=state.discard,
                        args=(context.clients.drafts,),
                    )  # fmt: skip
    seats = catalog.seats(context)
    labels = [*fault_labels(faults, draft.new_deals, seats), *pending.tasks(state.TARGETING)]
    if labels or problems.messages:
        sentence = ", ".join(labels) or "the fields marked beside this"
        if state.FORM.is_tried:
            beside([f"Not created. To fix: {sentence}."])
        else:
            st.caption(f"Still needed: {plain(sentence)}.")
    state.FORM.confirm(_questions(context, draft), "created")
    if problems:
        beside(problems.others(OWN_PLACES))
    deals, money = catalog.link_labels(context, DemandDeal, draft.links), field_text.prices_of(context)
    st.markdown("\n\n".join(draft_text.sentences(draft, seats, deals, descriptions, marks, money)))


def _questions(context: PageContext, draft: Draft) -> list[Point]:
    """What has to be confirmed: prices, as typed too, terms and dates."""
    slips = confirmations.pasted_currencies(context, draft.new_deals) if draft.deals == "new" else []
    return [*confirmations.of_new_package(context, draft.package()), *slips]


def propose(context: PageContext) -> None:
    """Propose the package. A callback."""
    state.FORM.note_try()
    draft = state.read(context)
    if draft.faults(bool(catalog.abilities(context).fees)).all or pending.tasks(state.TARGETING):
        return
    booking = (draft.moment("start_date"), draft.moment("end_date"))
    estimate = proposal_form.estimate(context, draft.targeting, draft["media_type"], booking)
    body = {"fields": to_json(draft.package()), "expected": estimate}
    if proposal_form.propose(context, state.PREFIX, body, state.package_question()):
        state.discard(context.clients.drafts)


def create(context: PageContext) -> None:
    """Create the package, once however often it is clicked. A callback.

    Nothing is sent while a field is wrong.
    """
    session = st.session_state
    if session.get(state.RESULT) is not None or not state.FORM.may_create():
        return
    try:
        draft = state.read(context)
        has_fees = bool(catalog.abilities(context).fees)
        is_wrong = draft.faults(has_fees).all or pending.tasks(state.TARGETING)
        if is_wrong or not confirmations.is_confirmed(_questions(context, draft), state.PREFIX):
            return
        creation = package_creation(draft, context.deals, catalog.seats(context))
    except TrancheError as error:
        state.FORM.fail(f"{error.sentence} Nothing was created. {INPUT_NOTE}")
        return
    drafts, body = context.clients.drafts, draft.package().body()
    plan = state.FORM.create(
        context, f"Created {creation.name}", [creation], body,
        keep=partial(state.keep, drafts, draft),
        approve=lambda write: proposal_form.once(context, session.get(state.PROPOSAL), write, body),
    )  # fmt: skip
    if plan is None:
        return
    [package] = plan.entities
    if isinstance(package, SupplyPackage):
        gaps, origin = plan.gaps, state.package_question()
        if origin is not None and package.id is not None:
            try:
                context.clients.package_questions.keep(package.id, origin)
            except TrancheError as error:
                gaps = [*gaps, f"The link to its question is not stored: {error.reason.rstrip('.')}"]
        session[state.RESULT] = CreatedPackage(package, tuple(gaps), plan.record.number)
    state.forget_draft(drafts)


def draw_result(context: PageContext, result: CreatedPackage) -> None:
    """The package that was created, what is missing of it, and where to go from here."""
    package = result.package
    count = len(package.demand_deals)
    with_deals = f"with {count_label('demand deal', count)}" if count else "without demand deals"
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
        try:
            deals = catalog.deals_of(context.deals, [package])[package.id or 0]
        except TrancheError as error:
            reason = plain(error.reason)
            st.caption(f":material/info: The deal ids could not be loaded: {reason}. See Deals.")
            names = [f"- {plain(deal.name or '')} ({deal.id})" for deal in package.demand_deals]
            st.markdown("\n".join(names))
        else:
            hand_over.draw(context, package, deals)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            screens.DEALS, label="Open in Deals", icon=":material/handshake:",
            query_params={"open": f"supply_deals-{package.id}"},
        )  # fmt: skip
        st.button("Create another package", icon=":material/add:", key="np_another", on_click=state.clear)
        plan_steps.offer_undo(result.action, state.clear, screens.DEALS)
