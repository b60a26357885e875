"""The steps of a change of several on screen: progress, the preview, the result, and their tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.change_job import ChangeJob, Effect, Outcome
from lib.ui.deals.list.deal_rows import KINDS
from lib.ui.kit import job as job_parts
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

FIRST, NOTE, UNDO_BEGINS = 50, "Note", "deals_undo_begins"
Columns = dict[str, list[str]]
Action = Callable[[], None]


@dataclass(frozen=True)
class ChangeSteps:
    """How the steps of one kind of change are drawn; `prefix` begins the keys of their widgets.

    `columns` are those of some entities between the result and the note. `close` closes the dialog, `back`
    leads to what is to change and `retry` to a preview of what was not saved, where there are such ways; all
    are callbacks. `after` follows what was sent last, and `rest` is said where something was not saved. What
    is refused keeps all from being saved where it `is_whole`.
    """

    prefix: str
    columns: Callable[[Sequence[Effect]], Columns]
    close: Action
    back: Action | None = None
    retry: Action | None = None
    after: Action = field(default=lambda: None)
    rest: str = ""
    is_whole: bool = False

    def draw(self, context: PageContext, job: ChangeJob) -> None:
        """Draw the step that the change is in, from its reading on."""
        if job.is_running:
            run(context, job, self.after)
        elif job.phase == "preview":
            self._preview(context, job)
        else:
            self._result(job)

    def _preview(self, context: PageContext, job: ChangeJob) -> None:
        changes = [one for one in job.effects if one.is_change]
        refusals = [one for one in job.effects if one.refusal]
        amount = count_effects(changes)
        same = len(job.effects) - len(changes) - len(refusals)
        sentences = [f"**{amount}** will be saved." if amount else "**Nothing** to save."]
        sentences += [f"{number(len(refusals))} refused."] if refusals else []
        sentences += [f"{number(same)} unchanged."] if same else []
        st.markdown(" ".join(sentences))
        if effects := [*refusals, *changes] if self.is_whole else job.effects:
            self._table(job, effects, "What changes, before and after")
        _draw_others(changes)
        doubts = ", ".join(sorted({one.doubt for one in changes if one.doubt}))
        is_sure = confirmations.confirm(confirmations.with_unit(context, doubts), self.prefix)
        is_closed = not changes or not is_sure or (self.is_whole and bool(refusals))
        with st.container(horizontal=True):
            st.button(
                f"Save {amount}".strip(), type="primary", key=f"{self.prefix}save", disabled=is_closed,
                on_click=job.start,
            )  # fmt: skip
            if self.back is not None:
                st.button("Back", key=f"{self.prefix}back", on_click=self.back)

    def _result(self, job: ChangeJob) -> None:
        amount = count_effects([one.effect for one in job.outcomes if not one.reason])
        draw_verdict(job, f"{amount} saved" if amount else "Nothing saved", self.rest)
        effects = [one for one in job.effects if one.is_change] if self.is_whole else job.effects
        self._table(job, effects, "The result of each change")
        with st.container(horizontal=True):
            close_button(self.prefix, self.close)
            if amount:
                offer_undo(job.record, self.close)
            if self.retry is not None:
                st.button("Preview the rest again", key=f"{self.prefix}again", on_click=self.retry)

    def _table(self, job: ChangeJob, effects: Sequence[Effect], alt: str) -> None:
        """Draw a row per entity; those that were sent with what became of them."""
        results = {one.effect.key: one for one in job.outcomes}
        columns = {"Name": [one.name for one in effects]}
        if job.phase == "done":
            columns["Result"] = [_result_word(one, results.get(one.key)) for one in effects]
        columns |= self.columns(effects)
        reasons = [one.key in results and results[one.key].reason for one in effects]
        columns[NOTE] = [
            reason or one.refusal or one.also for reason, one in zip(reasons, effects, strict=True)
        ]
        draw_table(columns, alt)


def run(context: PageContext, job: ChangeJob, on_end: Action = lambda: None) -> None:
    """Read or send step by step, and draw how far it is; `on_end` follows what was sent last."""

    def after() -> None:
        if job.phase == "done":
            on_end()
            catalog.forget()

    job_parts.draw(context, job, number, after)


def field_columns(
    context: PageContext, effects: Sequence[Effect], names: Sequence[str], has_same: bool
) -> Columns:
    """A column for each field: `2.50 → 2.75`; with `has_same` the value alone where it stays."""

    def cell(effect: Effect, name: str) -> str:
        if name in effect.after:
            return arrow(effect, name)
        return facts.value(name, effect.before[name]) if has_same and name in effect.before else ""

    money = facts.prices_of(context)
    return {facts.title(name, money): [cell(one, name) for one in effects] for name in names}


def arrow(effect: Effect, name: str) -> str:
    """`2.50 → 2.75`."""
    return f"{facts.value(name, effect.before[name])} → {facts.value(name, effect.after[name])}"


def close_button(prefix: str, close: Action) -> None:
    """Draw the button that closes the dialog."""
    if st.button("Close", key=f"{prefix}close"):
        close()
        st.rerun()


def offer_undo(record: ActionRecord, close: Action) -> None:
    """Draw the button that undoes what was just done, if anything was; `close` closes the dialog it is in."""
    if record.number is not None and st.button("Undo", icon=":material/undo:", key="undo_last"):
        close()
        st.session_state[UNDO_BEGINS] = record.number
        st.rerun()


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
    cells = {plain(name): [*map(plain, column)] for name, column in zip(titles, texts, strict=False)}
    st.table(cells, border="horizontal", hide_index=True, alt=alt)
    if is_cut:
        label = f"Show all {number(len(rows))}"
        show_all = {key: True}
        st.button(
            label, type="tertiary", key=f"{key}_shown", on_click=st.session_state.update, args=(show_all,)
        )


def draw_verdict(job: ChangeJob, sentence: str, more: str = "") -> None:
    """Draw the sentence, what failed and what was not sent; `more` follows where something did."""
    if not job.failures and not job.to_send:
        st.success(f"{sentence}.", icon=":material/check_circle:")
        return
    parts = [sentence, f"{number(len(job.failures))} failed" if job.failures else ""]
    parts.append(f"{number(len(job.to_send))} not sent" if job.to_send else "")
    st.warning(f"{', '.join(filter(None, parts))}. {more}".rstrip(), icon=":material/info:")


def count_effects(effects: Sequence[Effect]) -> str:
    """`3 deals and 1 package`."""
    counts = {entity: sum(one.key[0] == entity for one in effects) for entity in (*KINDS,)[::-1]}
    return " and ".join(count_label(KINDS[entity], count) for entity, count in counts.items() if count)


def count_label(kind: str, count: int) -> str:
    """`3 deals`."""
    return f"{number(count)} {kind.lower()}{'' if count == 1 else 's'}"


def number(count: int) -> str:
    """A number as the reader writes it."""
    return Numbers.of(st.context.locale).number(count)


def _result_word(effect: Effect, outcome: Outcome | None) -> str:
    """What became of it, in a word."""
    if outcome is not None:
        return "Saved" if not outcome.reason else "Unknown" if outcome.is_open else "Failed"
    return "Refused" if effect.refusal else "Not sent" if effect.is_change else "Unchanged"


def _draw_others(changes: Sequence[Effect]) -> None:
    """Draw the deals that change with a package and were not chosen."""
    names_of_deal = {deal: (name, effect.name) for effect in changes for deal, name in effect.others.items()}
    if not names_of_deal:
        return
    count = f"{number(len(names_of_deal))} other deal{'s' if len(names_of_deal) > 1 else ''}"
    verb = "changes too: its" if len(names_of_deal) == 1 else "change too: their"
    st.markdown(f":material/warning: **{count}** {verb} dates are those of the package.")
    names, packages = zip(*names_of_deal.values(), strict=True)
    draw_table({"Deal": names, "Package": packages}, "Other deals that change")
