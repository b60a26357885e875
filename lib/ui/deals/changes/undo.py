"""The dialog that undoes actions: the latest ones, what goes back and what stays, progress."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import streamlit as st

from lib.deals import moments
from lib.deals.bulk_actions import ActionRow, BulkAction, BulkActions
from lib.deals.client import to_json
from lib.deals.models import PackageOrDeal
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS, title_of
from lib.ui.deals import catalog, list_state
from lib.ui.deals.changes import merge
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.plan_steps import UNDO_BEGINS, Columns, PlanSteps, arrow, step_container
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.deal_rows import Key
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
UNDO, REDO = "Undo: ", "Redo: "
OPEN, FIRST = "deals_undo", 10


@dataclass(kw_only=True)
class UndoSource(ChangeSource):
    """The way back of `action`; `rows` are its rows that are not undone yet.

    What was undone is noted with each batch, so that another undo goes on where this one stopped.
    """

    is_renewed: ClassVar[bool] = True
    is_asked: ClassVar[bool] = False
    actions: BulkActions
    action: BulkAction
    rows: Mapping[Key, ActionRow]

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        yield way_back(entity, self.rows[key])

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether the action changed a list of one of these."""
        return any(isinstance(value, list) for key in keys for value in self.rows[key].after.values())

    def missing(self, key: Key, rows: frozenset[Key]) -> PlannedChange:
        """What was created and is not there any more is as it was before."""
        change = super().missing(key, rows)
        return change if self.rows[key].before else replace(change, refusal="", note="It is deleted already.")

    def settle(self, keys: Collection[Key]) -> None:
        """Note what is as it was before; where that fails, another undo finds it so."""
        try:
            self.actions.mark_undone(self.action.number, keys)
        except TrancheError as error:
            log.warning("%d rows that were put back stay listed for Undo: %s", len(keys), error.reason)


def undo_plan(actions: BulkActions, action: BulkAction) -> ChangePlan[UndoSource]:
    """The undo of this action, whose rows are read next: an action itself, with an undo.

    BadRequest if it can't be undone any more.
    """
    rows = {row.key: row for row in actions.open_rows(action.number)}
    names = {key: row.name for key, row in rows.items()}  # as they were when the action touched them
    source = UndoSource(actions=actions, action=action, rows=rows, names=names)
    source.ask(rows)
    return ChangePlan(source=source, record=actions.record(title(action))).begin()


def title(action: BulkAction) -> str:
    """What the undo of an action is called; that of an undo does the action again."""
    if action.title.startswith(UNDO):
        return f"{REDO}{action.title.removeprefix(UNDO)}"
    return f"{UNDO}{action.title.removeprefix(REDO)}"


def way_back(entity: PackageOrDeal, row: ActionRow) -> PlannedChange:
    """The way back of an entity, field by field; refused if somebody has changed one of them since.

    The way back of one that was created, and so was nothing before, is its removal.
    """
    now = {name: to_json(value) for name, value in merge.of(entity).items() if name in row.after}
    # The currency of a price is recorded with it; a service may have none.
    same = {name for name in row.after if name in row.before and _same(row.before[name], row.after[name])}
    unread = [field_text.title(name) for name in row.after if name not in now and name not in same]
    others = [
        f"{field_text.title(name)} now {field_text.value(name, value)}, "
        + ("then " if name in same else "set to ")
        + field_text.value(name, row.after[name])
        + ("" if name in same else " by the action")
        for name, value in now.items()
        if not _same(value, row.after[name]) and not _same(value, row.before.get(name, row.after[name]))
    ]
    why = f"{', '.join(unread)} can't be read. It stays." if unread else ""
    why = why or (f"Changed since: {'; '.join(others)}. It stays." if others else "")
    if not row.before:
        return PlannedChange(row.key, title_of(entity), now, {}, None, why, is_removal=True)
    back = {name: row.before[name] for name, value in now.items() if not _same(value, row.before[name])}
    note = "" if back or why else "It is as it was before."
    before = {"currency": getattr(entity, "currency", None), **now}
    return PlannedChange(row.key, title_of(entity), before, {} if why else back, entity.etag, why, note)


def _same(value: Any, other: Any) -> bool:
    """Whether two values of requests are equal: of times, the instants; empty text and None are the same."""
    if isinstance(value, str) and isinstance(other, str) and value != other:
        try:
            return moments.read(value) == moments.read(other)
        except ValueError:
            return False
    return merge.same(value, other)


@dataclass
class UndoView:
    """The dialog's contents: the undo that was chosen, or the action whose undo is to begin, or the list.

    It `is_direct` where it begins from the result of the action itself: that was its preview.
    """

    plan: ChangePlan[UndoSource] | None = None
    begins: int | None = None
    is_direct: bool = False
    is_whole: bool = False


def draw(context: PageContext) -> None:
    """Draw the button for who may change packages or deals."""
    does = catalog.abilities(context)
    if not all(does.why_not(entity, "change") for entity in KINDS):
        st.button(
            "Undo", icon=":material/undo:", type="tertiary", key="deals_undo_open",
            help="Put back what was changed", on_click=st.session_state.update,
            args=({OPEN: UndoView()},),
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
    if undo_view is not None and undo_view.plan is not None and undo_view.plan.outcomes:
        _end()


def _end() -> None:
    list_state.choose_none()
    catalog.forget()


def _dialog(context: PageContext, undo_view: UndoView) -> None:
    plan = undo_view.plan
    if plan is not None and plan.phase == "preview" and undo_view.is_direct:
        undo_view.is_direct = False
        if not any(change.refusal for change in plan.changes):
            plan.start()
    with step_container():
        if undo_view.begins is not None or plan is None:
            _draw_actions(context, undo_view)
        else:
            action, money = plan.source.action, field_text.prices_of(context)

            def columns(changes: Sequence[PlannedChange]) -> Columns:
                """`Price: 2.75 → 2.50`."""
                return {
                    "Change": [
                        "Deleted"
                        if change.is_removal and change.is_change
                        else "; ".join(
                            f"{field_text.title(name)}: {arrow(change, name, money)}" for name in change.after
                        )
                        for change in changes
                    ]
                }

            PlanSteps(
                "undo_", columns, close, after=_end, back=partial(setattr, undo_view, "plan", None),
                verb="Put back", done="put back",
                effect=plain(f"{action.title} by {action.who}, {field_text.moment(action.at)}."),
            ).draw(context, plan)  # fmt: skip


def _draw_actions(context: PageContext, undo_view: UndoView) -> None:
    """Draw the actions, latest first; begin the undo that is wanted, if any."""
    try:
        bulk_actions = context.clients.bulk_actions.recent()
        bulk_action = next((action for action in bulk_actions if action.number == undo_view.begins), None)
        undo_view.begins = None
        if bulk_action is not None:
            undo_view.plan = undo_plan(context.clients.bulk_actions, bulk_action)
            st.rerun()
    except TrancheError as error:
        st.error(f"{plain(error.sentence)} Nothing was changed.", icon=":material/error:")
        return
    if not bulk_actions:
        st.info("There were no changes in the last 30 days.", icon=":material/info:")
        return
    does = catalog.abilities(context)
    for action in bulk_actions if undo_view.is_whole else bulk_actions[:FIRST]:
        why_not = next(filter(None, (does.why_not(entity, "change") for entity in action.counts)), "")
        counts = " and ".join(count_label(KINDS[entity], count) for entity, count in action.counts.items())
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(gap=None):
                st.markdown(f"**{plain(action.title)}**")
                stays = f", {number(action.count)} not put back" if action.count else ""
                undone = f" · undone by {action.undone_by}, {field_text.moment(action.undone_at)}{stays}"
                state = undone if action.undone_by is not None else ""
                st.caption(plain(f"{counts} · {action.who}, {field_text.moment(action.at)}{state}"))
            if action.count:
                st.button(
                    "Undo", key=f"undo_{action.number}", disabled=bool(why_not), help=plain(why_not) or None,
                    on_click=setattr, args=(undo_view, "begins", action.number),
                )  # fmt: skip
    if len(bulk_actions) > FIRST and not undo_view.is_whole:
        label = f"Show all {number(len(bulk_actions))}"
        show_all = partial(setattr, undo_view, "is_whole", True)
        st.button(label, type="tertiary", key="undo_all", on_click=show_all)
