"""Deal sync: documents of the deals that a caller may see, and the status that a DSP reports."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Engine, insert, select

from lib import database
from lib.deals import queries
from lib.deals.models import shortened
from lib.deals.queries import ListOffer, Parameters
from lib.deals.service import ListPart
from lib.deals.store.scope import DealsScope
from lib.deals.store.tables import changes, demand_deals
from lib.deals.store.work import Fields, Work
from lib.deals.sync import offered, told
from lib.deals.sync.documents import VERSION, SellingSide, moment
from lib.deals.sync.models import BUYER_STATUS
from lib.deals.sync.requests import BuyerSeatRequest, status_of
from lib.deals.sync.told import SyncedDeal, Told
from lib.deals.validation import Problems, read
from lib.wire.deadline import Deadline
from lib.wire.errors import NotFound

Result = TypeVar("Result")
OFFER = ListOffer(filters=(offered.SEAT,))
HISTORY, LONGEST_WHO = "buyer_status", 64
OFF = "Deal sync is not set up here: an administrator sets deal_sync_origin"
NONE = "There is no synchronised deal '{}'"


@dataclass(frozen=True)
class SyncCaller:
    """A caller: what they may see, the number and name of their token, and whether that is a DSP's.

    What people read is not noted as a fetch.
    """

    scope: DealsScope
    token: int
    token_name: str
    is_dsp: bool

    @property
    def who(self) -> str:
        """The token, for the history: `Alder Bidder (token 12)`. No username has a space."""
        number = f" (token {self.token})"
        return shortened(self.token_name, LONGEST_WHO - len(number)) + number


class DealSync:
    """The documents and statuses in the database. Safe among threads. NotFound if it is not set up."""

    def __init__(self, engine: Engine, side: SellingSide) -> None:
        self._engine, self._side = engine, side

    def page(self, parameters: Parameters, caller: SyncCaller, deadline: Deadline) -> ListPart:
        """A page of the documents."""
        problems = Problems()
        query = queries.query(parameters, problems, OFFER)

        def within(work: Work) -> ListPart:
            problems.check()
            count, found = offered.page(work, self._side, query)
            if caller.is_dsp:
                told.fetched(work, found, caller.who)
            return ListPart(count, query.limit, query.offset, [deal.document for deal in found])

        return self._run(within, caller, deadline, writes=caller.is_dsp)

    def get(self, deal_id: str, parameters: Parameters, caller: SyncCaller, deadline: Deadline) -> Fields:
        """The document of a deal."""

        def within(work: Work) -> Fields:
            found = self._found(work, deal_id, parameters)
            if caller.is_dsp:
                told.fetched(work, [found], caller.who)
            return found.document

        return self._run(within, caller, deadline, writes=caller.is_dsp)

    def status(self, deal_id: str, parameters: Parameters, caller: SyncCaller, deadline: Deadline) -> Fields:
        """What the DSP reported last, as a BuyerSeat; its `ext` says when it was fetched and reported."""

        def within(work: Work) -> Fields:
            found = self._found(work, deal_id, parameters)
            return _buyer_seat(found, told.told(work, found))

        return self._run(within, caller, deadline)

    def report(
        self, deal_id: str, body: object, parameters: Parameters, caller: SyncCaller, deadline: Deadline
    ) -> None:
        """Store the status that a DSP reports, and note it in the deal's history if it is another one."""

        def within(work: Work) -> None:
            found = self._found(work, deal_id, parameters)
            problems = Problems()
            given = read(BuyerSeatRequest, body, problems)
            status = status_of(given, deal_id, found.buyer_seat, problems)
            before = told.told(work, found).status
            told.reported(work, found, status, caller.who)
            if status != before and not found.is_gone:
                _note(work, found, (before, status), caller.who)

        self._run(within, caller, deadline, writes=True)

    def _found(self, work: Work, deal_id: str, parameters: Parameters) -> SyncedDeal:
        problems = Problems()
        queries.none(parameters, problems)
        found = offered.one(work, self._side, deal_id)
        if found is None:
            raise NotFound(NONE.format(deal_id))
        problems.check()
        return found

    def _run(
        self, within: Callable[[Work], Result], caller: SyncCaller, deadline: Deadline, writes: bool = False
    ) -> Result:
        if not self._side.origin:
            raise NotFound(OFF)
        run = database.transact if writes else database.reading
        return run(self._engine, lambda one: within(Work.of(one, caller.scope)), deadline)


def _buyer_seat(deal: SyncedDeal, known: Told) -> Fields:
    """The specification's object; without a reported status its list is empty."""
    status = {"buyerseatid": deal.buyer_seat, "status": known.status}
    reported = known.status_at and {"reported_at": moment(known.status_at), "reported_by": known.status_by}
    fetched = known.fetched_at and {"fetched_at": moment(known.fetched_at), "fetched_by": known.fetched_by}
    return {
        "version": VERSION,
        "id": deal.deal_id,
        "buyerstatus": [status | {"ext": reported}] if reported else [],
        "ext": fetched or {},
    }


def _note(work: Work, deal: SyncedDeal, status: tuple[int | None, int], who: str) -> None:
    """A line in the deal's history. The deal itself is not changed, so its version stays."""
    before, after = status
    version = select(demand_deals.c.version).where(demand_deals.c.id == deal.demand_deal_id)
    values = {
        "entity": "demand_deals",
        "entity_id": deal.demand_deal_id,
        "version": work.connection.execute(version).scalar_one(),
        "at": work.now,
        "who": who,
        "action": "changed",
        "before": {HISTORY: None if before is None else BUYER_STATUS[before]},
        "after": {HISTORY: BUYER_STATUS[after]},
    }
    work.connection.execute(insert(changes).values(values))
