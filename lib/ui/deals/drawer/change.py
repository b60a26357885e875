"""The change of a package or deal in the drawer: it never overwrites somebody else's changes unseen.

Beside a deal's price: what wins cost in each of its packages, and where the price is. It is computed in the
background, over the same days as the deal's health, so that the two agree.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from lib.deals import fields
from lib.deals.client import to_json
from lib.deals.fields import DEALS, SUPPLY, TERMS
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.proposals.models import Proposal
from lib.deals.targeting.filters import report_filters
from lib.figures.deals import field_text
from lib.figures.deals.field_text import Prices
from lib.figures.error_text import is_open
from lib.ui.deals import catalog
from lib.ui.deals.catalog import draw_seat
from lib.ui.deals.changes import confirmations, merge, proposal_form
from lib.ui.deals.changes.confirmations import Point
from lib.ui.deals.changes.creation_form import FormTry
from lib.ui.deals.changes.merge import Fields, Meeting
from lib.ui.deals.changes.plan import PlannedChange
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.drawer import kept_change
from lib.ui.deals.drawer.kept_change import KeptChange
from lib.ui.deals.forms import entity_form, inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.forms.entity_form import LINKS, EntityForm
from lib.ui.deals.forms.inputs import Faults, Look
from lib.ui.deals.insight import report, seat_guide, supply_path
from lib.ui.deals.insight.seat_guide import SeatPrice
from lib.ui.deals.targeting import pending
from lib.ui.deals.targeting.picker import TargetingPicker
from lib.ui.kit import notes, page_scripts, times
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.wire.errors import Conflict, Invalid, TrancheError, Unsupported

NAMES, OLD_NAME = "form_names", "old_name"


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


_report_unread = partial(
    report_errors, "What you typed before", effect="If you left a change unsaved, it is kept."
)


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
        with suppress(TrancheError):  # the form says that it can't be looked for
            return self.edit is None and kept_change.find(self.context, self.key) is not None
        return False

    @property
    def would_lose(self) -> bool:
        """Whether a reload would lose what is typed: it could not be kept."""
        return self.is_unsaved and not kept_change.is_stored(self.key)

    def draw(self, entity: PackageOrDeal) -> None:
        """Draw the form.

        What a reload left is offered first: nothing is filled in, and nothing of it lost, without a word. Nor
        is a form drawn while that can't be looked for: what is typed in it would take its place.
        """
        prefix = self.prefix
        if self.edit is None:
            with _report_unread():
                if (change := kept_change.find(self.context, self.key)) is not None:
                    when = field_text.moment(change.at.astimezone(times.zone()))
                    st.info(f"Your change from {when} is here, and was not saved.", icon=":material/history:")
                    with st.container(horizontal=True):
                        resume = partial(self.resume, change)
                        st.button("Continue", type="primary", key=f"{prefix}_continue", on_click=resume)
                        st.button("Discard", key=f"{prefix}_drop", on_click=self.forget)
                else:
                    values = merge.of(entity)
                    self._start(Edit(values, entity.etag), values)
        if (edit := self.edit) is None:
            return
        form, last_try = self.form, self.last_try
        mine = form.read()
        _draw_meetings(edit, field_text.prices_of(self.context).of(getattr(entity, "currency", None)))
        faults = form.faults(edit.base)
        wrong = faults.all if last_try.is_tried else faults.wrong
        refusals = last_try.problems.still(mine)
        problems = refusals.with_(wrong)
        draw_form(form, self.key, problems)
        with st.container():  # what comes and goes in it moves nothing else
            beside(problems.others((name,) for name in mine))
            if wrong and (refusals or last_try.is_tried):
                names = ", ".join(field_text.title(str(path[0])) for path in wrong)
                beside([f"Not saved. To fix: {names}."])
            elif refusals:
                beside(["Not saved yet. To fix: the fields marked above."])
        last_try.draw_failure()
        last_try.confirm(form_questions(form, self.key, edit.base, faults), "saved")
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
        with _report_unread():
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
        entity_form.fill_from(self.prefix, self.key[0], values)
        st.session_state.update(
            {self.prefix + NAMES: frozenset(values), self.prefix + OLD_NAME: values.get("name") or ""}
        )

    def _ready_edit(self) -> Edit | None:
        """The edit, if something was changed, nothing is wrong with it, and what is unusual is confirmed."""
        edit = self.edit
        if edit is None:
            return None  # the second click of a double click: the first one has sent it
        if not self.unsaved_edits:
            notes.say("No field was changed")
            return None
        faults = self.form.faults(edit.base)
        questions = form_questions(self.form, self.key, edit.base, faults)
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
            title="Somebody else has changed this", icon=":material/group:",
        )  # fmt: skip


def _failure_text(error: TrancheError) -> str:
    sentence = error.reason.rstrip(".")
    if isinstance(error, Unsupported):
        return f"{sentence}. What you typed is still here."
    outcome = "It may have been saved" if is_open(error) else "Nothing was saved"
    return f"{sentence}. {outcome}; what you typed is still here."


MAIN_FIELDS = ("name", "price", *fields.writable(DEALS, fields.SWITCH), *TERMS)
OTHERS = tuple(name for name in fields.writable(DEALS) if name not in MAIN_FIELDS)
MOST, NO_SEAT = 3, 0


def as_draft(form: EntityForm) -> Draft:
    """The widgets of a package as the draft of a new one, for an edit whose package is gone."""
    deal_ids = tuple(sorted(st.session_state.get(f"{form.prefix}demand_deals", ())))
    return Draft(
        values=form.contents, zone=form.zone, targeting=form.targeting,
        deals="existing" if deal_ids else "none", links=deal_ids,
        pending=pending.pending(f"{form.prefix}target"),
    )  # fmt: skip


def form_questions(form: EntityForm, key: Key, base: Fields, faults: Faults) -> list[Point]:
    """What has to be confirmed of what was changed, as far as it can be read."""
    edits = merge.edited_fields(base, form.read())
    readable = {name: value for name, value in edits.items() if (name,) not in faults.wrong}
    slips = confirmations.pasted_currency(form.context, form.contents) if form.entity == DEALS else []
    return [*(confirmations.of_edit(form.context, key, base, readable) if readable else ()), *slips]


def draw_form(form: EntityForm, key: Key, problems: FieldProblems) -> None:
    """Draw the widgets, each with its error; none for fields that the service does not return."""
    context, prefix = form.context, form.prefix
    names: frozenset[str] = st.session_state[prefix + NAMES]
    if form.entity == SUPPLY:
        form.draw_package(problems, names, st.session_state[prefix + OLD_NAME])
        st.markdown("Targeting")
        TargetingPicker(context, f"{prefix}target").draw(problems, names)
        supply_path.draw_lists(context, form.targeting)
    else:
        state = st.session_state
        if "name" in names:
            form.draw_field("name", problems)
        if "seat" in names:
            with st.container():
                draw_seat(catalog.seats(context), f"{prefix}seat")
                beside(problems.at("seat"))
        amount, sync = st.columns(2, vertical_alignment="bottom")
        if "price" in names:
            with amount:
                money = field_text.prices_of(context).of(state.get(f"{prefix}currency"))
                form.draw_field("price", problems, Look(money.title))
        with sync, st.container(horizontal=True):
            for name in fields.writable(DEALS, fields.SWITCH):
                if name in names:
                    form.draw_field(name, problems)
        if "price" in names:
            packages = state.get(f"{prefix}supply_deals", ())
            seat, typed_price = state.get(f"{prefix}seat"), inputs.value("price", state[f"{prefix}price"])
            with st.container():  # what comes and goes in it moves no field below
                terms = {name: state.get(f"{prefix}{name}") for name in TERMS}
                of_seat = seat_guide.seat_price(context, typed_price, terms)
                _draw_guides(context, key[1], seat, of_seat, packages)
        form.draw_terms(problems, [name for name in TERMS if name in names])
        for name in OTHERS:
            if name in names:
                form.draw_field(name, problems)
    link = LINKS[form.entity]
    if prefix + link in st.session_state:
        model = DemandDeal if form.entity == SUPPLY else SupplyPackage
        catalog.draw_link_picker(context, field_text.title(link), prefix + link, model)
        beside(problems.at(link))


def _draw_guides(
    context: PageContext, deal: int, seat: int | None, price: SeatPrice, packages: Sequence[int]
) -> None:
    """Draw what wins cost in each package, with what it is computed from; nothing without packages.

    Wins of the deal itself are left out.
    """
    if not packages:
        return
    with report_errors("What wins cost", effect="What you typed is kept."):
        sold_in = report.of_deals(context) or context
        own = next(iter(catalog.by_id(context, DemandDeal, [deal])), None)
        lists = catalog.list_entries(context)
        for number, package in enumerate(catalog.by_id(context, SupplyPackage, packages[:MOST])):
            translation = report_filters(package, sold_in.slicer, lists, package.media_type)
            title = f"{package.name or f'Package {package.id}'}: " if len(packages) > 1 else ""
            prices = {seat or NO_SEAT: price}
            guide = seat_guide.of(sold_in, f"change_prices_{number}", translation, prices, own)
            for sentence in guide.by_seat.values():
                st.caption(plain(f"{title}{sentence}"))
            left_out = f"Not counted in: {' '.join(translation.left_out)}" if translation.left_out else ""
            seat_guide.draw_note(guide, left_out)
        if len(packages) > MOST:
            st.caption(
                f":material/info: What wins cost is shown for the first {MOST} of {len(packages)} packages."
            )
