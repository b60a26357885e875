"""The buyer's answer in the drawer of a deal: the rounds, and what the house does about the last one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import ClassVar

import streamlit as st

from lib.deals.models import GUARANTEED, DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.negotiation import Act, Negotiation, OfferTerms, Round, check_word, seat_number
from lib.figures.deals import field_text, negotiation_text
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations, plan_steps
from lib.ui.deals.changes.confirmations import Point
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.shared_change import SharedChange, of_package, own_zone
from lib.ui.deals.deal_rows import Key
from lib.ui.kit import amount_field, notes, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import draw_problem
from lib.wire.errors import BadRequest, TrancheError

PREFIX, PROBLEM = "answer_{}_", "answer_problem"
WORD, PRICE, UNITS, FIRST, LAST = "word", "price", "units", "first", "last"
SHARED_DAYS = "The days are those of the package, which has other deals too: change them there."
OTHER_TERMS = "Its terms have changed since the buyer answered."
DAYS = (("first_day", "start_date", 0), ("last_day", "end_date", 1))
"""A term, the package's field, and the days added to it: ends are exclusive."""


@dataclass(kw_only=True)
class TakeOver(ChangeSource):
    """The buyer's last answer to a deal with these packages."""

    is_renewed: ClassVar[bool] = True
    negotiation: Negotiation

    @classmethod
    def of(
        cls, negotiation: Negotiation, deal: DemandDeal, packages: Sequence[SupplyPackage]
    ) -> tuple["TakeOver", list[PlannedChange]]:
        """The source, and the changes that it asks for; none after a refusal."""
        source = cls(negotiation=negotiation)
        entities: list[PackageOrDeal] = [*packages, deal]
        changes = (
            change
            for entity in entities
            for change in source.changes(entity, (entity.entity, entity.id or 0), frozenset())
        )
        return source, [change for change in changes if change.after]

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        terms, new_terms = self.negotiation.terms, self.negotiation.changes
        if isinstance(entity, SupplyPackage):
            zone = own_zone(entity)
            after = {
                field: datetime.combine(new_terms[term] + timedelta(days=later), time(), zone)
                for term, field, later in DAYS
                if term in new_terms
            }
            yield of_package(entity, rows, {}, after)
            return
        after = {name: new_terms[name] for name in ("price", "units", "currency") if name in new_terms}
        # The currency of a deal without one is that of the terms, which are the deal's.
        has_others = any(
            getattr(entity, name) not in (getattr(terms, name), *([None] if name == "currency" else []))
            for name in after
        )
        change = SharedChange(deal=after).of_deal(entity, rows)
        yield replace(change, refusal=OTHER_TERMS) if has_others else change


def draw(context: PageContext, deal: DemandDeal, packages: list[SupplyPackage]) -> None:
    """Draw the rounds with the deal's buyer, and what can be done about the last; nothing without any."""
    money, zone = field_text.prices_of(context), times.zone()
    terms = OfferTerms.of(deal, packages, context.clients.usual_terms)
    negotiation = context.clients.negotiations.of(deal, terms)
    if not negotiation.rounds:
        return
    st.markdown("**The buyer's answer**")
    sentence = plain(negotiation_text.sentence(negotiation, money, is_buyer=False))
    if negotiation.waits_for_house:
        st.warning(sentence, icon=":material/reply:")
    else:
        st.markdown(sentence)
    lines = []
    for answer in negotiation.rounds:
        word = f": “{answer.word}”" if answer.word else ""
        who = f"{answer.who} ({'buyer' if answer.side == 'buyer' else 'us'})"
        when = field_text.moment(answer.at.astimezone(zone)) if answer.at else ""
        lines.append(
            f"- {plain(f'{who} {negotiation_text.act_text(answer, money)}{word}')}  \n  {plain(when)}"
        )
    with st.expander(f"Rounds ({len(lines)})"):
        st.markdown("\n".join(lines))
    if not catalog.abilities(context).why_not(deal.entity, "change"):
        if negotiation.waits_for_house:
            _draw_decision(context, deal, packages, negotiation)
        elif negotiation.is_open_proposal:
            prefix = PREFIX.format(deal.id)
            with st.container(horizontal=True, vertical_alignment="bottom"):
                with st.popover("Correct", icon=":material/edit:", key=f"{prefix}back", on_change="rerun"):
                    _draw_form(context, deal, negotiation, prefix)
                st.button(
                    "Withdraw", key=f"{prefix}withdraw", on_click=_end,
                    args=(context, deal, negotiation, "withdraws"),
                    help="The buyer's page has the deal's own terms again",
                )  # fmt: skip
    draw_problem(PROBLEM)


def _draw_decision(
    context: PageContext, deal: DemandDeal, packages: list[SupplyPackage], negotiation: Negotiation
) -> None:
    """Draw what can be done about the buyer's last answer: take it over, answer back, or end it."""
    last, prefix = negotiation.last, PREFIX.format(deal.id)
    is_refusal = last is not None and last.act == "declines"
    source, changes = TakeOver.of(negotiation, deal, packages)
    if changes:
        money = field_text.prices_of(context).of(deal.currency)
        lines = [
            f"{field_text.title(name, money)}: {plan_steps.arrow(change, name, money)}"
            for change in changes
            for name in change.after
        ]
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
    is_shared = any(len(change.others) > 1 for change in changes)
    if is_shared:
        st.caption(f":material/info: {SHARED_DAYS}")
    points = confirmations.points(context, changes, confirmations.of_changes(context, changes))
    is_sure = confirmations.confirm(points, prefix)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if changes:
            record = context.clients.bulk_actions.record(f"Taken over from the buyer of deal {deal.id}")
            plan = ChangePlan(source=source, record=record, changes=changes, phase="preview")
            st.button(
                "Take over", type="primary", icon=":material/check:", key=f"{prefix}take",
                disabled=not is_sure or is_shared, on_click=_take_over,
                args=(context, deal, negotiation, plan),
            )  # fmt: skip
        with st.popover("Answer back", icon=":material/reply:", key=f"{prefix}back", on_change="rerun"):
            _draw_form(context, deal, negotiation, prefix)
        st.button(
            "Close without a deal" if is_refusal else "Decline", key=f"{prefix}decline", on_click=_end,
            args=(context, deal, negotiation, "declines", "No deal on these terms"),
        )  # fmt: skip


def _draw_form(context: PageContext, deal: DemandDeal, negotiation: Negotiation, prefix: str) -> None:
    offer = negotiation.offer
    money = field_text.prices_of(context).of(offer.currency)
    st.caption("The buyer reads this on the page of the link. The deal stays as it is until both agree.")
    amount_field.field(money.title, f"{prefix}{PRICE}", placeholder=field_text.amount(offer.price))
    if deal.deal_type == GUARANTEED:
        amount_field.field("Guaranteed impressions", f"{prefix}{UNITS}", placeholder=f"{offer.units or 0:,}")
    if negotiation.terms.first_day is not None:
        for name, title in ((FIRST, "First day"), (LAST, "Last day")):
            st.date_input(title, None, key=f"{prefix}{name}", format="YYYY-MM-DD")
    st.text_input("Word to the buyer", key=f"{prefix}{WORD}")
    if failure := st.session_state.get(f"{prefix}fault"):
        beside([failure])
    confirmations.confirm(_points(context, negotiation, prefix), f"{prefix}back_")
    st.button(
        "Send to the buyer", type="primary", key=f"{prefix}send", on_click=_send,
        args=(context, deal, negotiation, prefix),
    )  # fmt: skip


def _typed_terms(negotiation: Negotiation, prefix: str) -> OfferTerms:
    """What was typed. ValueError, with a sentence, for what can't be read."""
    state = st.session_state
    return OfferTerms(
        negotiation_text.read_price(state.get(f"{prefix}{PRICE}") or "", negotiation.offer.currency or ""),
        negotiation_text.read_units(state.get(f"{prefix}{UNITS}") or ""), state.get(f"{prefix}{FIRST}"),
        state.get(f"{prefix}{LAST}"),
    )  # fmt: skip


def _points(context: PageContext, negotiation: Negotiation, prefix: str) -> list[Point]:
    """What of it is probably a slip."""
    try:
        terms = _typed_terms(negotiation, prefix)
    except ValueError:
        return []
    currency = negotiation.offer.currency
    return [
        confirmations.of_warning(context, warning, currency)
        for warning in negotiation.warnings(terms, "house")
    ]


def _send(context: PageContext, deal: DemandDeal, negotiation: Negotiation, prefix: str) -> None:
    state = st.session_state
    state.pop(f"{prefix}fault", None)
    try:
        terms = _typed_terms(negotiation, prefix)
        word = check_word(state.get(f"{prefix}{WORD}") or "")
    except (ValueError, BadRequest) as error:
        state[f"{prefix}fault"] = f"{str(error).rstrip('.')}."
        return
    if not confirmations.is_confirmed(_points(context, negotiation, prefix), f"{prefix}back_"):
        state[f"{prefix}fault"] = "Not sent: confirm this first."
        return
    if _answer(context, deal, negotiation, "proposes", terms, word):
        for name in (WORD, PRICE, UNITS, FIRST, LAST):
            state.pop(f"{prefix}{name}", None)
        state[f"{prefix}back"] = False


def _end(context: PageContext, deal: DemandDeal, negotiation: Negotiation, act: Act, word: str = "") -> None:
    """Decline it, or take back what we proposed: the buyer's page has the offer of before. A callback."""
    _answer(context, deal, negotiation, act, OfferTerms(), word)


def _answer(
    context: PageContext, deal: DemandDeal, negotiation: Negotiation, act: Act, terms: OfferTerms, word: str
) -> bool:
    """Store the answer of the house; whether it is stored, else says why not."""
    if not context.now().deals.writes:
        return False
    try:
        answer = Round("house", act, terms, context.person.username, word)
        context.clients.negotiations.add(deal, negotiation.terms, answer, negotiation.mark)
    except TrancheError as error:
        st.session_state[PROBLEM] = f"{error.sentence} Nothing was sent; what you typed is kept."
        return False
    forget_ids()
    context.clients.view_store.note("answer to buyer", f"deal {deal.id}")
    notes.say("Sent" if act == "proposes" else "Noted")
    return True


def _take_over(
    context: PageContext, deal: DemandDeal, negotiation: Negotiation, plan: ChangePlan[TakeOver]
) -> None:
    """Change the deal, and its package's days, to what the buyer answered; then tell them. A callback."""
    plan.start()
    plan.run(context.deals)
    catalog.forget()
    forget_ids()
    if plan.failures or plan.to_send:
        reasons = " ".join(outcome.reason for outcome in plan.failures)
        outcome = "The rest is saved, and Undo takes it back." if plan.saved_keys else "Nothing was changed."
        st.session_state[PROBLEM] = f"{reasons} {outcome}"
        return
    if negotiation.last is not None:
        terms = negotiation.terms.with_changes_of(negotiation.last.terms)
        now = Negotiation(terms, negotiation.rounds)
        if not now.is_agreed:
            _answer(context, deal, now, "accepts", terms, "")
    notes.say("Taken over")


ANSWERED_IDS = "answered_ids"
READ_AT = "answered_at"
SECONDS = 30.0


def answered_ids(person: Person) -> tuple[int, ...]:
    """The ids of the deals that this person may see and whose buyers wait for an answer.

    They are read every half minute; there are none where they can't be read.
    """
    state, now = st.session_state, datetime.now(UTC).timestamp()
    if not person.deals.reads:
        return ()
    if now - state.get(READ_AT, 0.0) > SECONDS:
        try:
            state[ANSWERED_IDS] = _read_ids(person)
        except TrancheError:
            state[ANSWERED_IDS] = ()
        state[READ_AT] = now
    return tuple(state.get(ANSWERED_IDS, ()))


def forget_ids() -> None:
    """Read them again: somebody has answered here."""
    st.session_state.pop(READ_AT, None)


def _read_ids(person: Person) -> tuple[int, ...]:
    clients = connect.connect(person, Settings.current())
    latest = clients.negotiations.latest().items()
    rounds = {pair: last for pair, last in latest if last.side == "buyer" or last.act == "withdraws"}
    if not rounds:
        return ()
    deals = clients.open_deals()
    deal_of = deals.get_many(DemandDeal, sorted({deal for deal, _ in rounds}))
    packages = deals.get_many(
        SupplyPackage,
        sorted({package.id for deal in deal_of.values() for package in deal.supply_deals if package.id}),
    )
    return tuple(
        number
        for number, deal in deal_of.items()
        if (number, seat_number(deal)) in rounds
        and clients.negotiations.of(
            deal,
            OfferTerms.of(
                deal,
                [packages[package.id] for package in deal.supply_deals if package.id in packages],
                clients.usual_terms,
            ),
        ).waits_for_house
    )
