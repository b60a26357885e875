"""The plan of a portfolio: what is known to help the chosen deals, previewed, and made as proposals.

Nothing is changed by it: whoever may change deals decides about each proposal.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from lib.deals.models import LONGEST_NAME, shorten
from lib.deals.proposals.models import LONGEST_REASON
from lib.deals.proposals.writers import ClientWriter
from lib.insight.kinds import elements
from lib.insight.portfolio import PlannedChange, Standing
from lib.insight.portfolio_report import Portfolio
from lib.ui.deals import facts, history, proposals
from lib.ui.deals.change_steps import count_label
from lib.ui.kit import notes, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

OPEN, PROBLEMS, MOST = "portfolio_plan", "portfolio_plan_problems", 100


def draw_button(choice: Sequence[Standing]) -> None:
    """Draw the button that opens the preview."""
    st.button(
        f"Propose plan for {len(choice):,}" if choice else "Propose plan",
        icon=":material/rate_review:", key="portfolio_propose", disabled=not choice, on_click=_open,
        help="What is known to help the chosen deals, as proposals" if choice else "Choose deals in the list",
    )  # fmt: skip


def draw_dialog(
    context: PageContext, report_context: PageContext, portfolio: Portfolio, choice: Sequence[Standing]
) -> None:
    """Draw the preview, if it is open."""
    if st.session_state.get(OPEN) and choice:
        dialog = st.dialog("Plan", width="large", icon=":material/rate_review:", on_dismiss=_close)
        dialog(_content)(context, report_context, portfolio, choice[:MOST])


def plan(
    portfolio: Portfolio, choice: Sequence[Standing]
) -> tuple[dict[tuple[str, int], tuple[Standing, PlannedChange]], dict[str, list[Standing]]]:
    """The changes by what they change, once each, with the deal that each is for; other deals by reason."""
    changes: dict[tuple[str, int], tuple[Standing, PlannedChange]] = {}
    without: dict[str, list[Standing]] = {}
    for one in choice:
        change = portfolio.change(one)
        if isinstance(change, str):
            without.setdefault(change, []).append(one)
        else:
            changes.setdefault((change.entity, change.entity_id), (one, change))
    return changes, without


def body(
    report_context: PageContext, portfolio: Portfolio, one: Standing, change: PlannedChange
) -> dict[str, Any]:
    """A planned change as a proposal, with the question that it came from."""
    params = {
        "is.deal": str(one.deal.id), "start": portfolio.first.isoformat(), "end": portfolio.last.isoformat(),
    }  # fmt: skip
    return {
        "entity": change.entity,
        "entity_id": change.entity_id,
        "fields": dict(change.fields),
        "reason": shorten(change.reason, LONGEST_REASON),
        "question": {
            "project": report_context.project, "slicer": report_context.slicer_name, "params": params,
        },
    }  # fmt: skip


def _open() -> None:
    """Open the preview. A callback."""
    st.session_state[OPEN] = True
    st.session_state.pop(PROBLEMS, None)


def _close() -> None:
    """Close it. A callback."""
    st.session_state.pop(OPEN, None)


def _content(
    context: PageContext, report_context: PageContext, portfolio: Portfolio, choice: Sequence[Standing]
) -> None:
    changes, without = plan(portfolio, choice)
    if changes:
        st.markdown("Nothing is changed by this: somebody who may change deals decides about each proposal.")
    for _, change in changes.values():
        st.markdown(f"**{plain(_title(portfolio, change))}**: {plain(_words(context, portfolio, change))}")
        with st.expander("Why"):
            st.markdown(plain(change.reason))
    for why, standings in without.items():
        st.markdown(f"**No proposal.** {plain(why)}")
        st.caption(plain(" · ".join(portfolio.name(one.deal.id) for one in standings)))
    for problem in st.session_state.get(PROBLEMS, ()):
        st.error(plain(problem), icon=":material/error:")
    bodies = [body(report_context, portfolio, *of) for of in changes.values()]
    with st.container(horizontal=True, vertical_alignment="center"):
        if bodies:
            label = f"Make {count_label('proposal', len(bodies))}"
            st.button(label, type="primary", key="portfolio_make", on_click=_make, args=(context, bodies))
        st.page_link(
            screens.DEALS, label="Open proposals", icon=":material/rate_review:",
            query_params={proposals.PARAM: "all"},
        )  # fmt: skip


def _title(portfolio: Portfolio, change: PlannedChange) -> str:
    if change.entity == "demand_deals":
        return portfolio.name(change.entity_id)
    package = portfolio.book.packages[change.entity_id]
    return f"Package {shorten(package.name or str(change.entity_id), LONGEST_NAME)}"


def _words(context: PageContext, portfolio: Portfolio, change: PlannedChange) -> str:
    """The change in words, as its history will have it."""
    if change.entity == "supply_deals":
        before: dict[str, Any] = elements(portfolio.book.packages[change.entity_id])
    else:
        deal = next(one for one in portfolio.book.deals if one.id == change.entity_id)
        before = {name: getattr(deal, name) for name in change.fields}
    if change.fields.get("is_active") is False:
        return "Pause"
    money = facts.prices_of(context)
    return "; ".join(
        history.sentence(name, before[name], after, money) for name, after in change.fields.items()
    )


def _make(context: PageContext, bodies: Sequence[dict[str, Any]]) -> None:
    """Store the proposals; the same again, while they are open, are not stored twice. A callback."""
    writer, problems = ClientWriter(context.deals), []
    for one in bodies:
        try:
            context.clients.proposals.propose(one, writer)
        except TrancheError as error:
            problems.append(f"{one['entity']} {one['entity_id']}: {error.reason.rstrip('.')}. Not proposed.")
    st.session_state.pop(proposals.AT, None)
    st.session_state[PROBLEMS] = problems
    if not problems:
        _close()
        notes.say(f"{count_label('proposal', len(bodies))} made: somebody who may change deals decides")
    st.rerun()
