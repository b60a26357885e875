"""A deal's dossier in the drawer: the link for its buyer, and the buyer's counts beside ours."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.deals.buyer_counts import NOUNS
from lib.deals.models import DemandDeal
from lib.deals.negotiation import seat_number
from lib.figures.deals import deal_report, field_text
from lib.figures.numbers import Numbers
from lib.figures.query import ask
from lib.figures.series import ChartLine, Series
from lib.serving.front.shared_route import PREFIX
from lib.settings import Settings
from lib.share import dossiers, snapshots
from lib.ui.charts import theme, time_chart
from lib.ui.deals.counts import count_label
from lib.ui.deals.insight import report
from lib.ui.kit import notes, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import draw_problem
from lib.ui.query import share
from lib.views.share_links import SharedDeal
from lib.wire.errors import TrancheError
from lib.wire.text import write_day

NEW, PROBLEM = "dossier_link_new", "dossier_link_problem"
TITLE, LIFETIME, RECIPIENT = "dossier_title_{}", "dossier_lifetime_{}", "dossier_recipient_{}"
WHAT = (
    "The link opens a page about this deal alone: terms, days and its funnel by day, without an account. The "
    "buyer accepts, declines or proposes terms there, and adds their own counts."
)
LINKS_TITLE = "Links for this seat (Access revokes them, and opens closed ones again):"
OTHER_SEAT = "The deal is another seat's meanwhile. No link was made: look at the deal again."


def draw_share(context: PageContext, deal: DemandDeal) -> None:
    """Draw the form of a link for the deal's buyer, for those who may share; or the link just made."""
    if not (context.person.may_share and Settings.current().share_links):
        return
    number = deal.id or 0
    of_deal, path = st.session_state.get(NEW, (0, ""))
    with st.expander("Share with buyer", icon=":material/share:", expanded=of_deal == number):
        if of_deal == number:
            st.caption("The link for the buyer. It is shown only now: copy it.")
            st.code(share.address(path, {}), language=None, wrap_lines=True)
            st.button("Make another", key="dossier_another", on_click=st.session_state.pop, args=(NEW, None))
            return
        if (deals_context := report.of_deals_or_note(context)) is None:
            return
        st.caption(WHAT)
        links = context.clients.view_store.share_links.of_deal(SharedDeal(deal.id or 0, seat_number(deal)))
        lines = []
        for link in links:
            recipient = f", for {plain(link.recipient)}" if link.recipient else ""
            at = link.opened and write_day(link.opened.astimezone(times.zone()).date())
            visit = f"opened last on {at}" if at else "never opened"
            until = write_day(link.expires.date())
            note = ", **closed by wrong codes**" if link.is_closed else ""
            lines.append(f"- {plain(link.name)}{recipient}, until {until}, {visit}{note}")
        if lines:
            st.caption("\n".join([LINKS_TITLE, "", *lines]))
        with st.form(f"dossier_form_{number}", border=False):
            st.text_input("Title", (deal.name or f"Deal {number}")[:100], key=TITLE.format(number))
            st.selectbox("Works for", [*share.LIFETIMES], 1, key=LIFETIME.format(number), width=160)
            share.draw_recipient(RECIPIENT.format(number))
            st.form_submit_button(
                "Make a link for the buyer", icon=":material/share:", on_click=_make,
                args=(context, deals_context.project, deals_context.slicer_name, deal),
            )  # fmt: skip
        draw_problem(PROBLEM)


def draw_counts(context: PageContext, deals_context: PageContext, deal: DemandDeal) -> None:
    """Draw what the buyer counts beside what the report does; nothing where they entered nothing."""
    counts = context.clients.buyer_counts.of(deal)
    if counts.at is None:
        return
    asking = deal_report.insight(deals_context)
    asking = replace(asking, ask=partial(ask.audience, deals_context))
    both = asking.dossier(deal, counts, Settings.current().dossier_tolerance)
    st.markdown("**Counts of the buyer**")
    first, *rest = both.sentences(is_buyer=False) or [""]
    differs = both.comparison is not None and both.comparison.main is not None
    (st.warning if differs else st.info)(plain(first), icon=":material/difference:")
    if rest:
        st.markdown(plain(" ".join(rest)))
    if (step := both.step) in both.ours:
        # Both sides of the step to look at, by day.
        names = tuple(write_day(day) for day in both.days)
        starts = tuple(datetime.combine(day, time()) for day in both.days)
        lines = [ChartLine("Ours", Series(names, starts, both.ours[step]))]
        if np.isfinite(both.their_figures(step)).any():
            lines.append(ChartLine("Buyer", Series(names, starts, both.their_figures(step))))
        title = NOUNS[step].capitalize()
        st.caption(f"{title} by day")
        figure = time_chart.over_time(lines, both.fields[step], Numbers.of(context.locale))
        alt = f"{title} of both sides by day"
        st.plotly_chart(figure, key="dossier_chart", config=theme.CONFIG, alt=alt)
    _draw_table(dossiers.funnel(both, "Buyer"))
    with st.expander("By day"):
        _draw_table(dossiers.by_day(both, "buyer", both.comparison is not None))
    when = counts.at.astimezone(times.zone())
    days = count_label("day", len(counts.days))
    st.caption(
        f"{days} entered through share link {counts.link}, the last on {plain(field_text.moment(when))}."
    )
    if context.person.may_share:
        st.button(
            "Remove these counts", type="tertiary", key="dossier_remove", on_click=_remove,
            args=(context, deal),
        )  # fmt: skip


def _make(context: PageContext, project: str, slicer: str, deal: DemandDeal) -> None:
    """Make the link, if the person may see the deal, and it is still the seat's whose it was. A callback."""
    state, number = st.session_state, deal.id or 0
    try:
        shared_deal = SharedDeal(number, seat_number(deal))
        if seat_number(context.deals.get(DemandDeal, number)) != shared_deal.seat:
            state[PROBLEM] = OTHER_SEAT
            return
        lifetime = timedelta(days=share.LIFETIMES[state[LIFETIME.format(number)]])
        links = context.clients.view_store.share_links
        _, key = links.make(
            project, slicer, state[TITLE.format(number)], {}, lifetime, deal=shared_deal,
            recipient=share.recipient(RECIPIENT.format(number)),
        )  # fmt: skip
    except TrancheError as error:
        state[PROBLEM] = error.sentence
        return
    state[NEW] = (number, f"{PREFIX.strip('/')}/{key}")


def _remove(context: PageContext, deal: DemandDeal) -> None:
    if not context.now().may_share:
        return
    try:
        context.clients.buyer_counts.remove(deal)
        context.clients.view_store.note("counts removed", f"deal {deal.id}")
    except TrancheError as error:
        notes.say(f"Not removed: {error.reason.rstrip('.')}")
    else:
        notes.say("Removed")


def _draw_table(table: snapshots.Table) -> None:
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    st.dataframe(straighten(pd.DataFrame(rows, columns=[*table.columns])), hide_index=True, alt=table.title)
    about = " · ".join(filter(None, (table.about, table.message)))
    if about:
        st.caption(plain(about))
