"""The buyer's answer in the drawer of a deal: the rounds, and what the house does about the last one."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import streamlit as st

from lib.deals.models import GUARANTEED, DemandDeal, SupplyPackage
from lib.deals.negotiation import LONGEST_WORD, Act, Negotiation, OfferTerms, Round, check_word
from lib.deals.values import AMOUNT, COUNT
from lib.ui.deals import catalog, facts
from lib.ui.deals.buyers import answers
from lib.ui.deals.changes import confirmations
from lib.ui.kit import amounts, notes, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

PREFIX, PROBLEM = "answer_{}_", "answer_problem"
WORD, PRICE, UNITS, FIRST, LAST = "word", "price", "units", "first", "last"
SHARED_DAYS = "The days are those of the package, which has other deals too: change them there."


def draw(context: PageContext, deal: DemandDeal, packages: list[SupplyPackage]) -> None:
    """Draw the rounds with the deal's buyer, and what can be done about the last; nothing without any."""
    terms = answers.offer_terms(deal, packages)
    negotiation = context.clients.negotiations.of(deal, terms)
    if not negotiation.rounds:
        return
    money, zone = facts.prices_of(context), times.zone()
    st.markdown("**The buyer's answer**")
    sentence = plain(answers.sentence(negotiation, money, is_buyer=False))
    if negotiation.waits_for_house:
        st.warning(sentence, icon=":material/reply:")
    else:
        st.markdown(sentence)
    lines = []
    for answer in negotiation.rounds:
        word = f": “{answer.word}”" if answer.word else ""
        who = f"{answer.who} ({'buyer' if answer.side == 'buyer' else 'us'})"
        when = facts.moment(answer.at.astimezone(zone)) if answer.at else ""
        lines.append(f"- {plain(f'{who} {answers.act_text(answer, money)}{word}')}  \n  {plain(when)}")
    with st.expander(f"Rounds ({len(lines)})"):
        st.markdown("\n".join(lines))
    if negotiation.waits_for_house and not catalog.abilities(context).why_not(deal.entity, "change"):
        _draw_decision(context, deal, packages, negotiation)
    if failure := st.session_state.pop(PROBLEM, None):
        st.error(plain(failure), icon=":material/error:")


def _draw_decision(
    context: PageContext, deal: DemandDeal, packages: list[SupplyPackage], negotiation: Negotiation
) -> None:
    """Draw what can be done about the buyer's last answer: take it over, answer back, or end it."""
    last, prefix = negotiation.last, PREFIX.format(deal.id)
    changes = {} if last is None or last.act == "declines" else negotiation.terms.differences(last.terms)
    has_days = bool(changes.keys() & {"first_day", "last_day"})
    is_shared = has_days and (len(packages) != 1 or len(packages[0].demand_deals) > 1)
    doubt = ""
    if "price" in changes:
        doubt = confirmations.PriceGuard(context).doubt(changes["price"], before=deal.price)
        doubt = confirmations.with_unit(context, doubt)
    if changes:
        lines = _diff(context, negotiation.terms, changes)
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
    if is_shared:
        st.caption(f":material/info: {SHARED_DAYS}")
    is_sure = confirmations.confirm(doubt, prefix)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if changes:
            st.button(
                "Take over", type="primary", icon=":material/check:", key=f"{prefix}take",
                disabled=not is_sure or is_shared, on_click=_take_over,
                args=(context, deal, packages, negotiation, changes),
            )  # fmt: skip
        with st.popover("Answer back", icon=":material/reply:", key=f"{prefix}back"):
            _draw_form(context, deal, negotiation, prefix)
        st.button(
            "Close without a deal" if last is not None and last.act == "declines" else "Decline",
            key=f"{prefix}decline", on_click=_decline, args=(context, deal, negotiation),
        )  # fmt: skip


def _draw_form(context: PageContext, deal: DemandDeal, negotiation: Negotiation, prefix: str) -> None:
    """Draw the fields of a proposal to the buyer."""
    money = facts.prices_of(context)
    offer = negotiation.offer
    st.caption("The buyer reads this on the page of the link. The deal stays as it is until both agree.")
    amounts.field(money.title, f"{prefix}{PRICE}", placeholder=facts.amount(offer.price))
    if deal.deal_type == GUARANTEED:
        amounts.field("Guaranteed impressions", f"{prefix}{UNITS}", placeholder=f"{offer.units or 0:,}")
    if negotiation.terms.first_day is not None:
        for name, title in ((FIRST, "First day"), (LAST, "Last day")):
            st.date_input(title, None, key=f"{prefix}{name}", format="YYYY-MM-DD")
    st.text_input("Word to the buyer", key=f"{prefix}{WORD}", max_chars=LONGEST_WORD)
    if failure := st.session_state.get(f"{prefix}fault"):
        beside([failure])
    st.button(
        "Send to the buyer", type="primary", key=f"{prefix}send", on_click=_send,
        args=(context, deal, negotiation, prefix),
    )  # fmt: skip


def _diff(context: PageContext, terms: OfferTerms, changes: Mapping[str, Any]) -> list[str]:
    """`Price, USD CPM: 3.00 → 2.10`, for each term that taking over changes."""
    money = facts.prices_of(context)
    titles = {**answers.LABELS, "price": money.title, "units": "Guaranteed impressions"}
    return [
        f"{titles[name]}: {_text(getattr(terms, name))} → {_text(value)}" for name, value in changes.items()
    ]


def _text(value: Any) -> str:
    match value:
        case None:
            return facts.NOTHING
        case date():
            return times.day(value)
        case int():
            return f"{value:,}"
        case _:
            return facts.amount(value)


def _send(context: PageContext, deal: DemandDeal, negotiation: Negotiation, prefix: str) -> None:
    """Propose what was typed. A callback."""
    state = st.session_state
    state.pop(f"{prefix}fault", None)
    try:
        units = amounts.read((state.get(f"{prefix}{UNITS}") or "").replace(",", ""), COUNT)
        terms = OfferTerms(
            amounts.read(state.get(f"{prefix}{PRICE}") or "", AMOUNT),
            None if units is None else int(units),
            state.get(f"{prefix}{FIRST}"),
            state.get(f"{prefix}{LAST}"),
        )
    except ValueError as error:
        state[f"{prefix}fault"] = str(error)
        return
    if _answer(context, deal, negotiation, "proposes", terms, state.get(f"{prefix}{WORD}") or ""):
        for name in (WORD, PRICE, UNITS, FIRST, LAST):
            state.pop(f"{prefix}{name}", None)


def _decline(context: PageContext, deal: DemandDeal, negotiation: Negotiation) -> None:
    """End it, or leave the offer as it is. A callback."""
    _answer(context, deal, negotiation, "declines", OfferTerms(), "No deal on these terms")


def _answer(
    context: PageContext, deal: DemandDeal, negotiation: Negotiation, act: Act, terms: OfferTerms, word: str
) -> bool:
    """Store the answer of the house; whether it is stored, else says why not."""
    if not context.now().deals.writes:
        return False
    try:
        answer = Round("house", act, terms, context.person.username, check_word(word))
        context.clients.negotiations.add(deal, negotiation.terms, answer, negotiation.mark)
    except TrancheError as error:
        st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}. Nothing was sent; what you typed is kept."
        return False
    context.clients.view_store.note("buyer answered", f"deal {deal.id}")
    notes.say("Sent" if act == "proposes" else "Noted")
    return True


def _take_over(
    context: PageContext,
    deal: DemandDeal,
    packages: list[SupplyPackage],
    negotiation: Negotiation,
    changes: Mapping[str, Any],
) -> None:
    """Change the deal, and its package's days, to what the buyer answered; then tell them. A callback."""
    fields = {name: changes[name] for name in ("price", "units") if name in changes}
    try:
        if days := _days(packages, changes):
            context.deals.change(SupplyPackage, packages[0].id or 0, days, packages[0].etag)
        if fields:
            context.deals.change(DemandDeal, deal.id or 0, fields, deal.etag)
    except TrancheError as error:
        outcome = "It may have been saved" if is_open(error) else "Nothing was changed"
        st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}. {outcome}."
        return
    finally:
        catalog.forget()
    last = negotiation.last
    if last is not None:
        now = Negotiation(negotiation.terms.with_changes_of(last.terms), negotiation.rounds)
        if not now.is_agreed:
            _answer(context, deal, now, "accepts", now.terms, "")
    notes.say("Taken over")


def _days(packages: list[SupplyPackage], changes: Mapping[str, Any]) -> dict[str, datetime]:
    """The start and the end (exclusive) of the package for the days that change, in its own zone."""
    days = {}
    for name, field, later in (("first_day", "start_date", 0), ("last_day", "end_date", 1)):
        if name in changes:
            before = getattr(packages[0], field) or packages[0].start_date
            zone = before.tzinfo if before else times.zone()
            days[field] = datetime.combine(changes[name] + timedelta(days=later), time(), zone)
    return days
