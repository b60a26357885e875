"""Templates of packages: the form under a name, without dates and contact, in a popover above it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from pydantic import ValidationError

from lib.deals.models import Seat
from lib.ui.deals import catalogue
from lib.ui.deals.draft import Draft, Terms, dump_draft, load_draft
from lib.ui.deals.inputs import EMAIL
from lib.ui.deals.new_package import state
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.query import entries
from lib.ui.query.entries import EntryShelf
from lib.views import DealEntry
from lib.wire.errors import BadRequest

POPOVER, WIDTH, REPLACE = "package_templates", 420, "replace"
TEMPLATES = EntryShelf(
    "template_",
    lambda context: context.clients.view_store.templates,
    "templates",
    "Share with everybody who may see deals",
    "Everybody loses it.",
)


def draw(context: PageContext, draft: Draft) -> None:
    """Draw the popover, for who may create packages."""
    if catalogue.abilities(context).why_not("supply_deals", "create"):
        return
    popover = st.popover(
        "Templates", icon=":material/bookmark:", type="tertiary", key=POPOVER, on_change="rerun"
    )
    if popover.open:
        with (
            popover,
            st.container(width=WIDTH),
            problems.report_errors("The templates", kept="The form is kept."),
        ):
            _content(context, draft)


def body_of(draft: Draft) -> dict[str, Any]:
    """What a template keeps of a form: no dates, and no contact of any deal."""
    seats = {seat: _without_contact(terms) for seat, terms in draft.seats.items()}
    kept = draft.with_(start_date="", end_date="")
    terms = {**draft.terms, EMAIL: ""}
    return {"draft": dump_draft(replace(kept, offset=0, terms=terms, seats=seats))}


def draft_of(body: Mapping[str, Any], seats: Mapping[int, Seat] | None) -> tuple[Draft, int]:
    """The form of a template with the usual start, and how many of its seats are not among `seats`.

    None stands for any seat. BadRequest for a template that can't be read any more.
    """
    try:
        draft = load_draft(body["draft"])
    except (ValidationError, KeyError) as error:
        raise BadRequest("This template can't be read any more") from error
    known = {seat: terms for seat, terms in draft.seats.items() if seats is None or seat in seats}
    usual = state.empty()
    dated = draft.with_(start_date=usual["start_date"], end_date="")
    shown = replace(dated, offset=usual.offset, seats=known)
    return shown, len(draft.seats) - len(known)


def _content(context: PageContext, draft: Draft) -> None:
    templates = context.clients.view_store.templates.all()
    entries.problem(TEMPLATES)
    if (chosen := TEMPLATES.chosen(templates)) is not None:
        _panel(context, chosen, draft)
        return
    entries.new(TEMPLATES, "Keep this form as", partial(_save, context, draft))
    st.caption("Without dates and contact.")
    for one in templates:
        actions = entries.changes(context, TEMPLATES, one)
        entries.row(TEMPLATES, one, False, partial(_open, context), actions)
    if not templates:
        st.caption("Nobody has kept a template for you yet.")
    entries.note_storage(context.clients.deals_address)


def _panel(context: PageContext, one: DealEntry, draft: Draft) -> None:
    """Draw the panel that was opened: the question before a draft is replaced, edit or delete."""
    entries.head(TEMPLATES, one)
    panel = st.session_state.get(TEMPLATES.state("panel"), "edit")
    if panel == REPLACE:
        st.warning(
            "The form holds an unfinished draft. The template will replace it.", icon=":material/edit:"
        )
        st.button(
            "Replace draft", type="primary", key="view_template_replace", on_click=_fill, args=(context, one)
        )
    elif panel == "delete":
        entries.deletion(context, TEMPLATES, one)
    else:
        entries.edit(context, TEMPLATES, one)
        st.button(
            "Update to the form on screen", key="view_template_update", on_click=TEMPLATES.attempted,
            args=(lambda: context.clients.view_store.templates.update(one.id, body_of(draft)),),
        )  # fmt: skip


def _open(context: PageContext, one: DealEntry) -> None:
    """Fill the form; where it holds something, ask first. A callback."""
    if state.read(catalogue.named_lists(context)).is_untouched:
        _fill(context, one)
    else:
        TEMPLATES.show(one, REPLACE)


def _fill(context: PageContext, one: DealEntry) -> None:
    """Fill the form with a template. A callback."""
    TEMPLATES.attempted(lambda: _fill_form(context, one))


def _fill_form(context: PageContext, one: DealEntry) -> None:
    seats = catalogue.seats(context) if catalogue.abilities(context).lists else None
    draft, missing = draft_of(one.body, seats)
    sentence = (
        f"{missing} of its seats {'is' if missing == 1 else 'are'} not there for you." if missing else ""
    )
    state.fill(draft, sentence)
    TEMPLATES.back()
    st.session_state[POPOVER] = False


def _save(context: PageContext, draft: Draft, name: str, is_shared: bool) -> None:
    context.clients.view_store.templates.save(name, body_of(draft), is_shared)


def _without_contact(terms: Terms) -> Terms:
    return terms if terms.own is None else replace(terms, own={**terms.own, EMAIL: ""})
