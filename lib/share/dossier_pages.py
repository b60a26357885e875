"""The pages of share links to a deal: its dossier, and the forms that take the buyer's answer and counts."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lib.deals.models import GUARANTEED, AppList, DemandDeal, DomainList, SupplyPackage
from lib.deals.negotiation import OfferTerms, seat_number
from lib.figures import numbers
from lib.figures.context import RequestContext
from lib.figures.deals import buyer_terms, deal_report, field_text, negotiation_text
from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.front.shared_route import Fields
from lib.settings import Settings
from lib.share.documents import answer_form, dossier
from lib.share.documents.answer_form import BuyerReply
from lib.share.documents.count_form import EnteredForm, counts_form, read_counts
from lib.share.mail.outbox import tell
from lib.share.snapshot import page as html_page
from lib.views import ShareLink
from lib.views.share_links import SharedDeal
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest, Conflict, Forbidden, NotFound, TrancheError
from lib.wire.text import count_of

log = logging.getLogger(__name__)
NO_DEAL = (NotFound, AccessError, Forbidden)
MOST_PACKAGES = 50
BOTH_SEE = (
    "Only the two sides see these counts. Days that you send again replace the stored ones; a day "
    "without counts is removed."
)


@dataclass(frozen=True)
class DealPage:
    """What the page of a link is about: the deal, what its buyer is offered, and the terms by title."""

    link: ShareLink
    context: RequestContext
    deal: DemandDeal
    packages: Sequence[SupplyPackage]
    offer: OfferTerms
    terms: Sequence[tuple[str, str]]


class DossierPages:
    """The pages of share links to deals, in their owners' names (`lib.share.LinkPages` asks for them)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._audit = connect.installation(settings).access.audit

    def is_open(self, link: ShareLink, owner: Person) -> bool:
        """Whether its owner sees the deal, and it is for the seat that the link was made for."""
        return self._deal(link, owner, self._clients(owner)) is not None

    def html(self, link: ShareLink, owner: Person) -> str | None:
        """The page; None where it is not open any more. Raises the services' errors."""
        page = self._deal_page(link, owner)
        return None if page is None else self._html(page)

    def enter(self, link: ShareLink, owner: Person, fields: Fields) -> str | None:
        """Store what was entered: an empty text; the page with what is wrong with it, where that can't be.

        None as of `html`.
        """
        page = self._deal_page(link, owner)
        if page is None:
            return None
        deal, store, who = page.deal, page.context.clients.buyer_counts, f"share link {link.id}"
        if fields.get("do") in answer_form.ACT_OF:
            return self._answer(page, fields)
        if fields.get("do") == "remove":
            store.remove(deal)
            self._audit.note("counts removed", who, owner.username, f"deal {deal.id}")
            return ""
        form = read_counts(fields, datetime.now(UTC).date())
        if not form.faults:
            try:
                store.enter(deal, form.days, link.id)
            except BadRequest as error:
                form = EnteredForm({}, (("Days", f"{error.reason}."),), form.text, form.texts)
        if form.faults:
            return self._html(page, form)
        self._audit.note("counts entered", who, owner.username, f"deal {deal.id}, {len(form.days)} days")
        return ""

    def _clients(self, owner: Person) -> connect.Clients:
        return connect.connect(owner, self._settings, within=Deadline(self._settings.deadline_seconds))

    def _deal(self, link: ShareLink, owner: Person, clients: connect.Clients) -> DemandDeal | None:
        """The deal, if the owner of the link may see it now, and the link is for its seat and its service."""
        if link.deal is None or not owner.deals.reads:
            return None
        try:
            deal = clients.deals.get(DemandDeal, link.deal)
        except NO_DEAL:
            return None
        shared_deal = SharedDeal(link.deal, seat_number(deal))
        return deal if link.is_for(shared_deal, self._settings.remote.curate_url) else None

    def _deal_page(self, link: ShareLink, owner: Person) -> DealPage | None:
        """What the page is about, as it is now; None where it is not open."""
        clients = self._clients(owner)
        if (deal := self._deal(link, owner, clients)) is None:
            return None
        info = clients.reporting.info(InfoQuery(project_name=link.project, slicer_name=link.slicer))
        context = RequestContext(owner, link.project, link.slicer, info, clients)
        ids = [package.id for package in deal.supply_deals if package.id is not None]
        packages = [*clients.deals.get_many(SupplyPackage, ids[:MOST_PACKAGES]).values()]
        lists: list[DomainList | AppList] = []
        for model, name in ((DomainList, "domain_list_targetings"), (AppList, "app_list_targetings")):
            list_ids = {target.id for package in packages for target in getattr(package, name)}
            lists += clients.deals.get_many(model, sorted(list_ids)[:MOST_PACKAGES]).values()
        rows = dossier.terms(
            deal,
            [(package, buyer_terms.describe_targeting(context, package, lists)) for package in packages],
            field_text.prices_of(context),
            clients.usual_terms["price_type"],
        )
        offer = OfferTerms.of(deal, packages, clients.usual_terms)
        return DealPage(link, context, deal, packages, offer, [*rows])

    def _answer(self, page: DealPage, fields: Fields) -> str:
        """Store the buyer's answer and mail it to the link's owner; the page where it can't be stored."""
        link, owner, store = page.link, page.context.person, page.context.clients.negotiations
        reply = answer_form.read(fields, link.id, datetime.now(UTC).date(), page.offer.currency or "")
        negotiation = replace(store.of(page.deal, page.offer), page=page.terms)
        reply = reply.ask(negotiation, fields.get("confirmed"))
        if reply.answer is None:
            return self._html(page, reply=reply)
        answer = reply.answer
        if link.recipient is not None:
            answer = replace(answer, who=f"{answer.who} ({link.recipient})")
        try:
            negotiation = store.add(page.deal, page.offer, answer, reply.mark, page.terms)
        except (BadRequest, Conflict) as error:
            return self._html(page, reply=reply.refuse(error.reason))
        if negotiation.is_repeat:
            return ""
        self._audit.note("buyer answered", f"share link {link.id}", owner.username, f"deal {page.deal.id}")
        sentence = negotiation_text.sentence(negotiation, field_text.prices_of(page.context), is_buyer=False)
        # The answer is stored whether or not its mail to the owner of the link works.
        deal = page.deal
        subject = f"{deal.name or f'Deal {deal.id}'}: the buyer answered"
        parts = [f"{answer.who}: {sentence}", *([f"“{answer.word}”"] if answer.word else [])]
        button = "Open the deal", f"deals?open=demand_deals-{deal.id}"
        try:
            engine = connect.installation(self._settings).access.store.engine
            about = SharedDeal(deal.id or 0, seat_number(deal))
            tell(engine, self._settings, owner, subject, *parts, link=button, about=about)
        except TrancheError as error:
            log.warning("The answer about deal %s could not be mailed: %s", deal.id, error.reason)
        return ""

    def _html(self, page: DealPage, form: EnteredForm | None = None, reply: BuyerReply | None = None) -> str:
        context, deal, money = page.context, page.deal, field_text.prices_of(page.context)
        asking = deal_report.insight(context)
        buyer_counts = context.clients.buyer_counts.of(deal)
        both = asking.dossier(deal, buyer_counts, self._settings.dossier_tolerance)
        status = [(field_text.title("buyer_status"), deal.buyer_status)] if deal.buyer_status else []
        goal = asking.goals([deal], lambda _: page.packages).get(deal.id or 0)
        facts = [*page.terms, *status, *([] if goal is None else dossier.goal_facts(goal))]
        snapshot = dossier.snapshot(page.link.name, facts, both, context.slicer, datetime.now(UTC))
        currency = context.clients.currency or "the currency of the price"
        zone = field_text.offset(60 * context.slicer.timezone)
        about = [f"By day in {zone}, as ours; spend in {currency}. {BOTH_SEE}"]
        if buyer_counts.at is not None:
            at = numbers.moment(buyer_counts.at)
            about.append(f"Stored: {count_of(len(buyer_counts.days), 'day')}, the last at {at}.")
        negotiation = replace(context.clients.negotiations.of(deal, page.offer), page=page.terms)
        answer = answer_form.section(negotiation, money, deal.deal_type == GUARANTEED, reply)
        return html_page.html(snapshot, counts_form(buyer_counts.days, both.days[-1], about, form), answer)
