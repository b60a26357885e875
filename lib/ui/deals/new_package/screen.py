"""The screen New package: the form; beside it what the targeting had, prices, and what will be created."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lib.deals.fields import SUPPLY
from lib.deals.models import DemandDeal
from lib.deals.package_records import PackageQuestion
from lib.deals.targeting.filters import Translation, report_filters
from lib.figures import numbers
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.query import ask, precision
from lib.reporting import links
from lib.reporting.answers import Audience
from lib.slicers.models import Slicer
from lib.ui.deals import catalog, counts
from lib.ui.deals.changes import proposal_form
from lib.ui.deals.forms.draft import PLAIN, Draft
from lib.ui.deals.forms.entity_form import EntityForm
from lib.ui.deals.forms.seat_rows import SeatRows
from lib.ui.deals.insight import report, seat_guide, supply_path, targeting_figures
from lib.ui.deals.new_package import review, state, templates
from lib.ui.deals.new_package.review import CreatedPackage
from lib.ui.deals.targeting.picker import TargetingPicker
from lib.ui.kit import page_scripts, times, waiting
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import older, report_errors

GUIDES = "form_prices"
DEAL_CHOICES = {"new": "New deals for seats", "existing": "Existing deals", "none": "None yet"}
PLACE = "form_win_cpm"
DAYS = (7, 30)
HEIGHT = 200
STAYS = """<style>
[data-testid=stLayoutWrapper]:has(> .st-key-np_beside) { position: sticky; top: 4.5rem; }
@media (min-width: 641px) {
    [data-testid=stLayoutWrapper]:has(> .st-key-np_beside) {
        max-height: calc(100vh - 5rem); overflow-y: auto;
    }
}
</style>"""


def draw(context: PageContext) -> None:
    """The form until its package is there, then what was created."""
    result: CreatedPackage | None = st.session_state.get(state.RESULT)
    if result is not None:
        page_scripts.ask_before(False)
        review.draw_result(context, result)
        return
    state.begin(context.clients.drafts)
    with st.container():  # always there, so that what comes and goes moves no other element
        if at := st.session_state.get(state.DRAFT_TIME):
            when = field_text.moment(at.astimezone(times.zone()))
            st.caption(f":material/history: Your draft from {when}. Start over discards it.")
        if note := st.session_state.get(state.NOTE):
            st.warning(plain(note), icon=":material/content_copy:")
    with report_errors("The form", effect="What you entered is kept."):
        _draw(context)
    if trouble := catalog.trouble(context):
        older(trouble, "Seats and lists")


def _draw(context: PageContext) -> None:
    draft = state.read(context)
    left_side, right_side = st.columns([8, 5], gap="large")
    draft_faults = draft.faults(bool(catalog.abilities(context).fees))
    problems = state.problems(context, draft, draft_faults)
    lists = catalog.list_entries(context)
    translation = report_filters(draft.targeting, context.slicer, lists, draft["media_type"])
    with left_side:
        templates.draw(context, draft)
        draw_form(context, draft, problems, translation)
    st.html(STAYS)
    with right_side, st.container(key="np_beside"):
        draw_panel(context, translation)
        draw_price_guide(context, state.package_question())
        query = deal_report.usual_days(context)
        descriptions = targeting_text.describe(context, query, draft.targeting)
        marks = targeting_text.marks(context, query, [draft.targeting], with_gaps=True)
        review.draw(context, draft, draft_faults, problems, descriptions, marks)
        why_not = state.keep(context.clients.drafts, draft)
        if why_not:
            st.caption(f":orange[:material/warning: {plain(why_not)}]")
        elif not draft.is_untouched:
            st.caption("Saved as your draft until you create or discard it.")
        page_scripts.ask_before(bool(why_not))
        booking = (draft.moment("start_date"), draft.moment("end_date"))
        prices = seat_guide.of_draft(context, draft)
        supply_path.draw(
            context, "form_supply", draft.targeting, lists, translation.filters,
            "all bids of this targeting", "Supply path",
        )  # fmt: skip
        targeting_figures.draw_days(context, "form_days", translation.filters, booking, prices)
        targeting_figures.draw_costs(
            context, "form", draft.targeting, lists, draft["media_type"], descriptions
        )


def draw_form(context: PageContext, draft: Draft, problems: FieldProblems, translation: Translation) -> None:
    """All fields; each says under it what is wrong with it. Closed, with the reason, where none is made.

    `translation` is the targeting as report filters.
    """
    does = catalog.abilities(context)
    reason = "" if proposal_form.may_only_propose(context) else does.why_not("supply_deals", "create")
    is_closed = bool(reason)
    if reason:
        st.info(f"{plain(reason)}.", icon=":material/lock:")
    st.header("Name and dates", anchor=False)
    EntityForm(context, state.PREFIX, SUPPLY, is_closed).draw_package(problems, PLAIN)
    st.header("Targeting", anchor=False)
    st.caption("Only: one of these. Never: none of these. A kind that is left empty allows everything.")
    TargetingPicker(context, state.TARGETING, is_closed).draw(problems)
    supply_path.draw_lists(context, draft.targeting)
    st.header("Demand deals", anchor=False)
    st.segmented_control(
        "Demand deals", list(DEAL_CHOICES), format_func=DEAL_CHOICES.__getitem__, key=state.DEALS,
        required=True, persist_state="session", label_visibility="collapsed", disabled=is_closed,
    )  # fmt: skip
    if draft.deals == "new":
        prices = seat_guide.of_draft(context, draft)
        guide = seat_guide.of(context, GUIDES, translation, prices)
        left_out = "Some targeting isn't included; see the panel." if translation.left_out else ""
        rows = SeatRows(context, state.PREFIX, is_closed)
        rows.draw(problems, guide.by_seat, lambda: seat_guide.draw_note(guide, left_out))
    elif draft.deals == "existing":
        catalog.draw_link_picker(
            context, "Deals to link", state.LINKS, DemandDeal, takes_ids=not does.lists, disabled=is_closed
        )
        beside(problems.at("demand_deals"))


@st.fragment(parallel=True)
def draw_panel(context: PageContext, translation: Translation) -> None:
    """Ask for both periods, then the table; what the filters leave out is named under it."""
    st.header("Past delivery of this targeting", anchor=False)
    queries = [report.figures_query(context, translation.filters, days) for days in DAYS]
    with report_errors("Past delivery", effect="What you entered is kept."):
        with waiting.speaking("Past delivery", queries[0], context.slicer, height=HEIGHT):
            answers = [ask.audience(context, query) for query in queries]
        locale_numbers, figures = counts.numbers(), report.report_figures(context.slicer)
        # They stay numbers, so that they stand to the right.
        style = table(context.slicer, answers).style
        for title, field in figures.items():
            text: Callable[[Any], str] = locale_numbers.number
            text = text if field is None else partial(locale_numbers.short, field=field)
            style = style.format(text, subset=pd.IndexSlice[[title], :])
        st.table(style, border="horizontal", alt="Figures of this targeting")
        # How exact the widest of the figures is.
        names = [field.name for field in figures.values() if field is not None]
        pairs = [(precision.total_range(answer, name), answer, name) for answer in answers for name in names]
        exact = "no figures"
        if pairs:
            _, answer, name = max(pairs, key=lambda pair: pair[0] if pair[0] == pair[0] else -1.0)
            exact = precision.sentence(answer, name, locale_numbers)
        st.caption(f"From {plain(context.project)}/{plain(context.slicer_name)} · {exact}")
        if not any(any(answer.total.values.values()) for answer in answers):
            st.caption("Nothing in the report matches this targeting.")
    for sentence in translation.left_out:
        st.caption(f":material/info: Not counted in: {plain(sentence)}")


def table(slicer: Slicer, answers: list[Audience]) -> pd.DataFrame:
    """A row per figure, a column per period; NaN where the slicer has no such data field, or no value."""
    report_figures = report.report_figures(slicer)
    columns = {
        f"Last {days} days": [
            np.nan if field is None else answer.total.values.get(field.name)
            for field in report_figures.values()
        ]
        for days, answer in zip(DAYS, answers, strict=True)
    }
    titles = pd.Index([*report_figures], name="Figure")
    return pd.DataFrame(columns, index=titles, dtype="float64")


@st.fragment(parallel=True)
def draw_price_guide(context: PageContext, question: PackageQuestion | None) -> None:
    """Draw median and quartiles with what they are computed from. Nothing without a question."""
    if question is None:
        return
    st.header("Win CPM of the question", anchor=False)
    asking = deal_report.insight(context)
    fields = asking.win_fields
    if (question.project, question.slicer) != (context.project, context.slicer_name):
        st.caption(
            f"The question is about {plain(question.project)}/{plain(question.slicer)}: choose that slicer "
            "above to see what wins cost in it."
        )
        return
    if fields is None:
        st.caption("This slicer has no data field for the win CPM, or none that counts wins.")
        return
    with report_errors("The win CPM", effect="What you entered is kept."):
        read = links.from_params(question.params, context.slicer, context.project, context.slicer_name).query
        lookup = asking.win_prices(fields, read)
        answers = report.answers(context, PLACE, lookup.queries, "the win CPM")
        if answers is None:
            return
        (query,) = lookup.queries
        days, slicer = numbers.days(*report.period(context, query)), context.slicer
        texts = counts.numbers()
        prices = lookup.read(answers)
        if prices is None:
            st.caption(f"Nothing was won in {days}.")
            return
        cpm, wins_field = (slicer.data_field(name) for name in (fields.cpm, fields.wins))
        low, median, high = (
            texts.short(price, field=cpm) for price in (prices.low, prices.median, prices.high)
        )
        st.markdown(plain(f"Median {median} · quartiles {low} and {high}"))
        names = " and ".join(slicer.key_field(name).description or name for name in query.split_by)
        wins = wins_field.description or wins_field.name
        share = "all" if prices.coverage >= 100 else f"{texts.percent(prices.coverage)} of the"
        exactness = "Exact" if prices.is_exact else "Estimated from a sample"
        groups = f"{texts.number(prices.groups)} groups by {names.lower()}" if names else "one group"
        st.caption(
            plain(
                f"{days} · {exactness} · Averages of {groups}, weighted by {wins.lower()} "
                f"({share} {wins.lower()}). Single auctions scatter more widely."
            )
        )
