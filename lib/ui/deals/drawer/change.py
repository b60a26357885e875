"""The change of a package or deal in the drawer: it never overwrites somebody else's changes unseen."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from lib.deals.client import to_json
from lib.deals.models import PackageOrDeal
from lib.deals.proposals.models import Proposal
from lib.figures.deals import field_text
from lib.figures.deals.field_text import Prices
from lib.figures.error_text import is_open
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations, merge, proposal_form
from lib.ui.deals.changes.form_try import FormTry
from lib.ui.deals.changes.merge import Fields, Meeting
from lib.ui.deals.changes.plan import PlannedChange
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.drawer import change_form, kept_change
from lib.ui.deals.drawer.kept_change import KeptChange
from lib.ui.deals.forms.entity_form import EntityForm
from lib.ui.deals.targeting import pending
from lib.ui.kit import notes, page_scripts
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Conflict, Invalid, TrancheError, Unsupported


@dataclass(frozen=True)
class Edit:
    """An edit in progress: what was read, with which ETag; what somebody else changed meanwhile, and who.

    `proposal` is the number of the one that it approves, with edits.
    """

    base: Fields
    etag: str | None
    meetings: tuple[Meeting, ...] = ()
    by: Mapping[str, str] = field(default_factory=dict)
    proposal: int | None = None


@dataclass(frozen=True)
class DrawerChange:
    """The change of one entity in the drawer. The input is kept until it is saved or discarded.

    `key` is the entity's; all that is typed is in the session, under the `prefix`.
    """

    context: PageContext
    key: Key

    @property
    def prefix(self) -> str:
        return f"change-{self.key[0]}-{self.key[1]}-"

    @property
    def form(self) -> EntityForm:
        return EntityForm(self.context, self.prefix, self.key[0])

    @property
    def edit(self) -> Edit | None:
        edit: Edit | None = st.session_state.get(self.prefix)
        return edit

    @property
    def last_try(self) -> FormTry:
        return FormTry(self.prefix)

    @property
    def unsaved_edits(self) -> Fields:
        """The fields that were edited and not saved."""
        edit = self.edit
        return {} if edit is None else merge.edited_fields(edit.base, self.form.read())

    @property
    def is_unsaved(self) -> bool:
        """Whether there are unsaved edits, or values typed that are not added yet."""
        return bool(self.unsaved_edits or pending.pending(f"{self.prefix}target"))

    @property
    def is_kept(self) -> bool:
        """Whether a reload left a change of this entity, which is offered in place of its form."""
        return self.edit is None and kept_change.find(self.context, self.key) is not None

    @property
    def would_lose(self) -> bool:
        """Whether a reload would lose what is typed: it could not be kept."""
        return self.is_unsaved and not kept_change.is_stored(self.key)

    def draw(self, entity: PackageOrDeal) -> None:
        """Draw the form.

        What a reload left is offered first: nothing is filled in, and nothing of it lost, without a word.
        """
        prefix, edit = self.prefix, self.edit
        if edit is None and (change := kept_change.find(self.context, self.key)) is not None:
            kept_change.offer(change, prefix, partial(self.resume, change), self.forget)
            return
        if edit is None:
            edit = Edit(merge.of(entity), entity.etag)
            self._start(edit, edit.base)
        form, last_try = self.form, self.last_try
        mine = form.read()
        _draw_meetings(edit, field_text.prices_of(self.context).of(getattr(entity, "currency", None)))
        faults = form.faults(edit.base)
        wrong = faults.all if last_try.is_tried else faults.wrong
        refusals = last_try.problems.still(mine)
        problems = refusals.with_(wrong)
        change_form.draw(form, self.key, problems)
        with st.container():  # what comes and goes in it moves nothing else
            beside(problems.others((name,) for name in mine))
            if wrong and (refusals or last_try.is_tried):
                names = ", ".join(field_text.title(str(path[0])) for path in wrong)
                beside([f"Not saved. To fix: {names}."])
            elif refusals:
                beside(["Not saved yet. To fix: the fields marked above."])
        last_try.draw_failure()
        last_try.confirm(change_form.questions(form, self.key, edit.base, faults), "saved")
        if proposal_form.may_only_propose(self.context):
            proposal_form.draw(prefix, "Propose change", self.propose, ())
            return
        if not self.is_unsaved:
            kept_change.discard(self.context, self.key)
        elif why_not := kept_change.keep(self.context, self.key, form, edit.base, edit.etag, edit.proposal):
            st.caption(f":orange[:material/warning: {plain(why_not)}]")
        else:
            st.caption("Kept as you type it until you save or discard it.")
        page_scripts.press_by_keys(f"{prefix}_save")
        with st.container(horizontal=True):
            overwrites = any(meeting.is_mine for meeting in edit.meetings)
            # Never disabled: what is typed last is known here only once the click has left its field.
            st.button(
                "Overwrite their version" if overwrites else "Save", type="primary", key=f"{prefix}_save",
                help="Ctrl+Enter", on_click=self.save,
            )  # fmt: skip
            st.button(
                "Use their version" if edit.meetings else "Discard", key=f"{prefix}_discard",
                on_click=self.forget,
            )  # fmt: skip

    def resume(self, change: KeptChange) -> None:
        """Go on with the change that a reload left, as it was typed. A callback."""
        edit = Edit(change.base, change.etag, proposal=change.proposal)
        self._start(edit, edit.base)
        kept_change.fill(self.prefix, self.key[0], change)

    def restore(self) -> None:
        """Fill the form with what a reload left, if anything, whatever became of the entity."""
        change = kept_change.find(self.context, self.key)
        if self.edit is None and change is not None:
            self.resume(change)

    def begin(self, entity: PackageOrDeal, proposal: Proposal) -> None:
        """Begin an edit of the entity as it is now, with a proposal's values in the form."""
        self.forget()
        edit = Edit(merge.of(entity), entity.etag, proposal=proposal.id)
        after = type(entity).model_validate({**entity.model_dump(), **proposal.fields})
        values = {name: value for name, value in merge.of(after).items() if name in proposal.fields}
        self._start(edit, {**edit.base, **values})

    def propose(self) -> None:
        """Propose the edits. A callback."""
        if self._ready_edit() is None:
            return
        fields = to_json(self.unsaved_edits)
        entity = self.context.deals.get(*self.key)
        estimate = proposal_form.estimate_of_change(self.context, entity, fields)
        body = {"entity": self.key[0], "entity_id": self.key[1], "fields": fields, "expected": estimate}
        if proposal_form.propose(self.context, self.prefix, body):
            self.forget()

    def save(self) -> None:
        """Send the edits if nobody changed the entity meanwhile; else show their changes. A callback."""
        if (edit := self._ready_edit()) is None:
            return
        mine = self.form.read()
        fields = merge.edited_fields(edit.base, mine)

        change = PlannedChange(self.key, str(edit.base.get("name") or ""), edit.base, fields, edit.etag)
        record = self.context.clients.bulk_actions.record(f"Changed {change.name}")

        def write() -> int:
            record.add([change.action_row])
            try:
                self.context.deals.change(*self.key, fields, edit.etag)
            except TrancheError as error:
                record.drop([] if is_open(error) else [self.key])
                raise
            return self.key[1]

        self.last_try.begin_try()
        try:
            proposal_form.once(self.context, edit.proposal, write, fields)
        except Invalid as error:
            self.last_try.refuse(error, mine)
        except Conflict as error:
            self._rebase(edit, mine, error)
        except TrancheError as error:
            self.last_try.fail(_failure_text(error))
        else:
            self.forget()
            catalog.forget()
            notes.say("Saved")

    def forget(self) -> None:
        """Discard the edit and its input. A callback."""
        kept_change.discard(self.context, self.key)
        self.last_try.clear()

    def _start(self, edit: Edit, values: Fields) -> None:
        st.session_state[self.prefix] = edit
        change_form.begin(self.prefix, self.key[0], values)

    def _ready_edit(self) -> Edit | None:
        """The edit, if something was changed, nothing is wrong with it, and what is unusual is confirmed."""
        edit = self.edit
        if edit is None:
            return None  # the second click of a double click: the first one has sent it
        if not self.unsaved_edits:
            notes.say("No field was changed")
            return None
        faults = self.form.faults(edit.base)
        questions = change_form.questions(self.form, self.key, edit.base, faults)
        if faults.all or not confirmations.is_confirmed(questions, self.prefix):
            self.last_try.note_try()
            return None
        return edit

    def _rebase(self, edit: Edit, mine: Fields, error: Conflict) -> None:
        """Base the edit on the current state: my edits stay in the form, other fields are updated."""
        try:
            latest = self.context.deals.get(*self.key)
        except TrancheError as missing:
            self.last_try.fail(_failure_text(missing))
            return
        theirs = merge.of(latest)
        values, meetings = merge.merge(edit.base, mine, theirs)
        if not meetings:
            self.last_try.fail(_failure_text(error))
        by: dict[str, str] = {}
        with suppress(TrancheError):  # without a history nobody is named
            for change in self.context.deals.history(*self.key)[::-1]:
                sentence = f"{field_text.by(change.who, change.token)}, {field_text.moment(change.at)}"
                by |= dict.fromkeys(change.after or {}, sentence)
        self._start(Edit(theirs, latest.etag, tuple(meetings), by, edit.proposal), values)


def _draw_meetings(edit: Edit, money: Prices) -> None:
    """Draw somebody else's changes, and how the form has merged them."""
    lines = []
    for meeting in edit.meetings:
        before, theirs, mine = (
            plain(field_text.value(meeting.field, part))
            for part in (meeting.before, meeting.theirs, meeting.mine)
        )
        by = edit.by.get(meeting.field, "")
        title, who = plain(field_text.title(meeting.field, money)), f" ({plain(by)})" if by else ""
        result = f"you typed **{mine}**" if meeting.is_mine else "the form shows that now"
        lines.append(f"- **{title}** went from {before} to {theirs}{who}; {result}.")
    if lines:
        st.warning(
            "Nothing was saved yet. What you typed is still here.\n\n" + "\n".join(lines),
            title="Somebody else has changed this",
            icon=":material/group:",
        )


def _failure_text(error: TrancheError) -> str:
    sentence = error.reason.rstrip(".")
    if isinstance(error, Unsupported):
        return f"{sentence}. What you typed is still here."
    outcome = "It may have been saved" if is_open(error) else "Nothing was saved"
    return f"{sentence}. {outcome}; what you typed is still here."
