"""A proposal in the forms: made by those who may propose and not write, and approved with edits."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from lib.deals.fields import TERMS
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.deals.package_records import PackageQuestion
from lib.deals.proposals.models import Proposal
from lib.deals.proposals.writers import ClientWriter
from lib.figures.deals import deal_report
from lib.ui.deals import catalog
from lib.ui.deals.forms.draft import Draft, Source
from lib.ui.kit import notes
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.wire.errors import BadRequest, Conflict, TrancheError

REASON, PROBLEM = "{}proposal_reason", "{}proposal_problem"
DATES = ("start_date", "end_date")


def may_only_propose(context: PageContext) -> bool:
    """Whether this person may propose changes and make none."""
    grant = context.now().deals
    return grant.proposes and not grant.writes


def draw(
    prefix: str, label: str, on_click: Callable[..., None], args: tuple[Any, ...], is_off: bool = False
) -> None:
    """Draw the reason and the button that proposes what the form of this prefix has."""
    st.text_area(
        "Reason", key=REASON.format(prefix), height=80,
        help="What you have seen, and what the change is to do. Whoever decides reads it first",
    )  # fmt: skip
    if failure := st.session_state.get(PROBLEM.format(prefix)):
        beside([failure])
    st.button(label, type="primary", key=f"{prefix}propose", on_click=on_click, args=args, disabled=is_off)


def propose(
    context: PageContext, prefix: str, body: Mapping[str, Any], question: PackageQuestion | None = None
) -> bool:
    """Store the proposal with the reason that was typed; whether it is stored, else says why not."""
    state = st.session_state
    reason = " ".join((state.get(REASON.format(prefix)) or "").split())
    state.pop(PROBLEM.format(prefix), None)
    if not reason:
        state[PROBLEM.format(prefix)] = "Not proposed. Say why first."
        return False
    came_from = question and {
        "project": question.project, "slicer": question.slicer, "params": dict(question.params),
    }  # fmt: skip
    try:
        writer = ClientWriter(context.deals)
        context.clients.proposals.propose({**body, "reason": reason, "question": came_from}, writer)
    except TrancheError as error:
        state[PROBLEM.format(prefix)] = f"{error.sentence} Not proposed; what you typed is kept."
        return False
    state[REASON.format(prefix)] = ""
    notes.say("Proposed: somebody who may change deals decides")
    return True


def estimate(
    context: PageContext,
    targeting: Targeting,
    media_type: str | None,
    booking: tuple[datetime | None, datetime | None],
) -> dict[str, Any] | None:
    """What this targeting is expected to have, by the slicer on screen; None where no estimate exists."""
    try:
        lists = catalog.list_entries(context)
        return deal_report.insight(context).expected(targeting, lists, media_type, booking)
    except TrancheError:
        return None


def estimate_of_change(
    context: PageContext, entity: PackageOrDeal, changes: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The same for a change of a package's targeting or dates; no other change has an estimate."""
    if not isinstance(entity, SupplyPackage) or not {*changes} & {*Targeting.model_fields, *DATES}:
        return None
    after = entity.model_copy(update=dict(SupplyPackage.model_validate(changes)))
    return estimate(context, after, after.media_type, (after.start_date, after.end_date))


def once(
    context: PageContext, number: int | None, write: Callable[[], int], fields: Mapping[str, Any]
) -> int:
    """Write, as the approval of this proposal with these fields if there is one; returns the entity's id.

    Conflict where somebody has approved it already: nothing is written then.
    """
    if number is None:
        return write()
    ids: list[int] = []

    def write_once(_: Proposal) -> int:
        ids.append(write())
        return ids[0]

    repeats = context.deals.abilities.repeats
    proposal = context.clients.proposals.apply(number, write_once, fields, repeats=repeats)
    if not ids:
        raise Conflict(f"{proposal.decided_by} has approved this proposal already; nothing was saved")
    return ids[0]


def draft_of(fields: Mapping[str, Any]) -> Draft:
    """The form of a proposed package. BadRequest for fields that no form can show."""
    try:
        package = SupplyPackage.model_validate(fields)
    except ValueError as error:
        raise BadRequest("This proposal can't be shown in the form") from error
    new = package.create_demand_deals
    option_of_seat = {option.seat.id: option for option in (new.demand_deals_options if new else ())}
    common = {name: value for name in TERMS if new and (value := getattr(new, name)) is not None}
    whole = {
        seat: option.model_copy(update={**common, **option.model_dump(exclude_unset=True)})
        for seat, option in option_of_seat.items()
    }
    source: Source = "new" if new else "existing" if package.demand_deals else "none"
    links = tuple(deal.id for deal in package.demand_deals)
    return Draft.of_package(package, whole, deals=source, links=links)


def title(proposal: Proposal) -> str:
    """`New package Morning News`, `Change of Morning News - Ada`."""
    return f"{'New package' if proposal.is_new else 'Change of'} {proposal.name or 'without a name'}"
