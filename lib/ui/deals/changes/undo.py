"""The dialog that undoes actions on several: the latest ones, what goes back and what stays, progress."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from lib.deals import moments
from lib.deals.bulk_actions import ActionRow, BulkAction, BulkActions
from lib.deals.client import Deals, to_json
from lib.deals.models import PackageOrDeal
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import change_steps
from lib.ui.deals.changes.change_job import BatchJob, Effect, Outcome
from lib.ui.deals.changes.change_steps import UNDO_BEGINS, arrow, count_effects, count_label, number
from lib.ui.deals.drawer import edits
from lib.ui.deals.list import list_state
from lib.ui.deals.list.deal_rows import KINDS, Key, title_of
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
UNDO, REDO = "Undo: ", "Redo: "
OPEN, FIRST = "deals_undo", 10


@dataclass(kw_only=True)
class UndoJob(BatchJob):
    """The undo of `action` as far as it has come; `rows` are its rows that are not undone yet.

    What was undone is noted with each batch, so that another undo goes on where this one stopped. It is an
    action itself, with an undo. One that `is_direct` shows no preview, unless something would stay as it is.
    """

    actions: BulkActions
    action: BulkAction
    rows: Mapping[Key, ActionRow]
    is_direct: bool = False

    @classmethod
    def of(cls, actions: BulkActions, action: BulkAction, is_direct: bool = False) -> "UndoJob":
        """The undo of this action, whose rows are read next. BadRequest if it can't be undone any more."""
        rows = {row.key: row for row in actions.rows(action.number)}
        record = actions.record(title(action))
        job = cls(record=record, actions=actions, action=action, rows=rows, is_direct=is_direct)
        job.begin(rows)
        return job

    def effect(self, entity: PackageOrDeal, key: Key) -> Effect:
        """The way back of an entity."""
        return effect(entity, self.rows[key])

    def read(self, client: Deals) -> None:
        """Read the next ones; after the last one it goes on by itself where nothing has to be looked at."""
        super().read(client)
        if self.phase == "preview" and self.is_direct and not any(one.refusal for one in self.effects):
            self.start()

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether the action changed a list of one of these."""
        return any(isinstance(value, list) for key in keys for value in self.rows[key].after.values())

    def name(self, key: Key) -> str:
        """What it was called when the action touched it."""
        return self.rows[key].name

    def note(self, outcomes: Sequence[Outcome]) -> None:
        """Note what is as it was before; where that fails, another undo finds it so."""
        super().note(outcomes)
        keys = [one.effect.key for one in outcomes if not one.reason]
        same = [one.key for one in self.effects if not one.is_change and not one.refusal]
        try:
            self.actions.mark_undone(self.action.number, [*keys, *same])
        except TrancheError as error:
            log.warning("%d rows that were put back stay listed for Undo: %s", len(keys), error.reason)


def title(action: BulkAction) -> str:
    """What the undo of an action is called; that of an undo does the action again."""
    if action.title.startswith(UNDO):
        return f"{REDO}{action.title.removeprefix(UNDO)}"
    return f"{UNDO}{action.title.removeprefix(REDO)}"


def effect(entity: PackageOrDeal, row: ActionRow) -> Effect:
    """The way back of an entity, field by field; refused if somebody has changed one of them since."""
    now = {name: to_json(value) for name, value in edits.of(entity).items() if name in row.after}
    unread = [facts.title(one) for one in row.after if one not in now]
    others = [
        f"{facts.title(one)} now {facts.value(one, value)}, "
        f"set to {facts.value(one, row.after[one])} by the action"
        for one, value in now.items()
        if not _same(value, row.after[one]) and not _same(value, row.before[one])
    ]
    why = f"{', '.join(unread)} can't be read. It stays." if unread else ""
    why = why or (f"Changed since: {'; '.join(others)}. It stays." if others else "")
    back = {one: row.before[one] for one, value in now.items() if not _same(value, row.before[one])}
    also = "" if back or why else "It is as it was before."
    return Effect(row.key, title_of(entity), now, {} if why else back, entity.etag, why, also)


def _same(one: Any, other: Any) -> bool:
    """Whether two values of requests are equal: of times, the instants; empty text and None are the same."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            return moments.read(one) == moments.read(other)
        except ValueError:
            return False
    return edits.same(one, other)


@dataclass
class UndoView:
    """The dialog's contents: the undo that was chosen, or the action whose undo is to begin, or the list.

    It `is_direct` where it begins from the result of the action itself: that was its preview.
    """

    job: UndoJob | None = None
    begins: int | None = None
    is_direct: bool = False
    is_whole: bool = False


def draw(context: PageContext) -> None:
    """Draw the button for who may change packages or deals."""
    does = catalog.abilities(context)
    if not all(does.why_not(entity, "change") for entity in KINDS):
        st.button(
            "Undo", icon=":material/undo:", type="tertiary", key="deals_undo_open", on_click=_open,
            help="Put back what was changed for several",
        )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    state = st.session_state
    if (begins := state.get(UNDO_BEGINS)) is not None:
        state[OPEN] = UndoView(begins=begins, is_direct=True)
        del state[UNDO_BEGINS]
    if (undo_view := state.get(OPEN)) is not None:
        dialog = st.dialog("Undo", width="large", icon=":material/undo:", on_dismiss=close)
        dialog(_dialog)(context, undo_view)


def close() -> None:
    """Close it, if it is open; what was not put back yet can be undone later. A callback."""
    undo_view: UndoView | None = st.session_state.pop(OPEN, None)
    if undo_view is not None and undo_view.job is not None and undo_view.job.outcomes:
        _end()


def _open() -> None:
    """Open the list. A callback."""
    st.session_state[OPEN] = UndoView()


def _end() -> None:
    list_state.choose_none()
    catalog.forget()


def _dialog(context: PageContext, undo_view: UndoView) -> None:
    job = undo_view.job
    with st.empty().container():
        if undo_view.begins is not None or job is None:
            _draw_actions(context, undo_view)
        elif job.is_running:
            change_steps.run(context, job, _end)
        elif job.phase == "preview":
            _preview(undo_view, job)
        else:
            _result(undo_view, job)


def _draw_actions(context: PageContext, undo_view: UndoView) -> None:
    """Draw the actions, latest first; begin the undo that is wanted, if any."""
    try:
        bulk_actions = context.clients.bulk_actions.recent()
        bulk_action = next((one for one in bulk_actions if one.number == undo_view.begins), None)
        undo_view.begins = None
        if bulk_action is not None:
            undo_view.job = UndoJob.of(context.clients.bulk_actions, bulk_action, undo_view.is_direct)
            undo_view.is_direct = False
            st.rerun()
    except TrancheError as error:
        st.error(f"{plain(error.reason.rstrip('.'))}. Nothing was changed.", icon=":material/error:")
        return
    if not bulk_actions:
        st.info("There were no bulk changes in the last 30 days.", icon=":material/info:")
        return
    does = catalog.abilities(context)
    for one in bulk_actions if undo_view.is_whole else bulk_actions[:FIRST]:
        why_not = next(filter(None, (does.why_not(entity, "change") for entity in one.counts)), "")
        _line(undo_view, one, why_not)
    if len(bulk_actions) > FIRST and not undo_view.is_whole:
        label = f"Show all {number(len(bulk_actions))}"
        show_all = partial(setattr, undo_view, "is_whole", True)
        st.button(label, type="tertiary", key="undo_all", on_click=show_all)


def _line(undo_view: UndoView, action: BulkAction, why_not: str) -> None:
    counts = " and ".join(count_label(KINDS[entity], count) for entity, count in action.counts.items())
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap=None):
            st.markdown(f"**{plain(action.title)}** {counts}")
            st.caption(plain(f"{action.who}, {facts.moment(action.at)}{_state(action)}"))
        if action.count:
            st.button(
                "Undo", key=f"undo_{action.number}", disabled=bool(why_not), help=plain(why_not) or None,
                on_click=setattr, args=(undo_view, "begins", action.number),
            )  # fmt: skip


def _state(action: BulkAction) -> str:
    if action.undone_by is None:
        return ""
    stays = f", {number(action.count)} not put back" if action.count else ""
    return f" · undone by {action.undone_by}, {facts.moment(action.undone_at)}{stays}"


def _preview(undo_view: UndoView, job: UndoJob) -> None:
    back = [one for one in job.effects if one.is_change]
    stays = [one for one in job.effects if one.refusal]
    same, of = len(job.effects) - len(back) - len(stays), job.action
    sentence = f"**{count_effects(back)}** will be put back." if back else "**Nothing** to put back."
    sentence += f" {number(same)} as before already." if same else ""
    st.markdown(f"{plain(of.title)} by {plain(of.who)}, {facts.moment(of.at)}. {sentence}")
    if stays:
        st.markdown(f"**{number(len(stays))} stay{'s' if len(stays) == 1 else ''} as now**")
        _draw_table([(one, one.refusal) for one in stays], "Why", "What stays as it is now")
    if back:
        st.markdown(f"**{number(len(back))} put back**")
        _draw_table([(one, _way_back(one)) for one in back], "Change", "What is put back")
    with st.container(horizontal=True):
        st.button(
            f"Put back {count_effects(back)}".strip(), type="primary", key="undo_start", disabled=not back,
            on_click=job.start,
        )  # fmt: skip
        _back_button(undo_view)


def _result(undo_view: UndoView, job: UndoJob) -> None:
    amount = count_effects([one.effect for one in job.outcomes if not one.reason])
    stays = [*job.failures, *job.to_send]
    sentence = f"{amount} put back" if amount else "Nothing put back"
    if stays:
        rest = f" {number(len(job.to_send))} not sent: undo again to continue." if job.to_send else ""
        st.warning(f"{sentence}, {number(len(stays))} not.{rest}", icon=":material/info:")
    else:
        st.success(f"{sentence}.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        change_steps.close_button("undo_", close)
        _back_button(undo_view)
    if job.failures:
        _draw_table([(one.effect, one.reason) for one in job.failures], "Why", "What was not put back")


def _draw_table(texts: Sequence[tuple[Effect, str]], column: str, alt: str) -> None:
    names, cells = zip(*((one.name, text) for one, text in texts), strict=True)
    change_steps.draw_table({"Name": names, column: cells}, alt)


def _way_back(effect: Effect) -> str:
    """`Price: 2.75 → 2.50`."""
    return "; ".join(f"{facts.title(name)}: {arrow(effect, name)}" for name in effect.after)


def _back_button(undo_view: UndoView) -> None:
    """Draw the way back to the list."""
    st.button("Back", key="undo_back", on_click=setattr, args=(undo_view, "job", None))
