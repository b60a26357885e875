"""The screen Deals: the list, and the drawer of a package or deal with facts, history and actions."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import streamlit as st

from lib.deals.abilities import Verb
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.targeting.filters import report_filters
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import KINDS
from lib.ui.deals import catalog
from lib.ui.deals.changes import dead_targets_dialog, proposal_form, undo
from lib.ui.deals.deal_rows import TONES, Key
from lib.ui.deals.drawer import add_deals, clone, delivery, details, history
from lib.ui.deals.drawer.change import DrawerChange, as_draft
from lib.ui.deals.insight import overlap, seat_guide, targeting_figures
from lib.ui.deals.list import proposals, table
from lib.ui.deals.list_state import NOTE, OPEN, open_key
from lib.ui.deals.new_package import state
from lib.ui.kit import address, notes, page_scripts, screens, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import attempt_write, draw_problem, older, report_errors, show
from lib.wire.errors import NotFound, TrancheError

PROBLEM = "action_problem"
DRAFT_KEY = "gone_kept"
PLACE = "drawer"
VERBS: tuple[Verb, ...] = ("create", "change", "delete")
SECTION, WIDTH = "drawer_shown", 720
FACTS, ADD, TARGETING, DELIVERY = "Facts", "Add deals", "Targeting", "Delivery"
CHANGE, HISTORY = "Change", "History"


def draw(context: PageContext) -> None:
    """Draw the packages or the deals."""
    with report_errors("The deals", effect="Nothing was changed."):
        does = catalog.abilities(context)
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        if not does.lists:
            st.caption(f":material/history: {table.WHAT_IT_IS}.")
        table.draw(context)
        if trouble := catalog.page_trouble(context) or catalog.trouble(context):
            older(trouble, "The deals")
    if open_key() is None:
        overlap.draw_dialog(context)
        dead_targets_dialog.draw_dialog(context)
        undo.draw_dialog(context)
        proposals.draw_dialog(context)
    key = open_key()
    if key is None:
        return
    try:
        entity = context.deals.get(*key)
    except NotFound:
        _close()
        _draw_missing(context, key)
        return
    except TrancheError as error:
        show(error, f"{KINDS[key[0]]} {key[1]:d}", "Nothing was changed.")
        return
    icon = ":material/inventory_2:" if key[0] == SUPPLY else ":material/handshake:"
    title = plain(entity.name or f"{KINDS[key[0]]} {key[1]:d}")
    drawer = st.dialog(title, position="right", width=WIDTH, icon=icon, on_dismiss=_close)
    drawer(_content)(context, key)


def leave() -> None:
    """Another screen was opened: no dialog is to open again when this one is."""
    overlap.close()
    dead_targets_dialog.close()
    undo.close()


def _close() -> None:
    address.write(OPEN)
    st.session_state.pop(SECTION, None)


def _content(context: PageContext, key: Key) -> None:
    """Draw the content, read again on each run of the drawer so that it is current."""
    with report_errors(f"{KINDS[key[0]]} {key[1]:d}", "What you typed is kept."):
        try:
            entity = context.deals.get(*key)
        except NotFound:
            _draw_missing(context, key)
            return
        _draw_head(context, key, entity)
        _draw_section(context, key, entity)


def _draw_head(context: PageContext, key: Key, entity: PackageOrDeal) -> None:
    """Draw its status, the actions on it, why some are missing, and what came of the last one."""
    does = catalog.abilities(context)
    with st.container(horizontal=True, vertical_alignment="center"):
        if entity.status:
            st.badge(plain(entity.status.capitalize()), color=TONES.get(entity.status, "gray"))
        st.caption(f"{KINDS[key[0]]} {key[1]:d}", width="content")
        st.space("stretch")
        if entity.is_active is not None and not does.why_not(key[0], "change"):
            is_active = bool(entity.is_active)
            st.button(
                "Pause" if is_active else "Resume",
                icon=":material/pause:" if is_active else ":material/play_arrow:", key="action_active",
                disabled=(is_over := entity.status == "complete"), help="It has ended" if is_over else None,
                on_click=_set_active, args=(context, key, not is_active, entity.etag),
            )  # fmt: skip
        if not does.why_not(key[0], "create"):
            clone.draw(context, entity)
        if not does.why_not(key[0], "delete"):
            with st.popover("Delete", icon=":material/delete:", key="action_delete"):
                _draw_deletion(context, key, entity)
    if reason := does.why_not(key[0], *VERBS):
        st.caption(f":material/lock: {plain(reason)}.")
    if entity.as_of is not None:
        since = field_text.moment(entity.as_of.astimezone(times.zone()))
        st.caption(f":material/history: As last known on {since}; this service can't return a single one.")
    notes.draw()
    draw_problem(PROBLEM)


def _draw_section(context: PageContext, key: Key, entity: PackageOrDeal) -> None:
    """Draw the choice of a section, and the chosen one."""
    does, change = catalog.abilities(context), DrawerChange(context, key)
    may_change = not does.why_not(key[0], "change") or proposal_form.may_only_propose(context)
    sections: dict[str, Callable[[], None]] = {FACTS: partial(details.draw, context, entity)}
    if add_deals.is_offered(entity, does):
        sections[ADD] = partial(add_deals.draw, context, entity)
    if isinstance(entity, SupplyPackage):
        sections[TARGETING] = partial(_draw_targeting, context, entity)
    sections[DELIVERY] = partial(delivery.draw, context, key, entity)
    if may_change:
        sections[CHANGE] = partial(change.draw, entity)
    sections[HISTORY] = partial(history.draw, context, key)
    if st.session_state.get(SECTION) not in (None, *sections):
        del st.session_state[SECTION]
    is_unsaved = may_change and (change.is_unsaved or change.is_kept)
    section = st.segmented_control(
        "Section", [*sections], default=CHANGE if is_unsaved else FACTS,
        format_func=lambda name: f"{plain(name)} •" if name == CHANGE and is_unsaved else plain(name),
        required=True, key=SECTION, persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    sections[section]()
    page_scripts.ask_before(may_change and change.would_lose)


def _set_active(context: PageContext, key: Key, is_active: bool, etag: str | None) -> None:
    """Pause or resume it, unless it changed since it was shown. A callback."""
    is_done = attempt_write(PROBLEM, lambda: context.deals.change(*key, {"is_active": is_active}, etag))
    catalog.forget()
    if is_done:
        st.session_state[NOTE] = "Resumed" if is_active else "Paused"
        st.rerun()  # a click in a dialog runs the dialog alone: the list behind it would show the old status


def _draw_deletion(context: PageContext, key: Key, entity: PackageOrDeal) -> None:
    """Draw the entities that depend on it; without any, the button that deletes it."""
    deals = entity.demand_deals if isinstance(entity, SupplyPackage) else ()
    if names := [f"{deal.name or 'Deal'} ({deal.id})" for deal in deals]:
        count = f"{len(names)} deal{' depends' if len(names) == 1 else 's depend'}"
        st.markdown(f"**{count} on this package.** It can be deleted once they are deleted or unlinked:")
        st.markdown("\n".join(f"- {plain(name)}" for name in names))
        return
    if isinstance(entity, DemandDeal) and entity.supply_deals:
        packages = ", ".join(plain(package.name or str(package.id)) for package in entity.supply_deals)
        st.markdown(f"The seat loses its access to {packages}.")
    st.markdown("This can't be undone; the history stays.")
    st.button(
        "Delete permanently", type="primary", key="action_delete_sure", on_click=_remove,
        args=(context, key, entity.etag),
    )  # fmt: skip


def _remove(context: PageContext, key: Key, etag: str | None) -> None:
    """Delete it, unless it changed since it was shown. A callback."""

    def remove() -> None:
        with suppress(NotFound):  # a second click that finds it deleted is no error
            context.deals.remove(*key, etag)

    is_done = attempt_write(PROBLEM, remove)
    catalog.forget()
    if is_done:
        address.write(OPEN)
        st.session_state[NOTE] = f"{KINDS[key[0]]} {key[1]} is deleted"
        st.rerun()  # the whole page: the dialog alone would look for what is deleted


def _draw_targeting(context: PageContext, entity: SupplyPackage) -> None:
    with report_errors("The targeting", effect="Nothing was changed."):
        descriptions = targeting_text.describe(context, deal_report.usual_days(context), entity)
        lists = catalog.list_entries(context)
        st.markdown(plain(targeting_text.sentence(entity, None, descriptions)))
        if unread := targeting_text.unread(entity):
            st.caption(
                f":material/info: Not counted in, as Tranche can't read it: {plain(', '.join(unread))}."
            )
        translation = report_filters(entity, context.slicer, lists, entity.media_type)
        for sentence in translation.left_out:
            st.caption(f":material/info: Not counted in: {plain(sentence)}")
        targeting_figures.draw_days(
            context, f"{PLACE}_days", translation.filters, (entity.start_date, entity.end_date),
            seat_guide.of_deals(context, [deal.id for deal in entity.demand_deals]),
        )  # fmt: skip
        targeting_figures.draw_costs(context, PLACE, entity, lists, entity.media_type, descriptions)


def _draw_missing(context: PageContext, key: Key) -> None:
    """Draw who deleted it and what becomes of unsaved edits, and let the list be read again.

    Those of a package become the draft of a new one, unless another draft would be lost: then it is asked.
    """
    catalog.forget()
    change = DrawerChange(context, key)
    change.restore()
    what = f"{KINDS[key[0]]} {key[1]:d}"
    text = f"{what} does not exist; it may have been deleted."
    try:  # a service may keep the history after a deletion
        changes = context.deals.history(*key)
        if changes and changes[0].action == "removed":
            text = f"{what} was deleted by {changes[0].who} on {field_text.moment(changes[0].at)}."
    except NotFound:
        text = f"{what} does not exist."
    except TrancheError:
        pass
    st.warning(plain(text), icon=":material/link_off:")
    if key[0] == DEALS and (edits := change.unsaved_edits):  # no form can take them over
        money = field_text.prices_of(context)
        lines = [
            f"- {plain(field_text.title(name, money))}: {plain(field_text.value(name, value))}"
            for name, value in edits.items()
        ]
        st.markdown("\n".join(["What you typed, and was not saved:\n", *lines]))
    elif key[0] != DEALS and change.is_unsaved:
        if not state.is_held(context):
            _keep_as_draft(context, key, text)
        else:
            st.markdown("New package holds an unfinished draft. What you typed here would replace it.")
            st.button(
                "Replace draft", type="primary", key="gone_replace", on_click=_keep_as_draft,
                args=(context, key, text),
            )  # fmt: skip
    if st.session_state.get(DRAFT_KEY) == key:
        st.markdown("What you typed is kept as the draft of a new package.")
        st.page_link(screens.NEW_PACKAGE, label="Open the draft", icon=":material/edit:", query_params={})


def _keep_as_draft(context: PageContext, key: Key, sentence: str) -> None:
    """Make the edit the draft of a new package. A callback."""
    change = DrawerChange(context, key)
    draft = as_draft(change.form)
    state.fill(draft, f"{sentence} This draft has what you typed.")
    state.keep(context.clients.drafts, draft)
    change.forget()
    st.session_state[DRAFT_KEY] = key
