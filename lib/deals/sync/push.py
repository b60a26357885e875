"""Sending documents to DSPs: to those with a receiver in the settings, as soon as a document differs.

Deal Sync API 1.0 has the seller's system POST a Deal to an address of the DSP, and ask another for its
status. What is sent is a state, not an event: a document that changes while the DSP can't be reached is sent
once, as it is then, and never an older one after a newer one. A document that may have arrived (its answer
did not) is sent again. One process does it (`pushing`), a thread per DSP: a slow DSP does not delay another.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime, timedelta
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr
from sqlalchemy import Engine, Select, and_, exists, literal, or_, select, union_all, update

from lib import database
from lib.database import Instant
from lib.deals.models import BUYER_STATUS, shorten
from lib.deals.store import tables as t
from lib.deals.store.work import DealsScope, Work
from lib.deals.sync import sync_state
from lib.deals.sync.documents import SellingSide, selling_side
from lib.deals.sync.service import documents_of, present_deals, removed_deals, take_status, who
from lib.deals.sync.sync_state import SUCCESS, SyncedDeal
from lib.settings import Settings
from lib.settings.optional import Receiver
from lib.wire import exact
from lib.wire.breaker import retry_after
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline
from lib.wire.errors import Invalid, ServiceProblem, TrancheError
from lib.wire.signature import signed_headers
from lib.wire.sockets import client

log = logging.getLogger(__name__)
SECONDS = 10
CONNECT_SECONDS = 5
BATCH_SIZE = 200
AT_A_TIME = 8
"""Messages that one DSP is sent at the same time: with an answer after 0.1 s, 30,000 deals take minutes."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60))
ALL_EVERY, ASKED_EVERY = timedelta(hours=1), timedelta(minutes=15)
OVERLAP = timedelta(minutes=2)
"""How long a transaction may last: a change has the time at which it began."""
COMPLETE = BUYER_STATUS.index("complete")
_SYNC, _DEALS, _SEATS = t.synced_deals.c, t.demand_deals.c, t.seats.alias("other_seats").c
Answer = tuple[str, httpx.Response | None]
Result = TypeVar("Result")


@contextmanager
def _pushing(settings: Settings, engine: Engine) -> Iterator[database.Look]:
    with ExitStack() as stack:
        pushes = [
            stack.enter_context(Push(engine, selling_side(settings), settings.remote.ca_file, dsp, receiver))
            for dsp, receiver in settings.deal_sync.deal_sync_receivers.items()
        ]
        pool = stack.enter_context(ThreadPoolExecutor(len(pushes), thread_name_prefix="deal-push"))
        yield lambda now, is_alone: [*pool.map(lambda push: push.look(now, is_alone), pushes)]


def pushing(settings: Settings, engine: Callable[[], Engine]) -> AbstractContextManager[None]:
    """Send documents in the background during the block, where there is deal sync and a receiver."""
    if settings.remote.curate_url or not settings.sync_origin or not settings.deal_sync.deal_sync_receivers:
        return nullcontext()
    failure = "Deals could not be sent to DSPs"
    return database.background("deal-push", failure, engine, lambda: _pushing(settings, engine()))


MOST_BYTES = 64 * 1024  # of an answer


class Push:
    """What one DSP is sent, by its number. Its address may have a token in its path: it reaches no log."""

    def __init__(
        self, engine: Engine, side: SellingSide, ca_file: Path | None, dsp: int, receiver: Receiver
    ) -> None:
        self._engine, self._side, self._dsp, self._receiver = engine, side, dsp, receiver
        timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)
        self._http = client(receiver.url.get_secret_value(), ca_file, timeout=timeout)
        self._senders = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="deal-send")
        self._all_at: datetime | None = None

    def __enter__(self) -> "Push":
        return self

    def __exit__(self, *error: object) -> None:
        self._senders.shutdown()
        self._http.close()

    def look(self, now: datetime, is_alone: Callable[[], bool] = lambda: True) -> int:
        """Send what is due, then ask for statuses; how many documents arrived.

        All deals are compared at the first look and once an hour, since settings and links of old packages
        change without a trace; else those that changed. A DSP that answers none of those sent at a time is
        left alone until the next look.
        """
        is_all = self._all_at is None or abs(now - self._all_at) >= ALL_EVERY
        count = 0
        last: tuple[str, int] | None = ("", 0)
        while last is not None and is_alone():
            due, last = self._due(now, is_all, last)
            for first in range(0, len(due), AT_A_TIME):
                if not is_alone():
                    return count
                part = due[first : first + AT_A_TIME]
                answers = self._post(self._receiver.url, [deal.document for deal, _ in part])
                count += self._note(part, answers, now)
                if all(answer is None for _, answer in answers):
                    return count
        self._all_at = now if is_all else self._all_at
        if self._receiver.status_url is not None:
            self._ask_statuses(self._receiver.status_url, now, is_alone)
        return count

    def _due(
        self, now: datetime, is_all: bool, after: tuple[str, int]
    ) -> tuple[list[tuple[SyncedDeal, int]], tuple[str, int] | None]:
        """The documents that are to be sent now, each with how often that was tried; written down before.

        Of the next deals `after` this one; with the last of them, None where there are no more.
        """

        def within(work: Work) -> tuple[list[tuple[SyncedDeal, int]], tuple[str, int] | None]:
            pairs = work.rows(_candidates(self._dsp, now, is_all, after))
            rows = sync_state.rows_of(work, [pair.deal_id for pair in pairs])
            due, same = [], []
            for deal in documents_of(work, self._side, pairs):
                row = rows.get(deal.key)
                at = None if row is None else row.due
                # Its time has come, or was set before the clock was set back: no pause is that long.
                is_due = at is not None and (at <= now or at > now + PAUSES[-1])
                if row is None or row.document != deal.document or row.is_archived != deal.is_gone or is_due:
                    due.append((deal, 0 if row is None else row.attempts))
                else:
                    same.append(deal)
            changed_from = {"changed_from": now - OVERLAP}
            sync_state.write(work, same, changed_from)
            sync_state.write(work, [deal for deal, _ in due], changed_from | {"due": now})
            present = [deal.deal_id for deal, _ in due if not deal.is_gone]
            # Deals at another seat of the DSP by now aren't to be archived for the seat that they were at.
            own_seats = select(t.seats.c.id).where(t.seats.c.dsp_id == self._dsp)
            has_deal = exists().where(_DEALS.deal_id == _SYNC.deal_id, _DEALS.seat_id == _SYNC.seat_id)
            removal = update(t.synced_deals).where(
                _SYNC.deal_id.in_(present), _SYNC.seat_id.in_(own_seats), ~has_deal
            )
            work.connection.execute(removal.values(is_archived=True, due=None))
            last = (pairs[-1].deal_id, pairs[-1].seat_id) if len(pairs) == BATCH_SIZE else None
            return due, last

        return self._run(within)

    def _note(self, due: Sequence[tuple[SyncedDeal, int]], answers: Sequence[Answer], now: datetime) -> int:
        """Write down what came of sending; how many arrived. What was not taken waits longer each time."""

        def within(work: Work) -> None:
            for (deal, attempts), (problem, answer) in zip(due, answers, strict=True):
                wait = max(PAUSES[min(attempts, len(PAUSES) - 1)], timedelta(seconds=retry_after(answer)))
                failure = {"due": now + min(wait, PAUSES[-1]), "attempts": attempts + 1, "problem": problem}
                values = failure if problem else SUCCESS | {"sent_at": now}
                work.connection.execute(update(t.synced_deals).where(deal.is_row).values(values))

        self._run(within)
        for (deal, _), (problem, answer) in zip(due, answers, strict=True):
            if problem:
                log.warning("The deal %s was not sent to %s: %s", deal.deal_id, self._host, problem)
            elif answer is not None:
                self._take(deal, answer)
        return sum(not problem for problem, _ in answers)

    def _ask_statuses(self, address: SecretStr, now: datetime, is_alone: Callable[[], bool]) -> None:
        """Ask for the status of deals that were not asked for lately, the longest ago first."""
        deals = self._run(lambda work: self._due_statuses(work, now))
        for first in range(0, len(deals), AT_A_TIME):
            if not is_alone():
                return
            part = deals[first : first + AT_A_TIME]
            answers = self._post(address, [{"version": "1.0", "id": deal.deal_id} for deal in part])
            for deal, (problem, answer) in zip(part, answers, strict=True):
                if problem and answer is not None:
                    log.warning("%s does not say the status of %s: %s", self._host, deal.deal_id, problem)
                elif answer is not None:
                    self._take(deal, answer)
            if all(answer is None for _, answer in answers):
                return

    def _due_statuses(self, work: Work, now: datetime) -> list[SyncedDeal]:
        is_old = or_(_SYNC.asked_at.is_(None), _SYNC.asked_at <= now - ASKED_EVERY, _SYNC.asked_at > now)
        is_open = or_(_SYNC.status.is_(None), _SYNC.status != COMPLETE)
        question = (
            select(t.synced_deals)
            .join(t.seats, t.seats.c.id == _SYNC.seat_id)
            .where(
                t.seats.c.dsp_id == self._dsp, _SYNC.sent_at.is_not(None), ~_SYNC.is_archived, is_old, is_open
            )
            .order_by(_SYNC.asked_at.nulls_first(), _SYNC.deal_id)
            .limit(BATCH_SIZE)
        )
        deals = [SyncedDeal.of_row(row) for row in work.rows(question)]
        for deal in deals:
            work.connection.execute(update(t.synced_deals).where(deal.is_row).values(asked_at=now))
        return deals

    def _take(self, deal: SyncedDeal, answer: httpx.Response) -> None:
        """Store the status in an answer, if it has one; what can't be read is logged and changes nothing."""
        if not answer.content:
            return
        try:
            body = exact.loads(answer.content)
            if "buyerstatus" not in body:
                return
            # The history names the DSP like this: `Alder Bidder (DSP 3)`.
            self._run(
                lambda work: take_status(
                    work,
                    deal,
                    body,
                    who(work.names(t.dsps, [self._dsp]).get(self._dsp, ""), f"DSP {self._dsp}"),
                )
            )
        except (ValueError, TypeError, Invalid) as error:
            log.warning(
                "%s says no readable status of %s: %s", self._host, deal.deal_id, type(error).__name__
            )

    def _post(self, address: SecretStr, bodies: Sequence[dict[str, Any]]) -> list[Answer]:
        """Post messages at the same time, those about one deal in their order. For each why it was not taken,
        empty if it was, and the answer, None if there is none.

        Redirects are not followed: they would take a signed message elsewhere.
        """
        of_deals = [[*group] for _, group in groupby(bodies, lambda body: body["id"])]
        return [
            *chain(
                *self._senders.map(lambda group: [self._exchange(address, body) for body in group], of_deals)
            )
        ]

    def _exchange(self, address: SecretStr, body: dict[str, Any]) -> Answer:
        content, token = exact.dumps(body), self._receiver.token
        headers = signed_headers(self._receiver.secret, content)
        if token is not None:
            headers["Authorization"] = f"Bearer {token.get_secret_value()}"
        request = Call(
            "POST", address.get_secret_value(), headers=headers, content=content, deadline=Deadline(SECONDS),
            max_bytes=MOST_BYTES,
        )  # fmt: skip
        try:
            answer = call(self._http, request)
        except (ServiceProblem, TrancheError) as error:
            return shorten(error.reason, t.LONGEST_PROBLEM), None
        return ("" if answer.is_success else f"it answered {answer.status_code}"), answer

    @property
    def _host(self) -> str:
        return urlsplit(self._receiver.url.get_secret_value()).hostname or ""

    def _run(self, within: Callable[[Work], Result]) -> Result:
        with database.DatabaseScope(self._engine).write() as connection:
            return within(Work.of(connection, DealsScope()))


def _candidates(dsp: int, now: datetime, is_all: bool, after: tuple[str, int]) -> Select[Any]:
    """Deal id, seat, number and whether it is gone, of a DSP's next deals whose document may be due.

    Those never told, those due, those with a change in deal, seat or package, or a day of a package, since
    they were compared; and deals that are gone and not archived at the DSP yet. All of them with `is_all`.
    """
    link, package = t.supply_package_deals.c, t.supply_packages.c
    moment = literal(now, Instant)
    has_new_package = exists().where(
        link.demand_deal_id == _DEALS.id,
        package.id == link.supply_package_id,
        or_(
            package.updated_at >= _SYNC.changed_from,
            package.start_date.between(_SYNC.changed_from, moment),
            package.end_date.between(_SYNC.changed_from, moment),
        ),
    )
    is_new = or_(
        literal(is_all),
        _SYNC.deal_id.is_(None),
        _SYNC.due.is_not(None),
        _SYNC.changed_from.is_(None),
        _DEALS.updated_at >= _SYNC.changed_from,
        t.seats.c.updated_at >= _SYNC.changed_from,
        has_new_package.correlate(t.demand_deals, t.synced_deals),
    )
    present = present_deals().where(t.seats.c.dsp_id == dsp, is_new)
    # A deal at another seat of the DSP is told there: archived for this one, it would end at the DSP.
    is_elsewhere = exists().where(
        _DEALS.deal_id == _SYNC.deal_id, _DEALS.deal_sync, _SEATS.id == _DEALS.seat_id, _SEATS.dsp_id == dsp,
        _SEATS.external_id.is_not(None),
    )  # fmt: skip
    removals = (
        removed_deals()
        .join(t.seats, t.seats.c.id == _SYNC.seat_id)
        .where(t.seats.c.dsp_id == dsp, or_(~_SYNC.is_archived, _SYNC.due.is_not(None)))
        .where(~is_elsewhere.correlate(t.synced_deals))
    )
    pairs = union_all(present, removals).subquery().c
    is_later = or_(pairs.deal_id > after[0], and_(pairs.deal_id == after[0], pairs.seat_id > after[1]))
    return select(*pairs).where(is_later).order_by(pairs.deal_id, pairs.seat_id).limit(BATCH_SIZE)
