"""The facts of a package or a deal: owner and note, links, the DSP's status, and what can't be read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

import streamlit as st

from lib.deals import fields
from lib.deals.models import BuyerSeat, DemandDeal, PackageOrDeal, Resource, SupplyPackage
from lib.deals.package_records import PackageNote
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import dsp_of, seat_of
from lib.figures.deals.field_text import amount
from lib.ui.deals import catalog, deal_rows
from lib.ui.deals.buyers import answer_panel, dossier_panel, hand_over
from lib.ui.deals.deal_rows import DealRow, of_deal, of_package
from lib.ui.deals.insight import health_view, supply_path
from lib.ui.deals.list_state import OPEN
from lib.ui.kit import address, listing, notes, screens, times, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query.entries import REMOTE
from lib.wire import exact
from lib.wire.errors import Conflict, NotFound, TrancheError

OWNER, NOTE, NOTE_PROBLEM = "note_owner_{}", "note_text_{}", "note_problem"
BEFORE, EDITOR = "note_before_{}", "note_editor"
OWN = "Kept by Tranche beside the deals API."
NO_DEFAULTS: Mapping[str, str] = {}
NO_SEAT_ID = "The DSP can't fetch it yet: the seat has no id at the DSP."
OTHER_PLACES = frozenset(
    {"name", "price", "currency", "is_active", "deal_sync", "agency_curation_fee", "agency_curation_fee_type"}
    | {"media_type", "start_date", "end_date", "is_dynamic_bidding", "is_true_price_opt_enable"}
)
LINKS = "linked_list"


def draw(context: PageContext, entity: PackageOrDeal) -> None:
    """Draw the facts, then the linked entities."""
    if isinstance(entity, SupplyPackage):
        _facts(package_facts(context, entity))
        supply_path.draw_package(context, entity)
        draw_note(context, entity)
        _draw_origin(context, entity)
        deals = catalog.deals_of(context.deals, [entity])[entity.id or 0]
        rows = [of_deal(deal, {}) for deal in deals]
        _draw_links(context, "Deals", rows, "No deal is linked: nobody can buy it yet.")
        if deals:
            with st.expander("For the buyers", icon=":material/send:"):
                hand_over.draw(context, entity, deals)
    else:
        ids = [package.id for package in entity.supply_deals if package.id is not None]
        whole_packages = {package.id: package for package in catalog.by_id(context, SupplyPackage, ids)}
        # Whole where they can be read.
        packages = [whole_packages.get(package.id, package) for package in entity.supply_deals]
        money = field_text.prices_of(context)
        health_view.draw_reasons(context, (entity.entity, entity.id or 0))
        if entity.deal_id:
            widgets.text_to_copy(entity.deal_id)
        answer_panel.draw(context, entity, packages)
        dossier_panel.draw_share(context, entity)
        _facts(deal_facts(entity, money, context.clients.usual_terms))
        draw_buyer_side(context, entity)
        if packages:
            st.markdown("**For the buyer**")
            hand_over.draw_deal(context, entity, packages)
        rows = [of_package(package, [entity]) for package in packages]
        _draw_links(context, "Packages", rows, "It is not linked to a package yet.")
    for sentence, raw in unread(entity):
        with st.expander(plain(sentence), icon=":material/data_object:"):
            st.code(raw, language="json", wrap_lines=True)
    if others := entity.model_extra:
        with st.expander(f"Other fields ({len(others)})", icon=":material/data_object:"):
            st.caption("The service returns them, and Tranche does not know them. They stay unchanged.")
            st.code(exact.readable(others), language="json", wrap_lines=True)


def _facts(texts: dict[str, str]) -> None:
    st.table({name: plain(text) for name, text in texts.items()}, border="horizontal", alt="Facts")


def package_facts(context: PageContext, package: SupplyPackage) -> dict[str, str]:
    """A package's facts, by title."""
    query = deal_report.usual_days(context)
    descriptions = targeting_text.describe(context, query, package)
    ways = {"dynamic bidding": package.is_dynamic_bidding, "true price": package.is_true_price_opt_enable}
    return {
        "Media type": (package.media_type or field_text.NOTHING).capitalize(),
        "Runs": field_text.span(package),
        "Targeting": targeting_text.sentence(
            package, None, descriptions, targeting_text.marks(context, query, [package])
        ),
        "Uses": " and ".join(name for name, is_on in ways.items() if is_on) or field_text.NOTHING,
        **_others(package),
        "Created": field_text.moment(package.created_at),
        "Changed": field_text.moment(package.updated_at),
    }


def deal_facts(
    deal: DemandDeal, money: field_text.Prices = field_text.USUAL, usual: Mapping[str, str] = NO_DEFAULTS
) -> dict[str, str]:
    """A deal's facts, by title; `usual` is what a term means that is not set, by its field."""
    money = money.of(deal.currency)
    return {
        "Seat": seat_of(deal) or field_text.NOTHING,
        "DSP": dsp_of(deal) or field_text.NOTHING,
        money.title: amount(deal.price),
        "Deal sync": field_text.value("deal_sync", deal.deal_sync),
        "Agency fee": field_text.fee(deal, money),
        **_others(deal, usual),
        "Created": field_text.moment(deal.created_at),
        "Changed": field_text.moment(deal.updated_at),
    }


def _others(entity: PackageOrDeal, usual: Mapping[str, str] = NO_DEFAULTS) -> dict[str, str]:
    """The plain fields that are shown nowhere else, by title."""

    def text(name: str) -> str:
        value = getattr(entity, name, None)
        is_usual = value is None and name in usual
        return (
            f"{field_text.value(name, usual[name])} (default)" if is_usual else field_text.value(name, value)
        )

    terms = [fields.BY_NAME[name] for name in fields.writable(entity.entity) if name not in OTHER_PLACES]
    return {
        field_text.title(term.name): text(term.name)
        for term in terms
        if term.name in usual or not term.is_extension or getattr(entity, term.name) is not None
    }


def draw_note(context: PageContext, package: SupplyPackage) -> None:
    """Draw both, and the form for who may change deals."""
    number = package.id or 0
    try:
        note = context.clients.package_notes.get(number)
    except TrancheError as error:
        st.caption(f":material/info: Owner and note could not be read: {plain(error.sentence)}")
        return
    if note.at is not None:
        owner = f"**Owner** {plain(note.owner)}" if note.owner else "No owner"
        st.markdown(owner)
        if note.note:
            st.text(note.note)
        st.caption(f"{plain(note.who)}, {field_text.moment(note.at)}")
    if not catalog.abilities(context).refuses:
        label = "Owner and note" if note.at is None else "Edit owner and note"
        with st.popover(label, icon=":material/sticky_note_2:", key=EDITOR, type="tertiary"):
            state, owner_key, note_key = st.session_state, OWNER.format(number), NOTE.format(number)
            if BEFORE.format(number) not in state:
                state[BEFORE.format(number)], state[owner_key], state[note_key] = note, note.owner, note.note
            with st.form(f"note_form_{number}", border=False):
                st.text_input("Owner", key=owner_key, placeholder="Who looks after this package")
                st.text_area("Note", key=note_key)
                st.caption(REMOTE if context.clients.deals_address else OWN)
                st.form_submit_button("Save", type="primary", on_click=save_note, args=(context, number))
            if failure := state.get(NOTE_PROBLEM):
                st.error(plain(failure), icon=":material/error:")


def save_note(context: PageContext, number: int) -> None:
    """Store what is typed, unless somebody else has changed it meanwhile. A callback."""
    state = st.session_state
    before: PackageNote | None = state.get(BEFORE.format(number))
    state.pop(NOTE_PROBLEM, None)
    if before is None or not context.now().deals.writes:
        return
    owner, note = state.get(OWNER.format(number)) or "", state.get(NOTE.format(number)) or ""
    try:
        context.clients.package_notes.keep(number, owner, note, before)
    except Conflict as error:
        state[NOTE_PROBLEM] = f"{error.sentence} What you typed is still here; Save again overwrites."
        with suppress(TrancheError):  # unread, the next try meets the same conflict
            state[BEFORE.format(number)] = context.clients.package_notes.get(number)
        return
    except TrancheError as error:
        state[NOTE_PROBLEM] = f"{error.sentence} What you typed is still here."
        return
    del state[BEFORE.format(number)]
    notes.say("Saved")


def add_owners(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows of packages with their owners; without them where they can't be read now."""
    try:
        notes_of = context.clients.package_notes.of([row.id for row in rows])
    except TrancheError:
        notes_of = {}
    return [
        replace(row, more=(*row.more, ("owner", notes_of.get(row.id, PackageNote()).owner))) for row in rows
    ]


def _draw_origin(context: PageContext, package: SupplyPackage) -> None:
    try:
        package_question = context.clients.package_questions.get(package.id or 0)
    except TrancheError as error:
        st.caption(f":material/info: Its question could not be read: {plain(error.sentence)}")
        return
    if package_question is not None:
        st.page_link(
            screens.AUDIENCE, label="Question it came from", icon=":material/query_stats:",
            query_params={
                "project": package_question.project,
                "slicer": package_question.slicer,
                **package_question.params,
            },
        )  # fmt: skip


def draw_buyer_side(context: PageContext, deal: DemandDeal) -> None:
    """Draw it for a synchronized deal; nothing over a service that does not tell."""
    client = context.deals
    if not deal.deal_sync or not deal.deal_id or not client.abilities.syncs:
        return
    try:
        lines = sentences(client.buyer_seat(deal.deal_id), times.zone())
    except NotFound as error:
        has_seat_id = deal.seat is None or deal.seat.external_id
        lines = [error.sentence if has_seat_id else NO_SEAT_ID]
    except TrancheError as error:
        lines = [f"What the DSP reports could not be read: {error.sentence}"]
    st.markdown("  \n".join(f":material/sync: {plain(line)}" for line in lines))


def sentences(buyer_seat: BuyerSeat, zone: tzinfo = UTC) -> list[str]:
    """What the DSP said last, when it fetched or was sent the deal, what went wrong; times in that zone."""
    sentences = [
        f"The DSP says: {report.words}{f' ({report.ext.reason})' if report.ext.reason else ''}"
        f"{_when(report.ext.reported_at, report.ext.reported_by, zone)}."
        for report in buyer_seat.buyerstatus
    ]
    fetch = _when(buyer_seat.ext.fetched_at, buyer_seat.ext.fetched_by, zone)
    if not sentences:
        sentences.append("The DSP has not reported a status yet.")
    delivery = buyer_seat.ext
    if delivery.sent_at is not None:
        sentences.append(f"The deal was sent to it{_when(delivery.sent_at, None, zone)}.")
    if delivery.problem:
        next_try = _when(delivery.next_try, None, zone)
        sentences.append(f"The deal could not be sent to it: {delivery.problem}. The next try is{next_try}.")
    if fetch or not (delivery.sent_at or delivery.problem):
        sentences.append(f"It fetched the deal last{fetch}." if fetch else "It has not fetched the deal yet.")
    return sentences


def _when(at: datetime | None, who: str | None, zone: tzinfo) -> str:
    """` on 21 Nov 2026, 10:00 UTC+1, by Alder Bidder (token 3)`; empty where the time is not known."""
    if at is None:
        return ""
    return f" on {field_text.moment(at.astimezone(zone))}{f', by {who}' if who else ''}"


def _draw_links(context: PageContext, title: str, rows: Sequence[DealRow], nothing: str) -> None:
    st.markdown(f"**{title}**")
    if not rows:
        st.caption(nothing)
        return
    names, money = deal_rows.BRIEF[rows[0].entity], field_text.prices_of(context)
    table = listing.Listing(
        label=title, columns=deal_rows.list_columns(names, money.title),
        rows=deal_rows.list_rows(catalog.mark_rows(context, rows), names, frozenset(), None, money),
        count=len(rows),
    )  # fmt: skip
    with st.container(key="linked_table"):
        listing.draw_links(LINKS, table, _open)


def _open(key: str) -> None:
    address.write(OPEN, key)
    st.rerun()  # the whole page: a dialog has the title and the entity that it was opened with


def unread(entity: Resource) -> Iterator[tuple[str, str]]:
    """A sentence for each field, and its JSON."""
    for name, part in entity.unread.items():
        title = field_text.title(name)
        if isinstance(part, list):
            what = f"{len(part)} of {title.lower()}"
            stays = "it stays unchanged" if len(part) == 1 else "they stay unchanged"
            yield f"{what} that Tranche can't read; {stays}", exact.readable(part)
        else:
            yield f"{title}: a value that Tranche can't read; it stays unchanged", exact.readable(part)
