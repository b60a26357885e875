"""The dialog that undoes actions on several: the latest ones, what goes back and what stays, progress."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.deals import moments
from lib.deals.bulk_actions import ActionRecord, ActionRow, BulkAction, BulkActions
from lib.deals.client import sent
from lib.deals.models import PackageOrDeal
from lib.ui.deals import catalogue, edits, facts, permission, planned_steps, view
from lib.ui.deals.planned_job import BatchJob
from lib.ui.deals.planned_steps import count_label, number
from lib.ui.deals.rows import KINDS, Key
from lib.ui.deals.several_change import Effect
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
UNDO, REDO = "Undo: ", "Redo: "
OPEN, FIRST = "deals_undo", 10


@dataclass(kw_only=True)
class UndoJob(BatchJob):
    """The undo of `action` as far as it has come; `stored` are its rows that are not undone yet.

    It reads and sends batches, and reads each batch again before it is sent. What was undone is noted with
    each, so that another undo goes on where this one stopped. It is an action itself, with an undo.
    """

    actions: BulkActions
    action: BulkAction
    stored: Mapping[Key, ActionRow]

    @classmethod
    def of(cls, actions: BulkActions, action: BulkAction) -> "UndoJob":
        """The undo of this action, whose rows are read next. BadRequest if it can't be undone any more."""
        stored = {row.key: row for row in actions.rows(action.number)}
        job = cls(record=actions.record(title(action)), actions=actions, action=action, stored=stored)
        job.begin(stored)
        return job

    def effect(self, found: PackageOrDeal, key: Key) -> Effect:
        """The way back of an entity."""
        return effect(found, self.stored[key])

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether the action changed a list of one of these."""
        return any(isinstance(value, list) for key in keys for value in self.stored[key].after.values())

    def name(self, key: Key) -> str:
        """What it was called when the action touched it."""
        return self.stored[key].name

    def note(self, keys: Sequence[Key]) -> None:
        """Note what is as it was before; where that fails, another undo finds it so."""
        same = [one.key for one in self.effects if not one.is_change and not one.refused]
        try:
            self.actions.mark_undone(self.action.number, [*keys, *same])
        except TrancheError as error:
            log.warning("%d rows that were put back stay listed for Undo: %s", len(keys), error.reason)


def title(action: BulkAction) -> str:
    """What the undo of an action is called; that of an undo does the action again."""
    if action.title.startswith(UNDO):
        return f"{REDO}{action.title.removeprefix(UNDO)}"
    return f"{UNDO}{action.title.removeprefix(REDO)}"


def effect(found: PackageOrDeal, row: ActionRow) -> Effect:
    """The way back of an entity, field by field; refused if somebody has changed one of them since."""
    now = {name: sent(value) for name, value in edits.of(found).items() if name in row.after}
    name = found.name or f"{KINDS[row.key[0]]} {row.key[1]}"
    gone = [facts.title(one) for one in row.after if one not in now]
    others = [
        f"{facts.title(one)} now {facts.value(one, value)}, "
        f"set to {facts.value(one, row.after[one])} by the action"
        for one, value in now.items()
        if not _same(value, row.after[one]) and not _same(value, row.before[one])
    ]
    why = f"{', '.join(gone)} can't be read. It stays." if gone else ""
    why = why or (f"Changed since: {'; '.join(others)}. It stays." if others else "")
    back = {one: row.before[one] for one, value in now.items() if not _same(value, row.before[one])}
    also = "" if back or why else "It is as it was before."
    return Effect(row.key, name, frozenset({row.key}), now, {} if why else back, found.etag, why, also)


def _same(one: Any, other: Any) -> bool:
    """Whether two values of requests are equal: of times, the instants; empty text and None are the same."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            return moments.read(one) == moments.read(other)
        except ValueError:
            return False
    return one == other or (one in (None, "") and other in (None, ""))


@dataclass
class UndoView:
    """The dialog's contents: the undo that was chosen, or the action whose undo is to begin, or the list."""

    job: UndoJob | None = None
    begins: int | None = None
    is_whole: bool = False


def draw(context: PageContext) -> None:
    """Draw the button for who may change packages or deals."""
    does = permission.of(context)
    if all(does.why_not(entity, "change") for entity in KINDS):
        return
    st.button(
        "Undo", icon=":material/undo:", type="tertiary", key="deals_undo_open", on_click=_open,
        help="Put back what was changed for several",
    )  # fmt: skip


def offer(record: ActionRecord, close: Callable[[], None]) -> None:
    """Draw the button that undoes what was just done, if anything was; `close` closes the dialog it is in."""
    if record.number is not None and st.button("Undo", icon=":material/undo:", key="undo_last"):
        close()
        st.session_state[OPEN] = UndoView(begins=record.number)
        st.rerun()


def shown(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    if (held := st.session_state.get(OPEN)) is not None:
        st.dialog("Undo", width="large", icon=":material/undo:", on_dismiss=_close)(_dialog)(context, held)


def leave() -> None:
    """Close the dialog, if it is open: another screen was opened."""
    if OPEN in st.session_state:
        _close()


def _open() -> None:
    """Open the list. A callback."""
    st.session_state[OPEN] = UndoView()


def _close() -> None:
    """Close it; what was not put back yet can be undone later. A callback."""
    undo_view: UndoView | None = st.session_state.pop(OPEN, None)
    if undo_view is not None and undo_view.job is not None and undo_view.job.outcomes:
        _end()


def _end() -> None:
    view.choose_none()
    catalogue.forget()


def _dialog(context: PageContext, undo_view: UndoView) -> None:
    with st.empty().container():
        if undo_view.begins is not None or undo_view.job is None:
            _draw_actions(context, undo_view)
        elif undo_view.job.phase in ("reading", "writing"):
            planned_steps.run(context, undo_view.job, _end)
        elif undo_view.job.phase == "preview":
            _preview(undo_view, undo_view.job)
        else:
            _result(undo_view, undo_view.job)


def _draw_actions(context: PageContext, undo_view: UndoView) -> None:
    """Draw the actions, latest first; begin the undo that is wanted, if any."""
    try:
        bulk_actions = context.clients.bulk_actions.recent()
        bulk_action = next((one for one in bulk_actions if one.number == undo_view.begins), None)
        undo_view.begins = None
        if bulk_action is not None:
            undo_view.job = UndoJob.of(context.clients.bulk_actions, bulk_action)
            st.rerun()
    except TrancheError as error:
        st.error(f"{plain(error.reason.rstrip('.'))}. Nothing was changed.", icon=":material/error:")
        return
    if not bulk_actions:
        st.info("There were no bulk changes in the last 30 days.", icon=":material/info:")
        return
    does = permission.of(context)
    for one in bulk_actions if undo_view.is_whole else bulk_actions[:FIRST]:
        why_not = next(filter(None, (does.why_not(entity, "change") for entity in one.counts)), "")
        _line(undo_view, one, why_not)
    if len(bulk_actions) > FIRST and not undo_view.is_whole:
        st.button(
            f"Show all {number(len(bulk_actions))}",
            type="tertiary",
            key="undo_all",
            on_click=_show_all,
            args=(undo_view,),
        )


def _line(undo_view: UndoView, action: BulkAction, why_not: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap=None):
            st.markdown(f"**{plain(action.title)}** {_counts(action)}")
            st.caption(plain(f"{action.who}, {facts.moment(action.at)}{_state(action)}"))
        if action.count:
            st.button(
                "Undo", key=f"undo_{action.number}", on_click=_begin, args=(undo_view, action.number),
                disabled=bool(why_not), help=plain(why_not) or None,
            )  # fmt: skip


def _state(action: BulkAction) -> str:
    if action.undone_by is None:
        return ""
    stays = f", {number(action.count)} not put back" if action.count else ""
    return f" · undone by {action.undone_by}, {facts.moment(action.undone_at)}{stays}"


def _preview(undo_view: UndoView, job: UndoJob) -> None:
    back = [one for one in job.effects if one.is_change]
    stays = [one for one in job.effects if one.refused]
    same = len(job.effects) - len(back) - len(stays)
    sentence = f"**{planned_steps.changes(back)}** will be put back." if back else "**Nothing** to put back."
    sentence += f" {number(same)} as before already." if same else ""
    st.markdown(
        f"{plain(job.action.title)} by {plain(job.action.who)}, {facts.moment(job.action.at)}. {sentence}"
    )
    if stays:
        st.markdown(f"**{number(len(stays))} stay{'s' if len(stays) == 1 else ''} as now**")
        _table(stays, {one.key: one.refused for one in stays}, "Why", "What stays as it is now")
    if back:
        st.markdown(f"**{number(len(back))} put back**")
        _table(back, {one.key: _way(one) for one in back}, "Change", "What is put back")
    with st.container(horizontal=True):
        st.button(
            f"Put back {planned_steps.changes(back)}".strip(), type="primary", key="undo_start",
            disabled=not back, on_click=job.start,
        )  # fmt: skip
        st.button("Back", key="undo_back", on_click=_back, args=(undo_view,))


def _table(effects: list[Effect], texts: dict[tuple[str, int], str], column: str, alt: str) -> None:
    planned_steps.table(
        {"Name": [one.name for one in effects], column: [texts[one.key] for one in effects]}, alt
    )


def _way(effect: Effect) -> str:
    """`Price: 2.75 → 2.50`."""
    return "; ".join(
        f"{facts.title(name)}: {facts.value(name, effect.before[name])} → {facts.value(name, value)}"
        for name, value in effect.after.items()
    )


def _result(undo_view: UndoView, job: UndoJob) -> None:
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    stays = [*job.failed, *job.left]
    sentence = f"{saved} put back" if saved else "Nothing put back"
    if stays:
        left = f" {number(len(job.left))} not sent: another undo goes on there." if job.left else ""
        st.warning(f"{sentence}, {number(len(stays))} not.{left}", icon=":material/info:")
    else:
        st.success(f"{sentence}.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        if st.button("Close", key="undo_close"):
            _close()
            st.rerun()
        st.button("Back", key="undo_back", on_click=_back, args=(undo_view,))
    if job.failed:
        texts = {one.effect.key: one.reason for one in job.failed}
        _table([one.effect for one in job.failed], texts, "Why", "What was not put back")


def _begin(undo_view: UndoView, action: int) -> None:
    """Begin the undo of this action. A callback."""
    undo_view.begins = action


def _back(undo_view: UndoView) -> None:
    """Back to the list. A callback."""
    undo_view.job = None


def _show_all(undo_view: UndoView) -> None:
    """Show all actions. A callback."""
    undo_view.is_whole = True


def _counts(action: BulkAction) -> str:
    return " and ".join(count_label(entity, count) for entity, count in action.counts.items())
