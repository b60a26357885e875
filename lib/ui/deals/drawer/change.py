"""The form in the drawer: sends the edited fields, and never overwrites somebody else's changes unseen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import streamlit as st

from lib.deals.client import Deals, to_json
from lib.deals.models import PackageOrDeal
from lib.deals.proposals.models import Proposal
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import confirmations, merge, proposal_form
from lib.ui.deals.changes.merge import Fields, Meeting
from lib.ui.deals.drawer import change_form
from lib.ui.deals.drawer.change_form import KeptChange
from lib.ui.deals.facts import Prices
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.forms.entity_form import EntityForm
from lib.ui.deals.list.deal_rows import Key
from lib.ui.deals.targeting import pending
from lib.ui.kit import notes, page_scripts
from lib.ui.kit.field_problems import FieldProblems, Path, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open
from lib.wire.errors import Conflict, Invalid, TrancheError, Unsupported

NO_PROBLEMS = FieldProblems()


@dataclass(frozen=True)
class Edit:
    """An edit in progress: what was read, with which ETag; what somebody else changed meanwhile, and who.

    `proposal` is the number of the one that it approves, with edits.
    """

    base: Fields
    etag: str | None
    meetings: tuple[Meeting, ...] = ()
    by: Mapping[str, str] = field(default_factory=dict)
    problems: FieldProblems = NO_PROBLEMS
    failure: str = ""
    proposal: int | None = None


def draw(context: PageContext, key: Key, entity: PackageOrDeal) -> None:
    """Draw the form. The input is kept until it is saved or discarded, also through a reload.

    What a reload left is offered first: nothing is filled in, and nothing of it lost, without a word.
    """
    prefix = _prefix(key)
    edit: Edit | None = st.session_state.get(prefix)
    kept_change = change_form.find(context, key) if edit is None else None
    if kept_change is not None:
        change_form.offer(
            kept_change, prefix, partial(resume, key, kept_change), partial(forget, context, key)
        )
        return
    if edit is None:
        edit = Edit(merge.of(entity), entity.etag)
        _start(prefix, key, edit, edit.base)
    form = _form(context, key)
    mine = form.read()
    _meetings(edit, facts.prices_of(context).of(getattr(entity, "currency", None)))
    faults, is_tried = form.faults(edit.base), f"{prefix}_tried" in st.session_state
    wrong = faults.all if is_tried else faults.wrong
    refusals = edit.problems.still(mine)
    problems = refusals.with_(wrong)
    change_form.draw(form, problems)
    with st.container():  # what comes and goes in it moves nothing else
        beside(problems.others((name,) for name in mine))
        if refusals or (is_tried and wrong):
            beside([_errors_text(wrong)])
    if edit.failure:
        st.error(plain(edit.failure), icon=":material/error:")
    questions = change_form.questions(form, edit.base)
    confirmations.confirm(questions, prefix, "Not saved: confirm this first." if is_tried else "")
    if proposal_form.may_only_propose(context):
        proposal_form.draw(prefix, "Propose change", propose, (context, key))
        return
    if why_not := _keep(context, key):
        st.caption(f":orange[:material/warning: {plain(why_not)}]")
    elif is_unsaved(context, key):
        st.caption("Kept as you type it until you save or discard it.")
    page_scripts.press_by_keys(f"{prefix}_save")
    with st.container(horizontal=True):
        st.button(
            "Overwrite their version" if any(meeting.is_mine for meeting in edit.meetings) else "Save",
            type="primary",
            key=f"{prefix}_save",
            help="Ctrl+Enter",
            on_click=save,
            args=(context, key),
        )
        st.button(
            "Use their version" if edit.meetings else "Discard",
            key=f"{prefix}_discard",
            on_click=forget,
            args=(context, key),
        )


def resume(key: Key, kept_change: KeptChange) -> None:
    """Go on with the change that a reload left, as it was typed. A callback."""
    prefix = _prefix(key)
    edit = Edit(kept_change.base, kept_change.etag, proposal=kept_change.proposal)
    _start(prefix, key, edit, edit.base)
    change_form.fill(prefix, key[0], kept_change)


def begin(context: PageContext, key: Key, entity: PackageOrDeal, proposal: Proposal) -> None:
    """Begin an edit of the entity as it is now, with a proposal's values in the form."""
    forget(context, key)
    edit = Edit(merge.of(entity), entity.etag, proposal=proposal.id)
    after = type(entity).model_validate({**entity.model_dump(), **proposal.fields})
    values = {name: value for name, value in merge.of(after).items() if name in proposal.fields}
    _start(_prefix(key), key, edit, {**edit.base, **values})


def propose(context: PageContext, key: Key) -> None:
    """Propose the edits. A callback."""
    prefix = _prefix(key)
    if _ready_edit(context, key) is None:
        return
    fields = to_json(unsaved_edits(context, key))
    estimate = proposal_form.estimate_of_change(context, context.deals.get(*key), fields)
    body = {"entity": key[0], "entity_id": key[1], "fields": fields, "expected": estimate}
    if proposal_form.propose(context, prefix, body):
        forget(context, key)


def is_kept(context: PageContext, key: Key) -> bool:
    """Whether a reload left a change of this entity, which is offered in place of its form."""
    return _prefix(key) not in st.session_state and change_form.find(context, key) is not None


def would_lose(context: PageContext, key: Key) -> bool:
    """Whether a reload would lose what is typed: it could not be kept."""
    return is_unsaved(context, key) and not change_form.is_stored(key)


def restore(context: PageContext, key: Key) -> None:
    """Fill the form with what a reload left, if anything, whatever became of the entity."""
    kept_change = change_form.find(context, key)
    if _prefix(key) not in st.session_state and kept_change is not None:
        resume(key, kept_change)


def is_unsaved(context: PageContext, key: Key) -> bool:
    """Whether this entity has unsaved edits, or values typed that are not added yet."""
    return bool(unsaved_edits(context, key) or pending.pending(f"{_prefix(key)}target"))


def unsaved_edits(context: PageContext, key: Key) -> Fields:
    """The unsaved edits of this entity."""
    prefix = _prefix(key)
    edit: Edit | None = st.session_state.get(prefix)
    if edit is None:
        return {}
    return merge.edited_fields(edit.base, _form(context, key).read())


def as_draft(context: PageContext, package_id: int) -> Draft:
    """The form of a package, as it is typed, as the draft of a new one."""
    return change_form.as_draft(_form(context, ("supply_deals", package_id)))


def save(context: PageContext, key: Key) -> None:
    """Send the edits if nobody changed the entity meanwhile; else show their changes. A callback.

    Its button is never closed: what is typed last is known here only once the click has left its field.
    """
    prefix = _prefix(key)
    if (edit := _ready_edit(context, key)) is None:
        return
    try:
        st.session_state[prefix] = _save_edit(context, key, edit)
    except TrancheError as error:
        st.session_state[prefix] = replace(edit, failure=_failure_text(error))
    if st.session_state[prefix] is None:
        forget(context, key)
        catalog.forget()
        notes.say("Saved")


def _ready_edit(context: PageContext, key: Key) -> Edit | None:
    """The edit, if something was changed, nothing is wrong with it, and what is unusual is confirmed."""
    prefix = _prefix(key)
    edit: Edit | None = st.session_state.get(prefix)
    if edit is None:
        return None  # the second click of a double click: the first one has sent it
    if not unsaved_edits(context, key):
        notes.say("No field was changed")
        return None
    form = _form(context, key)
    questions = change_form.questions(form, edit.base)
    if form.faults(edit.base).all or not confirmations.is_confirmed(questions, prefix):
        st.session_state[f"{prefix}_tried"] = True
        return None
    return edit


def _save_edit(context: PageContext, key: Key, edit: Edit) -> Edit | None:
    """None once it is saved; else the edit with its errors, or with somebody else's changes."""
    client, mine = context.deals, _form(context, key).read()
    try:
        fields = merge.edited_fields(edit.base, mine)

        def write() -> int:
            client.change(*key, fields, edit.etag)
            return key[1]

        proposal_form.once(context, edit.proposal, write, fields)
    except Invalid as error:
        problems = FieldProblems.of(error, mine)
        return Edit(edit.base, edit.etag, problems=problems, proposal=edit.proposal)
    except Conflict as error:
        return _rebase(client, key, edit, mine, error)
    return None


def forget(context: PageContext, key: Key) -> None:
    """Discard the edit and its input. A callback."""
    prefix = _prefix(key)
    change_form.discard(context, key)
    for name in [name for name in st.session_state if str(name).startswith(prefix)]:
        del st.session_state[name]


def _rebase(client: Deals, key: Key, edit: Edit, mine: Fields, error: Conflict) -> Edit:
    """The edit rebased on the current state: my edits stay in the form, other fields are updated."""
    try:
        latest = client.get(*key)
    except TrancheError as gone:
        return Edit(edit.base, edit.etag, failure=_failure_text(gone), proposal=edit.proposal)
    theirs = merge.of(latest)
    values, meetings = merge.merge(edit.base, mine, theirs)
    failure = "" if meetings else _failure_text(error)
    new_edit = Edit(
        theirs, latest.etag, tuple(meetings), _by(client, key), failure=failure, proposal=edit.proposal
    )
    _start(_prefix(key), key, new_edit, values)
    return new_edit


def _by(client: Deals, key: Key) -> dict[str, str]:
    """The last change of each field: person and time; empty if the service has no history."""
    try:
        changes = client.history(*key)
    except TrancheError:
        return {}
    return {
        name: f"{change.who}, {facts.moment(change.at)}"
        for change in changes[::-1]
        for name in change.after or {}
    }


def _keep(context: PageContext, key: Key) -> str:
    """Keep what is typed for a reload; why that is not possible, in a sentence, else empty."""
    edit: Edit = st.session_state[_prefix(key)]
    if not is_unsaved(context, key):
        change_form.discard(context, key)
        return ""
    return change_form.keep(context, key, _form(context, key), edit.base, edit.etag, edit.proposal)


def _start(prefix: str, key: Key, edit: Edit, values: Fields) -> None:
    st.session_state[prefix] = edit
    change_form.begin(prefix, key[0], values)


def _errors_text(wrong: Mapping[Path, str]) -> str:
    """A sentence that names the fields with errors."""
    if not wrong:
        return "Not saved yet. To fix: the fields marked above."
    return f"Not saved. To fix: {', '.join(facts.title(str(place[0])) for place in wrong)}."


def _meetings(edit: Edit, money: Prices) -> None:
    """Draw somebody else's changes, and how the form has merged them."""
    if not edit.meetings:
        return
    lines = [_meeting(meeting, edit.by.get(meeting.field, ""), money) for meeting in edit.meetings]
    st.warning(
        "Nothing was saved yet. What you typed is still here.\n\n" + "\n".join(f"- {line}" for line in lines),
        title="Somebody else has changed this",
        icon=":material/group:",
    )


def _meeting(meeting: Meeting, by: str, money: Prices) -> str:
    before, theirs = (plain(facts.value(meeting.field, part)) for part in (meeting.before, meeting.theirs))
    title, who = plain(facts.title(meeting.field, money)), f" ({plain(by)})" if by else ""
    sentence = f"**{title}** went from {before} to {theirs}{who}"
    if not meeting.is_mine:
        return f"{sentence}; the form shows that now."
    return f"{sentence}; you typed **{plain(facts.value(meeting.field, meeting.mine))}**."


def _failure_text(error: TrancheError) -> str:
    sentence = error.reason.rstrip(".")
    if isinstance(error, Unsupported):
        return f"{sentence}. What you typed is still here."
    outcome = "It may have been saved" if is_open(error) else "Nothing was saved"
    return f"{sentence}. {outcome}; what you typed is still here."


def _form(context: PageContext, key: Key) -> EntityForm:
    return EntityForm(context, _prefix(key), key[0])


def _prefix(key: Key) -> str:
    return f"change-{key[0]}-{key[1]}-"
