"""Templates of the form New package: without dates and contacts, for oneself or shared."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from pydantic import ValidationError

from lib.deals.models import Seat
from lib.ui.deals import catalog
from lib.ui.deals.forms.draft import Draft, dump_draft, load_draft
from lib.ui.deals.forms.inputs import EMAIL
from lib.ui.deals.new_package import state
from lib.ui.kit.frame import PageContext
from lib.ui.kit.problems import report_errors
from lib.ui.query import entries
from lib.ui.query.entries import EntryShelf
from lib.views import DealEntry
from lib.wire.errors import BadRequest

POPOVER = "package_templates"
WIDTH = 420
REPLACE = "replace"
TEMPLATES = EntryShelf(
    "template_", lambda context: context.clients.view_store.templates, "templates",
    "Share with everybody who may see deals", "Everybody loses it.",
)  # fmt: skip


def draw(context: PageContext, draft: Draft) -> None:
    """Draw the popover, for who may create packages."""
    if catalog.abilities(context).why_not("supply_deals", "create"):
        return
    popover = st.popover(
        "Templates", icon=":material/bookmark:", type="tertiary", key=POPOVER, on_change="rerun"
    )
    if popover.open:
        with popover, st.container(width=WIDTH), report_errors("The templates", effect="The form is kept."):
            templates = context.clients.view_store.templates.all()
            entries.problem(TEMPLATES)
            if (open_entry := TEMPLATES.open_entry(templates)) is not None:
                _template_panel(context, open_entry, draft)
                return
            store = context.clients.view_store.templates
            entries.new(
                TEMPLATES,
                "Keep this form as",
                lambda name, is_shared: store.save(name, body_of(draft), is_shared),
            )
            st.caption("Without dates and contact.")
            for template in templates:
                actions = entries.changes(context, TEMPLATES, template)
                entries.row(TEMPLATES, template, False, partial(_open_template, context), actions)
            if not templates:
                st.caption("Nobody has kept a template for you yet.")
            entries.note_storage(context.clients.deals_address)


def body_of(draft: Draft) -> dict[str, Any]:
    """What a template keeps of a form: no dates, and no contact of any deal."""
    seats = {
        seat: replace(terms, own={**terms.own, **({EMAIL: ""} if EMAIL in terms.own else {})})
        for seat, terms in draft.seats.items()
    }
    without_dates = draft.with_(start_date="", end_date="")
    terms = {**draft.terms, EMAIL: ""}
    return {"draft": dump_draft(replace(without_dates, zone=0, terms=terms, seats=seats))}


def draft_of(body: Mapping[str, Any], seats: Mapping[int, Seat] | None) -> tuple[Draft, int]:
    """The form of a template with the usual start, and how many of its seats are not among `seats`.

    None stands for any seat. BadRequest for a template that can't be read any more.
    """
    try:
        draft = load_draft(body["draft"])
    except (ValidationError, KeyError) as error:
        raise BadRequest("This template can't be read any more") from error
    usable_seats = {seat: terms for seat, terms in draft.seats.items() if seats is None or seat in seats}
    usual = state.empty()
    with_dates = draft.with_(start_date=usual["start_date"], end_date="")
    result = replace(with_dates, zone=usual.zone, seats=usable_seats)
    return result, len(draft.seats) - len(usable_seats)


def _template_panel(context: PageContext, template: DealEntry, draft: Draft) -> None:
    """Draw the panel that was opened: the question before a draft is replaced, edit or delete."""
    entries.head(TEMPLATES, template)
    panel = st.session_state.get(TEMPLATES.state("panel"), "edit")
    if panel == REPLACE:
        st.warning(
            "The form holds an unfinished draft. The template will replace it.", icon=":material/edit:"
        )
        st.button(
            "Replace draft", type="primary", key="view_template_replace", on_click=_fill_from,
            args=(context, template),
        )  # fmt: skip
    elif panel == "delete":
        entries.deletion(context, TEMPLATES, template)
    else:
        entries.edit(context, TEMPLATES, template)
        st.button(
            "Update to the form on screen", key="view_template_update", on_click=TEMPLATES.attempt,
            args=(lambda: context.clients.view_store.templates.update(template.id, body_of(draft)),),
        )  # fmt: skip


def _open_template(context: PageContext, template: DealEntry) -> None:
    """Fill the form; where it holds something, ask first. A callback."""
    if state.read(context).is_untouched:
        _fill_from(context, template)
    else:
        TEMPLATES.show(template, REPLACE)


def _fill_from(context: PageContext, template: DealEntry) -> None:
    TEMPLATES.attempt(lambda: _fill_with(context, template))


def _fill_with(context: PageContext, template: DealEntry) -> None:
    seats = catalog.seats(context) if catalog.abilities(context).lists else None
    draft, missing = draft_of(template.body, seats)
    sentence = (
        f"{missing} of its seats {'is' if missing == 1 else 'are'} not there for you." if missing else ""
    )
    state.fill(draft, sentence)
    TEMPLATES.back()
    st.session_state[POPOVER] = False
