"""The pages of share links to a deal: its dossier, and the forms that take the buyer's answer and counts."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from lib.deals.buyer_counts import LARGEST_COUNT, LARGEST_SPEND, MOST_DAYS, NOUNS, DayCounts
from lib.deals.models import GUARANTEED, AppList, DemandDeal, DomainList, SupplyPackage
from lib.deals.negotiation import OfferTerms, Round, seat_number
from lib.deals.values import Limits
from lib.insight import Dossier
from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.front.shared_route import LARGEST_FORM, Fields
from lib.settings import Settings
from lib.share import letters, snapshots, tell
from lib.share import page as html_page
from lib.slicers.models import Slicer
from lib.ui.charts.numbers import days as day_words
from lib.ui.deals import field_text
from lib.ui.deals.buyers import answers, dossier, hand_over
from lib.ui.deals.buyers.answers import BuyerReply
from lib.ui.deals.csv import csv_text
from lib.ui.deals.csv.csv_text import CsvShape
from lib.ui.deals.insight import report
from lib.ui.kit import amounts
from lib.ui.kit.frame import RequestContext
from lib.views import ShareLink
from lib.views.share_links import SharedDeal
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest, Conflict, Forbidden, NotFound, TrancheError

log = logging.getLogger(__name__)
NO_DEAL = (NotFound, AccessError, Forbidden)
MOST_PACKAGES = 50
BOTH_SEE = (
    "Only the two sides see these counts. Days that you send again replace the stored ones; a day "
    "without counts is removed."
)
COLUMNS = {step: noun.capitalize() for step, noun in NOUNS.items()}
SHAPE = CsvShape("days", ("Day",), tuple(COLUMNS.values()), MOST_DAYS, LARGEST_FORM)
WHOLE, MONEY = Limits(0, LARGEST_COUNT, 0), Limits(0, int(LARGEST_SPEND), 6)
DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]00:00(:00)?)?")
EXAMPLE, FORM_DAYS, MOST_FAULTS = "Day,Bid requests,Bids,Wins,Spend", 7, 20
EMPTY = "There is nothing in it: paste rows, or choose a file."


@dataclass(frozen=True)
class EnteredForm:
    """What a form has: counts by day, what is wrong (where, and a sentence), and the texts as they came."""

    days: Mapping[date, DayCounts]
    faults: tuple[tuple[str, str], ...] = ()
    text: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DealPage:
    """What the page of a link is about: the deal, what its buyer is offered, and the terms by title."""

    link: ShareLink
    context: RequestContext
    deal: DemandDeal
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
        if fields.get("do") in answers.ACT_OF:
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
        packages = _packages(context, deal)
        lists = [*_lists(context, packages)]
        rows = dossier.terms(
            deal,
            [(package, hand_over.describe_targeting(context, package, lists)) for package in packages],
            field_text.prices_of(context),
            clients.usual_terms["price_type"],
        )
        return DealPage(link, context, deal, OfferTerms.of(deal, packages, clients.usual_terms), [*rows])

    def _answer(self, page: DealPage, fields: Fields) -> str:
        """Store the buyer's answer and mail it to the link's owner; the page where it can't be stored."""
        link, owner, store = page.link, page.context.person, page.context.clients.negotiations
        reply = answers.read(fields, link.id, datetime.now(UTC).date(), page.offer.currency or "")
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
        sentence = answers.sentence(negotiation, field_text.prices_of(page.context), is_buyer=False)
        self._mail(owner, page.deal, sentence, answer)
        return ""

    def _mail(self, owner: Person, deal: DemandDeal, sentence: str, answer: Round) -> None:
        """Tell the owner of the link; the answer is stored whether or not that works."""
        name, address = deal.name or f"Deal {deal.id}", self._settings.address
        parts = [f"{answer.who}: {sentence}", *([f"“{answer.word}”"] if answer.word else [])]
        deal_address = f"{address}/deals?open=demand_deals-{deal.id}"
        link = [letters.Link("Open the deal", deal_address)] if address else []
        try:
            engine = connect.installation(self._settings).access.store.engine
            about = SharedDeal(deal.id or 0, seat_number(deal))
            tell(engine, self._settings, owner, f"{name}: the buyer answered", *parts, *link, about=about)
        except TrancheError as error:
            log.warning("The answer about deal %s could not be mailed: %s", deal.id, error.reason)

    def _html(self, page: DealPage, form: EnteredForm | None = None, reply: BuyerReply | None = None) -> str:
        context, deal, money = page.context, page.deal, field_text.prices_of(page.context)
        asking = report.insight(context)
        buyer_counts = context.clients.buyer_counts.of(deal)
        both = asking.dossier(deal, buyer_counts, self._settings.dossier_tolerance)
        status = [(field_text.title("buyer_status"), deal.buyer_status)] if deal.buyer_status else []
        facts = [*page.terms, *status]
        snapshot = dossier.snapshot(page.link.name, facts, both, context.slicer, datetime.now(UTC))
        about = _about(context.slicer, context.clients.currency, both)
        negotiation = replace(context.clients.negotiations.of(deal, page.offer), page=page.terms)
        answer = answers.section(negotiation, money, deal.deal_type == GUARANTEED, reply)
        return html_page.html(snapshot, counts_form(buyer_counts.days, both.days[-1], about, form), answer)


def _packages(context: RequestContext, deal: DemandDeal) -> list[SupplyPackage]:
    ids = [package.id for package in deal.supply_deals if package.id is not None]
    return [*context.clients.deals.get_many(SupplyPackage, ids[:MOST_PACKAGES]).values()]


def _lists(context: RequestContext, packages: Iterable[SupplyPackage]) -> Iterator[DomainList | AppList]:
    """The lists in the targeting of these packages."""
    many = [*packages]
    for model, name in ((DomainList, "domain_list_targetings"), (AppList, "app_list_targetings")):
        ids = {target.id for package in many for target in getattr(package, name)}
        yield from context.clients.deals.get_many(model, sorted(ids)[:MOST_PACKAGES]).values()


def _about(slicer: Slicer, currency: str, both: Dossier) -> Iterator[str]:
    """What the form has to say, and what is stored."""
    money = currency or "the currency of the price"
    yield f"By day in {field_text.offset(60 * slicer.timezone)}, as ours; spend in {money}. {BOTH_SEE}"
    if both.buyer_counts.at is not None:
        count, at = len(both.buyer_counts.days), f"{both.buyer_counts.at:%-d %b %Y, %H:%M} UTC"
        yield f"Stored: {count} day{'' if count == 1 else 's'}, the last at {at}."


def read_counts(fields: Fields, today: date) -> EnteredForm:
    """What was sent: a CSV, else rows; nothing later than `today` may be counted."""
    if fields.get("do") == "rows":
        return _read_rows(fields, today)
    file = fields.get("file", b"")
    text = _text(file) if isinstance(file, bytes) and file.strip() else _text(fields.get("text", ""))
    if not text.strip():
        return EnteredForm({}, (("CSV", EMPTY),))
    table = csv_text.read(text, SHAPE)
    faults = [(f"Line {fault.line}", fault.text) for fault in table.faults]
    days: dict[date, DayCounts] = {}
    for row in () if table.faults else table.rows:
        try:
            day = _day(row["Day"], today)
            if day in days:
                raise ValueError(f"{row['Day']} is there twice.")
            days[day] = _counts({step: row[title] for step, title in COLUMNS.items()})
        except ValueError as error:
            faults.append((f"Line {row.line}", str(error)))
    return EnteredForm(days, _few(faults), text)


def counts_form(
    counts: Mapping[date, DayCounts], last: date, about: Iterable[str], submission: EnteredForm | None = None
) -> snapshots.Form:
    """The form with what is stored, or with what was sent where that could not be stored."""
    recent_days = [last - timedelta(days=back) for back in range(FORM_DAYS)]
    texts = {} if submission is None else submission.texts
    rows = [
        snapshots.FormRow(
            day_words(day, day),
            {
                (name := f"{step}.{day.isoformat()}"): texts.get(name, _cell(counts.get(day), step))
                for step in COLUMNS
            },
        )
        for day in sorted({*recent_days, *counts}, reverse=True)
    ]
    return snapshots.Form(
        title="Your counts",
        about=[*about],
        columns=[*COLUMNS.values()],
        rows=rows,
        example=EXAMPLE,
        text="" if submission is None else submission.text,
        faults=() if submission is None else submission.faults,
        can_remove=bool(counts),
    )


def _read_rows(fields: Fields, today: date) -> EnteredForm:
    """Rows of fields named `step.day`; days without any text are empty."""
    texts = {
        name: value
        for name, value in fields.items()
        if isinstance(value, str) and name.split(".")[0] in COLUMNS
    }
    days: dict[date, DayCounts] = {}
    faults: list[tuple[str, str]] = []
    for text in dict.fromkeys(name.partition(".")[2] for name in texts):
        try:
            day = _day(text, today)
            days[day] = _counts({step: texts.get(f"{step}.{text}", "") for step in COLUMNS})
        except ValueError as error:
            faults.append((text[:20], str(error)))
    if len(days) > MOST_DAYS:
        faults.append(("Days", f"At most {MOST_DAYS} can be sent."))
    return EnteredForm(days, _few(faults), "", texts)


def _day(text: str, today: date) -> date:
    match = DAY.fullmatch(text.strip())
    try:
        day = date.fromisoformat(match[1] if match else "")
    except ValueError:
        raise ValueError(f"'{text[:30]}' is not a day: write it like {today.isoformat()}.") from None
    if day > today:
        raise ValueError(f"{day.isoformat()} has not come yet.")
    return day


def _counts(texts: Mapping[str, str]) -> DayCounts:
    """The counts of these texts by step. ValueError with a sentence that names the column."""
    numbers = {}
    for step, text in texts.items():
        try:
            numbers[step] = amounts.read(text, MONEY if step == "spend" else WHOLE)
        except ValueError as error:
            raise ValueError(f"{COLUMNS[step]}: {error}") from None
    counts = {
        step: None if (count := numbers[step]) is None else int(count)
        for step in ("requests", "bids", "wins")
    }
    return DayCounts(**counts, spend=numbers["spend"])


def _cell(counts: DayCounts | None, step: str) -> str:
    value = None if counts is None else getattr(counts, step)
    return "" if value is None else amounts.to_text(Decimal(value))


def _text(value: str | bytes) -> str:
    """A text, or the content of a file: in UTF-8 or UTF-16 as it says, else as Windows writes it."""
    if isinstance(value, str):
        return value
    encoding = "utf-16" if value[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return value.decode("cp1252", errors="replace")


def _few(faults: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The first faults, and how many others there are."""
    more = len(faults) - MOST_FAULTS
    rest = [("Further lines", f"{more:,} other faults.")] if more > 0 else []
    return (*faults[:MOST_FAULTS], *rest)
