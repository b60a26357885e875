"""Ends at 00:00 that may have been typed as a date: a list on Deals, in which a person says what each means.

What is to run through its day goes through the plan of changes; what stays is remembered at once. Either way
nobody is asked again.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import streamlit as st

from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage
from lib.deals.unclear_ends import EndAnswer, UnclearEnds
from lib.ui.deals import catalog, field_text
from lib.ui.deals.changes.confirmations import END
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.plan_steps import PlanSteps, field_columns, step_container
from lib.ui.deals.changes.shared_change import of_package
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.list.deal_rows import Key, title_of
from lib.ui.kit import notes, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

OPEN, PREFIX, MOST = "end_questions", "ends_", 50
DAY = timedelta(days=1)
WHY = (
    "These packages end at 00:00. A date without a time means **through that day** now; before, it was the "
    "day's first moment. Which is meant? You are asked once."
)


@dataclass(kw_only=True)
class EndSource(ChangeSource):
    """The ends that run through their day: each moves to the next 00:00, and is answered once it is saved."""

    unclear_ends: UnclearEnds

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """The later end of a package; none where it has no end any more."""
        if isinstance(entity, SupplyPackage) and entity.end_date is not None:
            yield of_package(entity, rows, {}, {END: entity.end_date + DAY})

    def settle(self, keys: Collection[Key]) -> None:
        self.unclear_ends.answer([number for _, number in keys], "day")


@dataclass
class EndsView:
    """The dialog's contents: the packages that are asked about, and the plan, once there is one."""

    packages: Sequence[SupplyPackage]
    plan: ChangePlan[EndSource] | None = None
    problem: str = ""


def draw(context: PageContext) -> None:
    """Draw the button for who may change packages, while there is something to ask."""
    if packages := _packages(context):
        st.button(
            f"Check ends {number(len(packages))}", icon=":material/event:", type="tertiary", key="deals_ends",
            help="Packages that end at 00:00 of a day: through that day, or not?",
            on_click=st.session_state.update, args=({OPEN: EndsView(packages)},),
        )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    if (view := st.session_state.get(OPEN)) is not None:
        dialog = st.dialog("Check ends", width="large", icon=":material/event:", on_dismiss=close)
        dialog(_dialog)(context, view)


def close() -> None:
    """Close it, if it is open; what was not answered is asked again. A callback."""
    view: EndsView | None = st.session_state.pop(OPEN, None)
    if view is not None:
        for package in view.packages:
            st.session_state.pop(_key(package), None)
        if view.plan is not None and view.plan.outcomes:
            catalog.forget()


def _packages(context: PageContext) -> Sequence[SupplyPackage]:
    """The packages to ask about, as far as this person may see and change them; none where they can't be
    read now."""
    unclear_ends = context.clients.unclear_ends
    if unclear_ends is None or catalog.abilities(context).why_not(SUPPLY, "change"):
        return ()
    try:
        return catalog.fetch_cached(
            context, "unclear_ends",
            lambda: catalog.of_ids(context.deals, SupplyPackage, unclear_ends.packages()),
        )  # fmt: skip
    except TrancheError:
        return ()


def _dialog(context: PageContext, view: EndsView) -> None:
    with step_container():
        if view.plan is None:
            _form(context, view)
        else:
            PlanSteps(
                PREFIX, lambda changes: field_columns(context, changes, [END], has_same=True), close=close,
                back=partial(setattr, view, "plan", None),
            ).draw(context, view.plan)  # fmt: skip


def _form(context: PageContext, view: EndsView) -> None:
    st.markdown(WHY)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"For all {count_label('package', len(view.packages))}", width="content")
        for answer, label in (("day", "Through the day"), ("moment", "At 00:00, as it is")):
            choices = {_key(package): answer for package in view.packages}
            st.button(label, key=f"{PREFIX}all_{answer}", on_click=st.session_state.update, args=(choices,))
    for package in view.packages[:MOST]:
        _draw_package(package)
    if len(view.packages) > MOST:
        st.caption(f"The first {number(MOST)} of {number(len(view.packages))}.")
    if view.problem:
        st.error(plain(view.problem), icon=":material/error:")
    answers = _answers(view)
    days = sum(answer == "day" for answer in answers.values())
    st.button(
        f"Preview {count_label('change', days)}"
        if days
        else f"Keep {count_label('end', len(answers))}"
        if answers
        else "Continue",
        type="primary", key=f"{PREFIX}go", disabled=not answers, on_click=_apply, args=(context, view),
    )  # fmt: skip


def _draw_package(package: SupplyPackage) -> None:
    end = package.end_date
    if end is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(title_of(package))}** :gray[{plain(field_text.moment(end))}]", width="stretch")
        labels = {"day": f"Through {times.day(end.date())}", "moment": "At 00:00, as it is"}
        st.segmented_control(
            f"What the end of {plain(title_of(package))} means", [*labels], format_func=labels.__getitem__,
            key=_key(package), label_visibility="collapsed", width="content",
        )  # fmt: skip


def _key(package: SupplyPackage) -> str:
    return f"{PREFIX}{package.id}"


def _answers(view: EndsView) -> dict[int, EndAnswer]:
    """What was chosen, by the package's id."""
    answers = {package.id or 0: st.session_state.get(_key(package)) for package in view.packages}
    return {package: answer for package, answer in answers.items() if answer is not None}


def _apply(context: PageContext, view: EndsView) -> None:
    """Remember what stays, and read what changes. A callback."""
    unclear_ends, answers = context.clients.unclear_ends, _answers(view)
    if unclear_ends is None or not answers:
        return
    days = [package for package, answer in answers.items() if answer == "day"]
    moments = answers.keys() - {*days}
    try:
        if moments:
            unclear_ends.answer(moments, "moment")
    except TrancheError as error:
        view.problem = f"{error.sentence} Nothing was changed."
        return
    view.packages, view.problem = [package for package in view.packages if package.id not in moments], ""
    catalog.forget()
    if moments:
        notes.say(f"{count_label('end', len(moments))} kept as it is; nobody is asked again")
    if not days:
        close()
        return
    source = EndSource(unclear_ends=unclear_ends)
    source.ask((SUPPLY, package) for package in days)
    record = context.clients.bulk_actions.record("Ends moved through their day")
    view.plan = ChangePlan(source=source, record=record).begin()
