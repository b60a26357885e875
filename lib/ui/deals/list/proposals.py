"""The proposals on Deals: a dialog with the list, the diff in words, and what is decided about it."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import streamlit as st

from lib.deals.proposals.models import STATES, Drift, Proposal
from lib.deals.proposals.writers import ClientWriter
from lib.figures import numbers
from lib.figures.deals import change_text, field_text
from lib.figures.deals.deal_names import KINDS
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals import catalog, counts
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.proposal_form import draft_of, title
from lib.ui.deals.drawer.change import DrawerChange
from lib.ui.deals.forms import draft_text
from lib.ui.deals.list_state import OPEN
from lib.ui.deals.new_package import state as new_package
from lib.ui.kit import address, listing, notes, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import attempt_write, report_errors
from lib.wire.errors import TrancheError

PARAM, LIST, PROBLEM = "proposal", "proposals_list", "proposals_problem"
COUNT, AT, WORD, WHICH = "proposals_count", "proposals_counted", "proposals_word", "proposals_which"
SECONDS = 30.0
MOST = 100
OPEN_ONES, DECIDED_ONES = "Open", "Decided"
TONES = {"open": "blue", "applying": "orange", "approved": "green", "declined": "gray"}
COLUMNS = (
    ListColumn("what", "Proposal", 14.0),
    ListColumn("by", "By", 7.0, on_phone="left"),
    ListColumn("at", "When", 10.0, on_phone="right"),
    ListColumn("state", "State", 6.0, on_phone="top"),
)


def number(person: Person) -> int:
    """How many proposals are open for this person, for the navigation; counted every half minute."""
    state, now = st.session_state, datetime.now(UTC).timestamp()
    if person.deals.proposes and now - state.get(AT, 0.0) > SECONDS:
        try:
            state[COUNT] = connect.connect(person, Settings.current()).proposals.page(("open",), 0)[0]
        except TrancheError:
            state[COUNT] = 0
        state[AT] = now
    return int(state.get(COUNT, 0)) if person.deals.proposes else 0


def draw(context: PageContext) -> None:
    """Draw the button, for whoever may propose or decide."""
    if not context.now().deals.proposes:
        return
    count = number(context.now())
    st.button(
        f"Proposals {count}" if count else "Proposals", icon=":material/rate_review:", type="tertiary",
        key="deals_proposals", on_click=_open, help="New packages and changes that somebody decides about",
    )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if the address asks for it."""
    if address.read(PARAM) and context.now().deals.proposes:
        dialog = st.dialog("Proposals", width="large", icon=":material/rate_review:", on_dismiss=close)
        dialog(_content)(context)


def close() -> None:
    """Close it. A callback, and what another screen does."""
    address.write(PARAM)
    st.session_state.pop(PROBLEM, None)


def _open(proposal: str = "all") -> None:
    """Open the dialog, or a proposal in it. A callback."""
    address.write(PARAM, proposal)
    st.session_state.pop(PROBLEM, None)


IN_SIGHT = 5


def _content(context: PageContext) -> None:
    with report_errors("The proposals", effect="Nothing was changed."):
        text = address.read(PARAM)
        selection = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
        which = st.segmented_control(
            "Which", [OPEN_ONES, DECIDED_ONES], default=OPEN_ONES, key=WHICH, required=True,
            label_visibility="collapsed", on_change=_open,
        )  # fmt: skip
        states = [state for state in STATES if (state in ("open", "applying")) == (which == OPEN_ONES)]
        count, proposals = context.clients.proposals.page(states, MOST)
        if proposals:
            rows = []
            for proposal in proposals:
                texts = (title(proposal), proposal.by, field_text.moment(proposal.at))
                state = ListCell(proposal.state.capitalize(), TONES[proposal.state])
                cells = (*map(ListCell, texts), state)
                rows.append(ListRow(str(proposal.id), cells, is_open=proposal.id == selection))
            page = Listing("Proposals", COLUMNS, rows, count, most_in_sight=IN_SIGHT)
            listing.draw_links(LIST, page, _open)
        else:
            st.caption("There are none." if which == DECIDED_ONES else "Nothing is proposed right now.")
        notes.draw()
        if selection is not None:
            _proposal(context, context.clients.proposals.get(selection))


def _proposal(context: PageContext, proposal: Proposal) -> None:
    st.markdown(f"**{plain(title(proposal))}**")
    who = field_text.by(proposal.by, proposal.token)
    st.caption(plain(f"Proposed by {who}, {field_text.moment(proposal.at)}"))
    st.markdown(plain(proposal.reason))
    st.markdown("\n".join(f"- {line}" for line in _diff(context, proposal)))
    sentence = "No estimate of what it will do exists."
    if (expected := proposal.expected) is not None:
        first, last = (date.fromisoformat(expected[name]) for name in ("first_day", "last_day"))
        low, high = (counts.numbers().rough(float(expected[name])) for name in ("low", "high"))
        span = f"{low} to {high} {expected['field']}"
        if tests := expected.get("past_periods_tested"):
            days = (last - first).days + 1
            span += f", which held {counts.track_record(expected['range_held'], tests, days)}"
        source = f"{expected['project']}/{expected['slicer']}"
        sentence = f"Expected in {numbers.days(first, last)}: {span} ({source})."
    st.caption(plain(sentence))
    drifts = _drifts(context, proposal) if proposal.state == "open" and not proposal.is_new else []
    with st.container(horizontal=True):
        question = proposal.question
        if question is not None and context.now().may_see(question.project, question.slicer):
            params = {**question.params, "project": question.project, "slicer": question.slicer}
            st.page_link(
                screens.AUDIENCE, label="The question", icon=":material/monitoring:", query_params=params
            )
        if (entity_id := proposal.applied_id or proposal.entity_id) is not None:
            label = f"{KINDS[proposal.entity]} {entity_id}"
            st.button(
                f"Open {label.lower()}", icon=":material/open_in_new:", key="proposal_open", type="tertiary",
                on_click=_show, args=(proposal, proposal.state == "approved"),
            )  # fmt: skip
    if proposal.state in ("open", "applying"):
        _decide(context, proposal, any(drift.is_conflict for drift in drifts))
    else:
        decision = f"{proposal.state.capitalize()}{' with edits' if proposal.is_edited else ''}"
        word = f": {proposal.word}" if proposal.word else ""
        who = field_text.by(proposal.decided_by or "", proposal.decided_token)
        st.markdown(plain(f"{decision} by {who}, {field_text.moment(proposal.decided_at)}{word}"))


def _diff(context: PageContext, proposal: Proposal) -> list[str]:
    """The change in words, a line for each field; a new package as its form says it."""
    money = catalog.prices_of(context, proposal.entity, proposal.entity_id or 0)
    seats = catalog.seats(context)
    if proposal.is_new:
        draft = draft_of(proposal.fields)
        deals = {number: f"deal {number}" for number in draft.links}
        lines = draft_text.sentences(draft, seats, deals, prices=money)
        return [line.replace("\n- ", " ") for line in lines]
    after = dict(proposal.fields)
    if (seat := seats.get((after.get("seat") or {}).get("id", 0))) is not None:
        after["seat"] = {"id": seat.id, "name": seat.name}
    lines = []
    for name, value in after.items():
        before = proposal.before.get(name)
        is_price = name == confirmations.PRICE and confirmations.CURRENCY not in after
        change = confirmations.price_change(before, value) if is_price else ""
        lines.append(plain(f"{change_text.sentence(name, before, value, money)}{change}"))
    return lines


def _drifts(context: PageContext, proposal: Proposal) -> list[Drift]:
    """Draw what others changed since: what stays, and where both values meet."""
    entity_id = proposal.entity_id or 0
    drifts = proposal.drifts(ClientWriter(context.deals).read(proposal.entity, entity_id)[0])
    if not drifts:
        return []
    lines, money = [], catalog.prices_of(context, proposal.entity, entity_id)
    for drift in drifts:
        before, now, new_value = (
            plain(field_text.value(drift.field, part)) for part in (drift.before, drift.now, drift.new_value)
        )
        sentence = f"{plain(field_text.title(drift.field, money))} went from {before} to {now}"
        result = ", as proposed" if drift.is_proposed else ", and stays so"
        lines.append(f"- {sentence}{f'; the proposal has {new_value}' if drift.is_conflict else result}")
    st.warning("\n".join(lines), title="Changed since it was proposed", icon=":material/group:")
    return drifts


def _show(proposal: Proposal, is_past: bool) -> None:
    """Open the package or deal; of an approved change its history, with the evidence. A callback."""
    close()
    address.write(OPEN, f"{proposal.entity}-{proposal.applied_id or proposal.entity_id}")
    if is_past:
        st.session_state["drawer_shown"] = "History"
    st.rerun()


def _decide(context: PageContext, proposal: Proposal, has_conflict: bool) -> None:
    store = context.clients.proposals

    def approve() -> None:
        store.approve(proposal.id, {"overwrites": has_conflict}, ClientWriter(context.deals))

    def decline() -> None:
        word = " ".join((st.session_state.get(WORD) or "").split())
        store.decline(proposal.id, {"word": word or "Declined without a word"})

    may_write = store.may_decide(proposal)
    is_sure = not may_write or confirmations.confirm(
        confirmations.of_proposal(context, proposal), f"proposal_{proposal.id}_"
    )
    if failure := st.session_state.get(PROBLEM):
        st.error(plain(failure), icon=":material/error:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if may_write:
            st.button(
                "Overwrite and approve" if has_conflict else "Approve", type="primary",
                key="proposal_approve", disabled=not is_sure, on_click=_attempt, args=(approve, "Approved"),
            )  # fmt: skip
            if st.button("Approve with edits", key="proposal_edit"):
                if proposal.is_new:
                    new_package.fill_proposal(draft_of(proposal.fields), proposal)
                    st.switch_page(screens.NEW_PACKAGE, query_params={})
                key = (proposal.entity, proposal.entity_id or 0)
                DrawerChange(context, key).begin(context.deals.get(*key), proposal)
                close()
                address.write(OPEN, f"{key[0]}-{key[1]}")
                st.session_state["drawer_shown"] = "Change"
                st.rerun()
        if may_write or proposal.by == context.now().username:
            with st.popover("Decline" if may_write else "Take back", key="proposal_decline"):
                st.text_input("Why", key=WORD)
                st.button(
                    "Decline", key="proposal_decline_sure", on_click=_attempt, args=(decline, "Declined")
                )
    if not may_write and context.now().deals.writes:
        st.caption(":material/person_off: Somebody else approves it, since you proposed it.")
    if may_write and proposal.is_new and new_package.is_held(context):
        st.caption(":material/warning: New package holds an unfinished draft. Edits will replace it.")


def _attempt(work: Callable[[], None], note: str) -> None:
    """Run `work`; errors are shown in the dialog. A callback."""
    is_done = attempt_write(PROBLEM, work)
    st.session_state.pop(AT, None)
    catalog.forget()
    if is_done:
        notes.say(note)
        st.rerun()  # the list behind the dialog, and the number in the navigation
