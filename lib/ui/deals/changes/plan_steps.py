"""The steps of a plan of changes on screen: progress, the preview with its questions, the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS
from lib.figures.deals.field_text import Prices
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.confirmations import Warnings
from lib.ui.deals.changes.plan import ChangePlan, Outcome, PlannedChange
from lib.ui.deals.counts import count_label, number
from lib.ui.kit import job
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.tables import with_figures

FIRST = 50  # rows, before all are shown
MOST_ROWS = 1_000
NOTE = "Note"
UNDO_BEGINS = "deals_undo_begins"
Columns = dict[str, list[Any]]
Action = Callable[[], None]


@dataclass(frozen=True)
class PlanSteps:
    """How the steps of one kind of change are drawn; `prefix` begins the keys of their widgets.

    `columns` are those of some entities between the result and the note. `close` closes the dialog, `back`
    leads to what is to change and `retry` to a preview of what was not saved, where there are such ways; all
    are callbacks. `verb` is the button's, `done` what is said afterwards, `effect` what it means; a preview
    that `is_wide` has more columns than fit, and scrolls. `after` follows what was sent last, and `rest` is
    said where something was not saved.
    """

    prefix: str
    columns: Callable[[Sequence[PlannedChange]], Columns]
    close: Action
    back: Action | None = None
    retry: Action | None = None
    after: Action = field(default=lambda: None)
    rest: str = ""
    verb: str = "Save"
    done: str = "saved"
    effect: str = ""
    is_wide: bool = False

    def draw(self, context: PageContext, plan: ChangePlan[Any]) -> None:
        """Draw the step that the change is in, from its reading on."""
        if plan.is_running:
            run(context, plan, self.after)
        elif plan.phase == "preview":
            self._preview(context, plan)
        else:
            changes = [outcome.change for outcome in plan.outcomes if not outcome.reason]
            amount = count_changes([change for change in changes if change.key not in plan.same])
            same = f", {number(len(plan.same))} so already" if plan.same else ""
            sentence = f"{amount or 'Nothing'} {self.done}{same}"
            failures, unsent = len(plan.failures), len(plan.to_send)
            if failures or unsent:
                parts = [sentence, f"{number(failures)} failed" if failures else ""]
                parts.append(f"{number(unsent)} not sent" if unsent else "")
                st.warning(f"{', '.join(filter(None, parts))}. {self.rest}".rstrip(), icon=":material/info:")
            else:
                st.success(f"{sentence}.", icon=":material/check_circle:")
            is_whole = plan.source.is_whole
            rows = [change for change in plan.changes if change.is_change] if is_whole else plan.changes
            self._table(plan, rows, "The result of each change")
            with st.container(horizontal=True):
                if st.button("Close", key=f"{self.prefix}close"):
                    self.close()
                    st.rerun()
                if amount:
                    offer_undo(plan.record.number, self.close)
                if self.retry is not None:
                    st.button("Preview the rest again", key=f"{self.prefix}again", on_click=self.retry)

    def _preview(self, context: PageContext, plan: ChangePlan[Any]) -> None:
        if plan.problem:
            (st.warning if plan.outcomes else st.error)(plain(plan.problem), icon=":material/error:")
        changes = [change for change in plan.changes if change.is_change]
        refusals = [change for change in plan.changes if change.refusal]
        amount = count_changes(changes)
        same = len(plan.changes) - len(changes) - len(refusals)
        nothing = f"**Nothing** to {self.verb.lower()}."
        sentences = [f"**{amount}** will be {self.done}. {self.effect}".rstrip() if amount else nothing]
        sentences += [f"{number(len(refusals))} refused."] if refusals else []
        sentences += [f"{number(same)} unchanged."] if same else []
        st.markdown(" ".join(sentences))
        if plan.questions is None or plan.questions.problem:
            plan.questions = confirmations.Questions.of(context, changes)
            if plan.questions.total <= confirmations.PART:
                with st.spinner(f"Checking {amount}", show_time=True):
                    plan.questions.run(context.deals)
        if plan.questions.is_running:
            job.draw(context, plan.questions, number)
            return
        questions = plan.questions.warnings
        if rows := [*refusals, *changes] if plan.source.is_whole else plan.changes:
            self._table(plan, rows, "What changes, before and after", questions)
        # The deals that change with a package and were not chosen.
        other_deals = {
            deal: (name, change.name) for change in changes for deal, name in change.others.items()
        }
        if other_deals:
            count = count_label("other deal", len(other_deals))
            verb = "changes too: its" if len(other_deals) == 1 else "change too: their"
            st.markdown(f":material/warning: **{count}** {verb} dates are those of the package.")
            names, packages = zip(*other_deals.values(), strict=True)
            draw_table({"Deal": names, "Package": packages}, "Other deals that change")
        # What is not asked stands at its row, and once is enough.
        points = confirmations.points(context, changes, questions) if plan.source.is_asked else ()
        is_sure = confirmations.confirm(points, self.prefix)
        is_closed = not changes or not is_sure or (plan.source.is_whole and bool(refusals))
        with st.container(horizontal=True):
            st.button(
                "Retry" if plan.outcomes else f"{self.verb} {amount}".strip(), type="primary",
                key=f"{self.prefix}save", disabled=is_closed, on_click=plan.start,
            )  # fmt: skip
            if self.back is not None:
                st.button("Back", key=f"{self.prefix}back", on_click=self.back)

    def _table(
        self,
        plan: ChangePlan[Any],
        changes: Sequence[PlannedChange],
        alt: str,
        questions: Warnings | None = None,
    ) -> None:
        """Draw a row per entity; what is to be confirmed of it is its note, or what became of it."""
        count, changes = len(changes), changes[: MOST_ROWS if self.is_wide else None]
        outcomes = {outcome.change.key: outcome for outcome in plan.outcomes}
        columns = {"Name": [change.name for change in changes]}
        if plan.phase == "done":
            columns["Result"] = [_result_word(change, outcomes.get(change.key)) for change in changes]
        columns |= self.columns(changes)
        columns[NOTE] = []
        for change in changes:
            outcome = outcomes.get(change.key)
            warnings = (questions or {}).get(change.key, ())
            sentences = [*(f"Please check: {warning.sentence}" for warning in warnings), change.note]
            reason = (outcome.reason if outcome is not None else "") or change.refusal
            columns[NOTE].append(reason or " ".join(filter(None, sentences)))
        if self.is_wide:
            frame = straighten(columns)
            figures = filter(field_text.is_figure, frame.columns)
            right = st.column_config.TextColumn(alignment="right")
            st.dataframe(frame, hide_index=True, alt=alt, column_config=dict.fromkeys(figures, right))
        else:
            draw_table(columns, alt)
        if count > len(changes):
            st.caption(f"The first {number(MOST_ROWS)} of {number(count)}.")


def step_container() -> DeltaGenerator:
    """Where a step of a dialog is drawn, in place of the one before."""
    # Streamlit keeps what the step before has drawn, dimmed, until the run of the new one ends: a list, its
    # boxes and buttons under the progress. An empty is emptied at once.
    return st.empty().container()


def run(context: PageContext, plan: ChangePlan[Any], on_end: Action = lambda: None) -> None:
    """Read or send step by step, and draw how far it is; `on_end` follows what was sent last."""

    def after() -> None:
        if plan.phase == "done":
            on_end()
            catalog.forget()

    job.draw(context, plan, number, after)


def field_columns(
    context: PageContext, changes: Sequence[PlannedChange], names: Sequence[str], has_same: bool
) -> Columns:
    """A column for each field: `2.50 → 2.75`; with `has_same` the value alone where it stays."""

    money = field_text.prices_of(context)

    def cell(change: PlannedChange, name: str) -> str:
        if name in change.after:
            return arrow(change, name, money)
        return field_text.value(name, change.before[name]) if has_same and name in change.before else ""

    return {field_text.title(name, money): [cell(change, name) for change in changes] for name in names}


def arrow(change: PlannedChange, name: str, money: Prices) -> str:
    """`even → fast`; of a price in percent too, and with a currency that is not the usual one:
    `2.16 → 19.00 (+779.6 %)`, `2.20 EUR → 2.16 EUR (−1.8 %)`."""
    sides = change.before, {**change.before, **change.after}
    before, after = (side[name] for side in sides)
    if name != confirmations.PRICE:
        return f"{field_text.value(name, before)} → {field_text.value(name, after)}"
    currencies = [money.of(side.get(confirmations.CURRENCY)).currency for side in sides]
    sentence = " → ".join(
        field_text.value(name, price)
        if currency == money.currency
        else f"{field_text.value(name, price)} {currency}"
        for price, currency in zip((before, after), currencies, strict=True)
    )
    return sentence + (confirmations.price_change(before, after) if currencies[0] == currencies[1] else "")


def offer_undo(action: int | None, close: Action, page: Path | None = None) -> None:
    """Draw the button that undoes what was just done, if anything was; `close` closes what it stands in.

    The dialog of Undo is on Deals: from another page it leads there.
    """
    if action is not None and st.button("Undo", icon=":material/undo:", key="undo_last"):
        close()
        st.session_state[UNDO_BEGINS] = action
        st.switch_page(page, query_params={}) if page is not None else st.rerun()


def draw_table(columns: Mapping[str, Sequence[Any]], alt: str) -> None:
    """Draw a table of changes: whole texts, wrapped, and no box that scrolls by itself.

    Of many rows the first are drawn, those with a note before the others, and a button for all. There is no
    column of notes without any.
    """
    columns = {title: texts for title, texts in columns.items() if title != NOTE or any(texts)}
    rows = [*zip(*columns.values(), strict=True)]
    titles, key = [*columns], f"all_of_{alt}"
    is_cut = len(rows) > FIRST and not st.session_state.get(key)
    if is_cut and NOTE in titles:
        rows.sort(key=lambda row: not row[titles.index(NOTE)])
    texts = zip(*rows[: FIRST if is_cut else None], strict=True)
    cells = {plain(title): [*map(plain, column)] for title, column in zip(titles, texts, strict=False)}
    figures = {plain(title) for title in titles if field_text.is_figure(title)}
    st.table(with_figures(pd.DataFrame(cells), figures), border="horizontal", hide_index=True, alt=alt)
    if is_cut:
        label = f"Show all {number(len(rows))}"
        show_all = {key: True}
        st.button(
            label, type="tertiary", key=f"{key}_shown", on_click=st.session_state.update, args=(show_all,)
        )


def count_changes(changes: Sequence[PlannedChange]) -> str:
    """`3 deals and 1 package`."""
    counts = {entity: sum(change.key[0] == entity for change in changes) for entity in (*KINDS,)[::-1]}
    return " and ".join(count_label(KINDS[entity], count) for entity, count in counts.items() if count)


def _result_word(change: PlannedChange, outcome: Outcome | None) -> str:
    if outcome is not None:
        return "Saved" if not outcome.reason else "Unknown" if outcome.is_open else "Failed"
    return "Refused" if change.refusal else "Not sent" if change.is_change else "Unchanged"
