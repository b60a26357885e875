"""The form's state: its widgets as a draft, and the draft that is kept between visits."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from lib.deals.fields import SUPPLY
from lib.deals.models import Targeting
from lib.deals.package_records import Drafts, PackageQuestion
from lib.deals.proposals.models import Proposal
from lib.ui.deals.changes.creation_form import CreationForm
from lib.ui.deals.forms import entity_form, seat_rows
from lib.ui.deals.forms.draft import PLAIN, Draft, dump_draft, load_draft
from lib.ui.deals.forms.entity_form import EntityForm
from lib.ui.deals.forms.inputs import Faults
from lib.ui.deals.forms.seat_rows import SeatRows
from lib.ui.deals.targeting import pending
from lib.ui.kit import times
from lib.ui.kit.field_problems import FieldProblems
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
PREFIX = "np_"
TARGETING = "np_target"
DEALS, LINKS = "np_deals", "np_links"
FORM = CreationForm(PREFIX)
RESULT, NOTE = "np_created", "np_note"
DRAFT_BODY, DRAFT_TIME, QUESTION, PROPOSAL = "np_kept", "np_found", "np_question", "np_proposal"
STORED_QUESTION = TypeAdapter(PackageQuestion)


def begin(drafts: Drafts) -> None:
    """Start where this person left off, else an empty form: with its key, so that it creates one at most."""
    if FORM.key:
        return
    try:
        if not _resume(drafts):
            fill(empty())
    except TrancheError as error:
        fill(empty())
        FORM.fail(
            f"{error.sentence} Your draft could not be loaded: reload the page to try again. "
            "What you enter here takes its place."
        )


def fill(draft: Draft, note: str = "", key: str = "") -> None:
    """A new form that says what the draft says; `note` is shown above it. It has this `key`, or its own."""
    clear()
    FORM.begin(key)
    entity_form.fill(PREFIX, {name: draft[name] for name in PLAIN}, draft.zone, draft.targeting)
    seat_rows.fill(PREFIX, draft.new_deals)
    pending.fill(TARGETING, draft.pending)
    st.session_state.update({DEALS: draft.deals, LINKS: [*draft.links], NOTE: note})


def fill_from(targeting: Targeting, media_type: str | None, question: PackageQuestion) -> None:
    """A new form with this targeting, which comes from a question."""
    usual = empty()
    fill(replace(usual.with_(media_type=media_type or usual["media_type"]), targeting=targeting))
    st.session_state[QUESTION] = question


def fill_proposal(draft: Draft, proposal: Proposal) -> None:
    """A new form with a proposal's values, which it approves; with its key, so that it is created once."""
    fill(draft, f"Proposed by {proposal.by}: {proposal.reason}", proposal.key)
    st.session_state.update({QUESTION: proposal.question, PROPOSAL: proposal.id})


def package_question() -> PackageQuestion | None:
    """The question that the package of the form comes from, if any."""
    question: PackageQuestion | None = st.session_state.get(QUESTION)
    return question


def clear() -> None:
    """Forget what the form holds in this session."""
    FORM.clear()


def discard(drafts: Drafts) -> None:
    """Start over: forget the form, and what was kept of it. A callback."""
    try:
        drafts.discard()
    except TrancheError as error:
        FORM.fail(f"{error.sentence} The draft is still kept.")
        return
    clear()


def forget_draft(drafts: Drafts) -> None:
    """Keep the draft no longer: its package is there. Left over, it would create the same one at most."""
    try:
        drafts.discard()
    except TrancheError as error:
        log.warning("The draft of a package that was created is still kept: %s", error.reason)


def keep(drafts: Drafts, draft: Draft) -> str:
    """Keep the draft where it was changed; why it could not be kept, in a sentence, else empty."""
    state = st.session_state
    body: dict[str, Any] | None = None
    if not draft.is_untouched:
        body = {"draft": dump_draft(draft), "key": FORM.key, "asked": FORM.is_doubtful}
        if (number := state.get(PROPOSAL)) is not None:
            body["proposal"] = number
        if (origin := package_question()) is not None:
            body["question"] = STORED_QUESTION.dump_python(origin, mode="json")
    if body == state.get(DRAFT_BODY):
        return ""
    try:
        drafts.discard() if body is None else drafts.keep(body)
    except TrancheError as error:
        return f"{error.sentence} A reload of this page would lose what you entered."
    state[DRAFT_BODY] = body
    return ""


def is_held(context: PageContext) -> bool:
    """Whether there is a draft that another one would replace."""
    if FORM.key:
        return RESULT not in st.session_state and not read(context).is_untouched
    try:
        return context.clients.drafts.get() is not None
    except TrancheError:
        return False


def read(context: PageContext) -> Draft:
    """The form's content."""
    form, deals = EntityForm(context, PREFIX, SUPPLY), SeatRows(context, PREFIX).read()
    return Draft(
        values=form.contents, zone=form.zone, targeting=form.targeting,
        deals=st.session_state.get(DEALS) or "none", seats=deals.seats, terms=deals.terms,
        links=tuple(st.session_state.get(LINKS, ())), pending=pending.pending(TARGETING),
    )  # fmt: skip


def problems(context: PageContext, draft: Draft, draft_faults: Faults) -> FieldProblems:
    """Errors from the service whose fields did not change since, and errors that the form finds.

    What is missing is only said once somebody tried to create the package, or emptied the field.
    """
    remaining = FORM.problems.still(draft.package().body()) if FORM.problems else FORM.problems
    if FORM.is_tried:
        return remaining.with_(draft_faults.all)
    places = SeatRows(context, PREFIX).cleared_places()
    return remaining.with_(
        {place: text for place, text in draft_faults.all.items() if place in {*draft_faults.wrong, *places}}
    )


def empty() -> Draft:
    """The form before anything is entered: it starts tomorrow."""
    tomorrow = datetime.now(times.zone()).date() + timedelta(days=1)
    return Draft.of(media_type="banner", start_date=f"{tomorrow}", zone=times.zone_name())


def _resume(drafts: Drafts) -> bool:
    """Put the draft that is kept into the form; whether one can be read. Errors of the store."""
    try:
        kept_draft = drafts.get()
        if kept_draft is None:
            return False
        draft, key = load_draft(kept_draft.body["draft"]), str(kept_draft.body["key"])
        origin = kept_draft.body.get("question")
        package_question = None if origin is None else STORED_QUESTION.validate_python(origin)
    except (ValidationError, KeyError):
        log.exception("A draft that was kept can't be read")
        return False
    fill(draft, key=key)
    st.session_state.update(
        {
            DRAFT_BODY: kept_draft.body,
            DRAFT_TIME: kept_draft.at,
            QUESTION: package_question,
            PROPOSAL: kept_draft.body.get("proposal"),
        }
    )
    if kept_draft.body.get("asked"):
        FORM.note_doubt()
    return True
